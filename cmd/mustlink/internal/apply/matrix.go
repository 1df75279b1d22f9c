package apply

import (
	"fmt"
	"io"
)

// matrixReport is what commands print that write a matrix.
type matrixReport struct {
	Method   string   `json:"method"`
	Rows     int      `json:"rows"`
	Cols     int      `json:"cols"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r matrixReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %d x %d (%s)\n", r.Output, r.Rows, r.Cols, r.Method)
}
