package dataset

import (
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
	header := []string{labelColumn}
	if named {
		header = []string{idColumn, labelColumn}
	}
	return o.table(path, header, func(yield func([]string, error) bool) {
		for ; err == nil; block, err = next() {
			if err = block.check(named); err != nil {
				break
			}
			for i, label := range block.Labels {
				record := [2]string{label}
				fields := record[:1]
				if named {
					record = [2]string{block.IDs[i], label}
					fields = record[:]
				}
				if !yield(fields, nil) {
					return
				}
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	})
}

// check reports ids that are not as many as the labels, or that the blocks before did not have.
func (b LabelRows) check(named bool) error {
	if (b.IDs != nil) != named || named && len(b.IDs) != len(b.Labels) {
		return &fault.ShapeError{What: "number of ids", Got: len(b.IDs), Want: fmt.Sprintf("%d, one for each label, or none in all blocks", len(b.Labels))}
	}
	return nil
}
