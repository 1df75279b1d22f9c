package paper

import (
	"encoding/json"
	"io"
	"math"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// FuzzDecode: any text is a result that can be written and drawn again, or an input error.
func FuzzDecode(f *testing.F) {
	for _, t := range Tables() {
		if !t.Drawn() {
			continue
		}
		r := Result{Table: t}
		for range t.Rows {
			r.Ours = append(r.Ours, Means(make([]float64, len(t.Columns))...))
		}
		trial := make([][]float64, len(t.Rows))
		for i := range trial {
			trial[i] = make([]float64, len(t.Columns))
			for j := range trial[i] {
				trial[i][j] = math.Mod(float64(3*i+j)/7, 1)
			}
		}
		r.Trials = append(r.Trials, trial, trial)
		text, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := Decode(text); err != nil {
			f.Fatalf("%s: %v", t.Name, err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"table":{"name":"tsang-1"},"ours":[],"trials":[]}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Decode(text)
		if err == nil && r.Table.Drawn() {
			err = view.Write(io.Discard, "svg", view.Size{}, r.Panels()...)
		}
		if err == nil {
			_ = r.Markdown()
			_, err = json.Marshal(r)
		}
		if err != nil && !fault.IsInput(err) {
			t.Errorf("error %v: want an input error", err)
		}
	})
}
