package selection

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// FuzzStore checks that any bytes are a state file or an input error, and that complete lines are
// kept.
func FuzzStore(f *testing.F) {
	for _, text := range []string{"", "\n", `{"run":"a","candidate":"rca","fold":1,"score":0.5}` + "\n",
		`{"run":"a","candidate":"rca","fold":1,"score":0.5}` + "\n" + `{"run":"a","cand`, `{"run":`, "{}\n",
		"no\n"} {
		f.Add([]byte(text))
	}
	x := &points.Dense{N: 2, D: 1, Data: []float64{1, 2}}
	set, err := links.New(2, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o := DefaultOptions()
		s, err := openStore(path, x, set, &o)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not of the input", err)
			}
			if now, _ := os.ReadFile(path); string(now) != string(text) {
				t.Error("a file that is no state file was changed")
			}
			return
		}
		added := verdict.Statistic{Value: 0.25, Rows: []float64{1, -1}, Links: []float64{0.5}}
		if err := s.add(Candidate{Method: "rca"}, 3, added); err != nil {
			t.Fatal(err)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		again, err := openStore(path, x, set, &o)
		if err != nil {
			t.Fatalf("the file that was left cannot be read: %v", err)
		}
		defer again.close()
		if v, ok := again.find(Candidate{Method: "rca"}, 3); !ok || !reflect.DeepEqual(v, added) {
			t.Errorf("what was added is %v, %t", v, ok)
		}
	})
}
