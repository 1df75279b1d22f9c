package export

import (
	"encoding/json"
	"io"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
)

// description is the content of a JSON file.
type description struct {
	Format      string      `json:"format"`
	Method      string      `json:"method"`
	Version     string      `json:"version"`
	Formula     string      `json:"formula"`
	Features    []feature   `json:"features"`
	Missing     []string    `json:"missing_texts"`
	Center      []float64   `json:"center"`
	Transform   [][]float64 `json:"transform"`
	Offset      []float64   `json:"offset"`
	Mahalanobis [][]float64 `json:"mahalanobis"`
}

// JSON writes a linear map with the names of its features, and its Mahalanobis matrix, as JSON.
// Texts of cells are compared without white space around them; missing_texts are those of missing
// cells, unless a feature has them in not_missing. The
// coordinates of a row with the features f are transform (f - center) - offset, and the squared
// learned distance of two rows is (f - g)' mahalanobis (f - g).
//
// A model whose map is not linear is a *fault.ParamError, matrices above the memory limit are a
// *fault.MemoryError. Cost: O(d^2 Dim) for d features.
func JSON(w io.Writer, m *mustlink.Model, limits Limits) error {
	l, err := newLinear(m, limits, func(d, dim float64) float64 { return 4 * (d*d + d*dim) })
	if err != nil {
		return err
	}
	l.named()
	mahalanobis := squared(l.transform)
	if err := finite(mahalanobis.Data); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(description{
		Format: "mustlink linear map 1", Method: l.Model.Method(), Version: l.version(),
		Formula:  "coordinates = transform (features - center) - offset; squared distance = (f - g)' mahalanobis (f - g)",
		Features: l.features, Missing: dataset.Missing(), Center: l.center, Transform: rowsOf(l.transform), Offset: l.offset, Mahalanobis: rowsOf(mahalanobis),
	})
}

// squared returns t't.
func squared(t blas.Matrix) blas.Matrix {
	out := blas.NewMatrix(t.Cols, t.Cols)
	for c := range t.Rows {
		row := t.Row(c)
		for i, v := range row {
			to := out.Row(i)
			for j, w := range row {
				to[j] += v * w
			}
		}
	}
	return out
}

func rowsOf(m blas.Matrix) [][]float64 {
	rows := make([][]float64, m.Rows)
	for i := range rows {
		rows[i] = m.Row(i)
	}
	return rows
}
