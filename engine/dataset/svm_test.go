package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func decodeText(text, name string, o ReadOptions) (*Data, error) {
	return Decode(strings.NewReader(text), name, "", o)
}

func sparse(t testing.TB, d *Data, err error) *points.CSR {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	x, ok := d.Points.(*points.CSR)
	if !ok {
		t.Fatalf("points are %T, want *points.CSR", d.Points)
	}
	return x
}

func TestDecodeSVM(t *testing.T) {
	text := "# a comment of its own\n+1 1:0.5 3:-2e1 # and one at the end 9:9\r\n-1\t2:1  4:0 \n1\n1,2 " +
		"qid:7 1:1\n\n\n"
	d, err := decodeText(text, "a.svm", ReadOptions{})
	x := sparse(t, d, err)
	if x.N != 4 || x.D != 4 || !slices.Equal(x.Start, []int{0, 2, 3, 3, 4}) ||
		!slices.Equal(x.Col, []int32{0, 2, 1, 0}) ||
		!slices.Equal(x.Val, []float64{0.5, -20, 1, 1}) {
		t.Errorf("got %+v", x)
	}
	if want := []string{"1", "-1", "1", "1,2"}; !slices.Equal(d.Labels, want) {
		t.Errorf("labels %q, want %q", d.Labels, want)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "1 query number (qid)") ||
		!strings.Contains(d.Warnings[0], "line 5") {
		t.Errorf("warnings %q", d.Warnings)
	}
	if d, err = decodeText("1 1:1\n", "a.svm", ReadOptions{Features: 7}); sparse(t, d, err).D != 7 {
		t.Errorf("%d features, want the requested 7", d.Points.Dim())
	}
	if _, err = decodeText("a 2:1\n", "a.libsvm.gz", ReadOptions{IgnoreLabels: true}); err == nil {
		t.Error("text under a name that ends in .gz: no error")
	}
	if d, err = decodeText("a 2:1\n", "a.libsvm", ReadOptions{IgnoreLabels: true}); err != nil ||
		d.Labels != nil {
		t.Errorf("labels %q, error %v, want neither", d.Labels, err)
	}
}

func TestSVMErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		o    ReadOptions
		at   place
		want string
	}{
		"empty":         {"", ReadOptions{}, place{0, -1, ""}, "empty"},
		"comments only": {"# a\n", ReadOptions{}, place{0, -1, ""}, "no data rows"},
		"no features":   {"1\n2\n", ReadOptions{}, place{0, -1, ""}, "no row has a feature"},
		"no label":      {"1 1:1\n1:1 2:1\n", ReadOptions{}, place{2, 1, ""}, `"1:1": want a label`},
		"no colon":      {"1 1\n", ReadOptions{}, place{1, 0, ""}, `"1" is not a feature`},
		"no number": {"1 1:1\n1 x:1\n", ReadOptions{}, place{2, 1, ""},
			`feature number "x" is not a whole number`},
		"nothing":  {"1 :1\n", ReadOptions{}, place{1, 0, ""}, "feature number is missing"},
		"negative": {"1 -1:1\n", ReadOptions{}, place{1, 0, ""}, `"-1"`},
		"zero":     {"1 0:1\n", ReadOptions{}, place{1, 0, ""}, "want numbers from 1"},
		"twice":    {"1 2:1 2:1\n", ReadOptions{}, place{1, 0, ""}, "feature 2 occurs twice"},
		"descending": {"1 1:1\n1 1:1 5:1 3:1\n", ReadOptions{}, place{2, 1, ""},
			"feature 3 comes after feature 5"},
		"beyond": {"1 124:1\n", ReadOptions{Features: 123}, place{1, 0, ""},
			"feature 124: want numbers from 1 to 123"},
		"huge": {"1 99999999999999999999:1\n", ReadOptions{}, place{1, 0, ""},
			"at most 2147483647"},
		"just too huge": {"1 2147483648:1\n", ReadOptions{}, place{1, 0, ""}, "at most 2147483647"},
		"NaN":           {"1 3:NaN\n", ReadOptions{}, place{1, 0, ""}, "feature 3: the value is NaN"},
		"infinite":      {"1 3:-inf\n", ReadOptions{}, place{1, 0, ""}, "feature 3: the value is -inf"},
		"overflow":      {"1 3:1e999\n", ReadOptions{}, place{1, 0, ""}, "range of float64"},
		"no value":      {"1 3:\n", ReadOptions{}, place{1, 0, ""}, "feature 3: the value is empty"},
		"text":          {"1 3:a\n", ReadOptions{}, place{1, 0, ""}, `"a" is not a number`},
		"blank line":    {"1 3:1\n\n1 3:1\n", ReadOptions{}, place{2, 1, ""}, "blank"},
		"binary":        {"1 3:1\n\x00\n", ReadOptions{}, place{0, -1, ""}, "binary"},
		"not UTF-8":     {"1 3:1\n\xff 1:1\n", ReadOptions{}, place{2, 1, ""}, "UTF-8"},
		"long line": {"1 3:1\n1 " + strings.Repeat(" ", 100) + "\n", ReadOptions{MaxLine: 50},
			place{2, 1, ""}, "longer than the limit"},
		"as a Gram matrix": {"1 1:1\n", ReadOptions{Gram: true}, place{0, -1, ""},
			"cannot hold a Gram matrix"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeText(c.text, "a.svm", c.o)
			wantData(t, err, "a.svm", c.at, c.want)
		})
	}
	for _, n := range []int{-1, math.MaxInt32 + 1} {
		var pe *fault.ParamError
		if _, err := decodeText("1 1:1\n", "a.svm", ReadOptions{Features: n}); !errors.As(err, &pe) ||
			pe.Param != "features" {
			t.Errorf("%d features: error %v, want a ParamError", n, err)
		}
	}
	var me *fault.MemoryError
	if _, err := decodeText(strings.Repeat("1 1:1 2:1\n", 100), "a.svm",
		ReadOptions{MemoryLimit: 1000}); !errors.As(err, &me) {
		t.Errorf("error %v, want a MemoryError", err)
	}
}

// Check continues after the first problem.
func TestCheckSVM(t *testing.T) {
	path := write(t, "a.svm", []byte("1 1:1 1:2 x:1\n2:1\n\n1 0:1\n1 2:NaN 3:1\n"))
	problems, err := Check(path, ReadOptions{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, strconv.Itoa(p.Err.Line)+"/"+strconv.Itoa(p.Err.Row))
		if p.Fix == "" {
			t.Errorf("%v: no fix", p)
		}
	}
	if want := []string{"1/0", "1/0", "2/1", "3/2", "4/2", "5/3"}; !slices.Equal(got, want) {
		t.Errorf("problems at line/row %v, want %v", got, want)
	}
}

// svmOf writes rows in svmlight format, with one space between words.
func svmOf(x *points.CSR, labels []string) string {
	var b strings.Builder
	for i := range x.N {
		b.WriteString(labels[i])
		col, val := x.Row(i)
		for k, j := range col {
			fmt.Fprintf(&b, " %d:%s", j+1, strconv.FormatFloat(val[k], 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Any sparse rows are bit-identical after writing and reading, for any spaces and with or without
// zeros in the file.
func TestSVMRoundTrip(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(1, 6).Draw(rt, "n"), rapid.IntRange(1, 9).Draw(rt, "d")
		value := rapid.Float64().Filter(func(v float64) bool { return v-v == 0 })
		label := rapid.StringMatching(`[a-z0-9.-]{1,5}`)
		space := rapid.SampledFrom([]string{" ", "  ", "\t", " \t "})
		x := &points.CSR{N: n, D: d, Start: []int{0}}
		var text strings.Builder
		var labels []string
		for range n {
			labels = append(labels, label.Draw(rt, "label"))
			text.WriteString(labels[len(labels)-1])
			for j := range d {
				if !rapid.Bool().Draw(rt, "given") {
					continue
				}
				v := value.Draw(rt, "value")
				text.WriteString(space.Draw(rt, "space") + strconv.Itoa(j+1) + ":" +
					strconv.FormatFloat(v, 'g', -1, 64))
				if v != 0 {
					x.Col, x.Val = append(x.Col, int32(j)), append(x.Val, v)
				}
			}
			x.Start = append(x.Start, len(x.Col))
			text.WriteString(rapid.SampledFrom([]string{"\n", " \n", "\r\n", " # 1:2\n",
				"\n# comment\n"}).Draw(rt, "end"))
		}
		got, err := decodeText(text.String(), "a.svm", ReadOptions{Features: d})
		if err != nil {
			rt.Fatalf("%v\n%q", err, text.String())
		}
		if Fingerprint(got.Points) != Fingerprint(x) || !slices.Equal(got.Labels, labels) {
			rt.Fatalf("got %+v %q, want %+v %q", got.Points, got.Labels, x, labels)
		}
	})
}

// FuzzDecodeSVM: any bytes give an input error, or valid points that survive writing and reading.
func FuzzDecodeSVM(f *testing.F) {
	fuzzSeeds(f, "1 1:1 3:2.5\n-1 2:0 # c\n", "+1 qid:1 1:1e-300\r\n\n", "1\n1 7:1", "a 2147483647:1",
		"1 1:1 1:1", "1 0:0", "1 :", "x:y", "#", "\ufeff1 1:1")
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(bytes.NewReader(b), "f.svm", "", ReadOptions{MaxLine: 1 << 16})
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		x := sparse(t, d, err)
		if err := x.Validate(); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(x.Val, 0) || len(d.Labels) != x.N {
			t.Fatalf("a value of 0 was kept, or %d labels for %d rows", len(d.Labels), x.N)
		}
		again, err := decodeText(svmOf(x, d.Labels), "f.svm", ReadOptions{Features: x.D, MaxLine: 1 << 20})
		if err != nil {
			t.Fatalf("reading what was written: %v", err)
		}
		if Fingerprint(again.Points) != Fingerprint(x) || !slices.Equal(again.Labels, d.Labels) {
			t.Fatalf("changed: %+v %q, want %+v %q", again.Points, again.Labels, x, d.Labels)
		}
	})
}
