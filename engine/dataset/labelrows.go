package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/mustlink/mustlink/engine/fault"
)

// LabelRows are the labels of some rows.
type LabelRows struct {
	Labels []string
	IDs    []string // one a row, or nil
}

// WriteLabelRows is [WriteLabels] for labels that come in blocks: next returns those that come next, one or more, and io.EOF
// after the last ones; it is called again when they are written, and may use the same memory. The first block is asked for
// before the file is begun. Any other error of next, such as that of a cancelled context, ends the writing, and then nothing
// is left of path.
func WriteLabelRows(path string, next func() (LabelRows, error), o WriteOptions) error {
	block, err := next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	named := block.IDs != nil
	return o.text(path, func(w *csv.Writer) error {
		header := []string{labelColumn}
		if named {
			header = []string{idColumn, labelColumn}
		}
		if err := w.Write(header); err != nil {
			return err
		}
		for err == nil {
			if err = block.write(w, named); err == nil {
				block, err = next()
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
}

// write writes the lines of the block.
func (b LabelRows) write(w *csv.Writer, named bool) error {
	if (b.IDs != nil) != named || named && len(b.IDs) != len(b.Labels) {
		return &fault.ShapeError{What: "number of ids", Got: len(b.IDs), Want: fmt.Sprintf("%d, one for each label, or none in all blocks", len(b.Labels))}
	}
	var record [2]string
	for i, label := range b.Labels {
		fields := append(record[:0], label)
		if named {
			fields = append(record[:0], b.IDs[i], label)
		}
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	return nil
}
