package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Remarks collects, block by block, what is odd about the rows that a model is applied to. The zero
// value has no remarks.
type Remarks struct {
	unused  string
	unknown map[string]int // rows by column
}

// Add adds the remarks on a block of rows: columns that the model does not take, and texts that the
// fit did not see.
func (r *Remarks) Add(f *Fitted, d *dataset.Data) {
	r.unused = f.Unused(d.Features)
	by := prepare.ByColumn(f.Scaling)
	if by == nil {
		return
	}
	x, err := f.ownColumns(d)
	mixed, ok := x.(*points.Mixed)
	if err != nil || !ok {
		return
	}
	for column, rows := range by.Unknown(mixed) {
		if r.unknown == nil {
			r.unknown = map[string]int{}
		}
		r.unknown[column] += rows
	}
}

// Text returns a sentence for each remark.
func (r *Remarks) Text() (list []string) {
	if r.unused != "" {
		list = append(list, "the model does not take the columns "+r.unused)
	}
	for _, column := range slices.Sorted(maps.Keys(r.unknown)) {
		list = append(list, fmt.Sprintf("column %q: %d rows have texts that the fit did not see", column,
			r.unknown[column]))
	}
	return list
}
