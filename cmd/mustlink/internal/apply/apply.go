// Package apply provides the commands that apply metrics to points.
package apply

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/session"
)

// Commands returns embed, gram, distance, cluster, classify, neighbors, pairs and export.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newEmbed(s), newGram(s), newDistance(s), newCluster(s), newClassify(s), newNeighbors(s), newPairs(s), newExport(s)}
}

// matrixReport is the result of commands that write a matrix.
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
