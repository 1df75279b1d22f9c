package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// TestModelsDescribeThemselves: what a model says of itself (status, figures, spectra, objective)
// can be read by people and programs, and a model that was read from its file says the same.
func TestModelsDescribeThemselves(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	least := time.Duration(1)
	if runtime.GOOS == "windows" {
		least = 0 // its clock stands still for milliseconds
	}
	for _, p := range problems(t, 60) {
		t.Run(p.method.Name, func(t *testing.T) {
			begin := time.Now()
			m, err := p.fit(ctx, eng, nil)
			most := time.Since(begin)
			if err != nil {
				t.Fatal(err)
			}
			again := reread(t, m)
			if !reflect.DeepEqual(m.Status(), again.Status()) || m.Dim() != again.Dim() {
				t.Errorf("status %+v, %d columns: after reading %+v, %d", m.Status(), m.Dim(), again.Status(),
					again.Dim())
			}
			if s := m.Status(); s.Iterations < 0 || s.Elapsed < least || s.Elapsed > most || !s.Converged &&
				s.Message == "" && s.Iterations == 0 {
				t.Errorf("status %+v after %v", s, most)
			}
			if _, is := m.(algorithms.Describer); is {
				figures := figuresOf(t, m)
				if read := figuresOf(t, again); !reflect.DeepEqual(figures, read) {
					t.Errorf("figures %v: after reading %v", figures, read)
				}
			}
			if with, is := m.(algorithms.Spectral); is {
				spectra := with.Spectra()
				checkSpectra(t, spectra)
				if read := again.(algorithms.Spectral).Spectra(); !reflect.DeepEqual(spectra, read) {
					t.Errorf("spectra %v: after reading %v", spectra, read)
				}
			}
			if with, is := m.(algorithms.Trace); is {
				trace := with.Trace()
				if len(trace) == 0 || m.(algorithms.Objective).Objective() != trace[len(trace)-1] {
					t.Errorf("the trace %v does not end in the objective %v", trace,
						m.(algorithms.Objective).Objective())
				}
			}
		})
	}
}

// reread returns the model of m's file.
func reread(t *testing.T, m algorithms.Model) algorithms.Model {
	t.Helper()
	file, err := catalog.Encode(&catalog.Fitted{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := file.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	if file, err = model.Read(bytes.NewReader(text.Bytes()), int64(text.Len())); err != nil {
		t.Fatal(err)
	}
	again, err := catalog.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return again.Model
}

// figuresOf returns a describer's figures by name; JSON, which inspect prints, must hold them.
func figuresOf(t *testing.T, m algorithms.Model) map[string]string {
	t.Helper()
	figures := map[string]string{}
	for _, f := range m.(algorithms.Describer).Describe() {
		if _, twice := figures[f.Name]; twice || strings.TrimSpace(f.Name) == "" {
			t.Errorf("figure %q is there twice or has no name", f.Name)
		}
		if _, err := json.Marshal(f); err != nil {
			t.Errorf("figure %q: %v", f.Name, err)
		}
		figures[f.Name] = fmt.Sprint(f.Value)
	}
	if len(figures) == 0 {
		t.Error("no figures")
	}
	return figures
}

func checkSpectra(t *testing.T, spectra []algorithms.Spectrum) {
	t.Helper()
	for _, s := range spectra {
		for i, v := range s.Values {
			if !(v >= 0) || math.IsInf(v, 0) || s.Name == "" {
				t.Errorf("value %d of the spectrum %q is %v: want a finite number >= 0", i, s.Name, v)
			}
		}
	}
}

// TestTriplets: the methods that say so learn from triplets alone: more of them hold in the learned
// metric than between the points, and a triplet of a row that is not there is refused.
func TestTriplets(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, labels, _ := enginetest.Bands(t, 60, 5, 1, 3)
	none, err := links.New(60, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []links.Triplet
	for i := range 60 {
		for step := range 4 {
			j, k := (i+3*(step+1))%60, (i+3*step+1)%60 // of the same class, and of another
			if labels[i] == labels[j] && labels[i] != labels[k] {
				list = append(list, links.Triplet{I: i, J: j, K: k})
			}
		}
	}
	learning := 0
	for _, method := range catalog.Methods() {
		fit := func(list []links.Triplet) (algorithms.Model, error) {
			l, err := method.New(catalog.Config{Lesson: algorithms.Lesson{Triplets: list}, Seed: 1})
			if err != nil {
				return nil, err
			}
			return l.Fit(ctx, eng, x, none)
		}
		if !method.UsesTriplets {
			if _, err := fit(list); !fault.IsInput(err) ||
				!strings.Contains(err.Error(), "does not learn from them") {
				t.Errorf("%s: triplets for a method that does not learn from them: error %v", method.Name,
					err)
			}
			continue
		}
		learning++
		m, err := fit(list)
		if err != nil {
			t.Fatalf("%s: %v", method.Name, err)
		}
		var pairs [][2]int
		plain := 0
		for _, l := range list {
			pairs = append(pairs, [2]int{l.I, l.J}, [2]int{l.I, l.K})
			if points.SquaredDistance(x.Row(l.I), x.Row(l.J)) < points.SquaredDistance(x.Row(l.I),
				x.Row(l.K)) {
				plain++
			}
		}
		d, err := m.Distances(ctx, eng, x, pairs)
		if err != nil {
			t.Fatal(err)
		}
		learned := 0
		for i := range list {
			if d[2*i] < d[2*i+1] {
				learned++
			}
		}
		if !(learned > plain) || learned < len(list)*9/10 {
			t.Errorf("%s: %d of %d triplets hold, %d did between the points: want more, and nine in ten",
				method.Name, learned, len(list), plain)
		}
		if _, err := fit([]links.Triplet{{I: 0, J: 1, K: 60}}); !fault.IsInput(err) {
			t.Errorf("%s: a triplet of row 60 of 60: error %v", method.Name, err)
		}
	}
	if learning == 0 {
		t.Error("no method learns from triplets")
	}
}
