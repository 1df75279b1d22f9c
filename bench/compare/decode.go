package compare

import (
	"encoding/json"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// Drawable is a comparison that can be drawn.
type Drawable interface {
	Panels() ([]view.Panel, error)
}

// Decode reads the JSON of a cross table or of learning curves, so that it can be drawn again. For
// JSON of something else, or with missing values, it returns a *fault.DataError.
func Decode(text []byte) (Drawable, error) {
	var kind struct {
		Measures []string `json:"measures"`
		Links    []int    `json:"links"`
	}
	bad := fault.Data("", "not a comparison: want the JSON that mustlink-bench cross or curves writes")
	if json.Unmarshal(text, &kind) != nil {
		return nil, bad
	}
	switch {
	case len(kind.Measures) == measures:
		var c Cross
		if json.Unmarshal(text, &c) != nil || !whole(c.Results, len(c.Systems), measures) {
			return nil, bad
		}
		return &c, nil
	case len(kind.Links) > 0:
		var c Curves
		if json.Unmarshal(text, &c) != nil ||
			!whole(c.Results, len(c.Systems), perDraw*(len(c.Counts)+len(c.Wrong))) {
			return nil, bad
		}
		return &c, nil
	}
	return nil, bad
}

// whole reports whether all results have all values.
func whole(results []*paper.Result, rows, columns int) bool {
	for _, r := range results {
		if r == nil || len(r.Ours) != rows || len(r.Trials) == 0 {
			return false
		}
		for _, row := range r.Ours {
			if len(row) != columns {
				return false
			}
		}
		for _, trial := range r.Trials {
			if len(trial) != rows {
				return false
			}
			for _, row := range trial {
				if len(row) != columns {
					return false
				}
			}
		}
	}
	return len(results) > 0 && rows > 0
}
