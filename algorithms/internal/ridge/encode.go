package ridge

import (
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
)

// about is the members of the header.
type about struct {
	Kernel kernel.Spec `json:"kernel"`
	fitted.MapHeader
}

// header has them in an entry of their own: other extensions of the same method have none.
type header struct {
	Ridge *about `json:"ridge,omitempty"`
}

// Ends of the names of the tensors.
const (
	tensorRows    = ".ridge.rows"    // [landmarks], none where all rows are landmarks
	tensorWeights = ".ridge.weights" // [landmarks, dim]
	tensorCenter  = ".ridge.center"  // [dim]
)

// Encode stores the regression.
func (e *extension) Encode(f *model.File, method string, table fitted.MapHeader) any {
	if len(e.Rows) < e.Coordinates.Rows {
		rows := make([]int64, len(e.Rows))
		for k, r := range e.Rows {
			rows[k] = int64(r)
		}
		f.SetInt64s(method+tensorRows, rows)
	}
	fitted.SetMatrix(f, method+tensorWeights, e.Weights)
	f.SetFloat64s(method+tensorCenter, e.Center)
	return header{&about{e.regression.Kernel.Spec(), table}}
}

// Read is the [maps.Reader] of maps that [New] returns, nil for a file with another one.
func Read(method string, f *model.File) (*fitted.Map, error) {
	var head header
	if err := fitted.ReadExtra(f, method, &head); err != nil || head.Ridge == nil {
		return nil, err
	}
	t, err := fitted.ReadTable(method, f, head.Ridge.MapHeader)
	if err != nil {
		return nil, err
	}
	var r regression
	if r.Kernel, err = kernel.New(head.Ridge.Kernel); err != nil {
		return nil, fitted.InHeader(err)
	}
	count := t.Coordinates.Rows
	if f.Has(method + tensorRows) {
		if r.Rows, err = fitted.ReadIndices(f, method+tensorRows, count); err != nil {
			return nil, err
		}
	} else {
		for i := range count {
			r.Rows = append(r.Rows, i)
		}
	}
	if len(r.Rows) == 0 {
		return nil, fault.Data("", "tensor %s is empty: want at least one landmark", method+tensorRows)
	}
	if r.Weights, err = fitted.ReadMatrix(f, method+tensorWeights, len(r.Rows), t.Dim); err != nil {
		return nil, err
	}
	if r.Center, err = fitted.ReadFinite(f, method+tensorCenter, t.Dim); err != nil {
		return nil, err
	}
	return extended(method, t, r), nil
}
