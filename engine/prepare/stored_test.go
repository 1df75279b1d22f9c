package prepare_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// encoded returns a model file with a preparation of columns of every kind.
func encoded(t testing.TB) *model.File {
	x := randomTable(rand.New(rand.NewPCG(5, 5)), 60)
	p, _ := fit(t, x, prepare.Options{Impute: "sides", Levels: 4, Text: "words", Indicators: true,
		Cyclic: true, Kinds: map[string]prepare.Kind{"note": prepare.Text, "code": prepare.Category}})
	f := &model.File{Header: model.Header{Method: "rca"}}
	p.Encode(f)
	return f
}

// FuzzDecode: any text in the header is an error of input, or a preparation that can be used and
// that is stored as the same text.
func FuzzDecode(f *testing.F) {
	file := encoded(f)
	whole := string(file.Header.Extra["preparation"])
	f.Add(whole)
	for _, change := range [][2]string{{`"kinds":"`, `"kinds":"n`}, {`"own"`, `"pool"`},
		{`"pooled":`, `"pooled":-`}, {`"dates":["`, `"dates":["x`}, {`"levels":["`, `"levels":["z`},
		{`"text":"words"`, `"text":"letters:99"`}, {"[1", "[-1"}, {`"sides":[`, `"sides":[0,`}} {
		f.Add(strings.Replace(whole, change[0], change[1], 1))
	}
	f.Add(`{"kinds":"-"}`)
	f.Fuzz(func(t *testing.T, text string) {
		changed := &model.File{Tensors: file.Tensors}
		changed.Header.Extra = map[string]json.RawMessage{"preparation": json.RawMessage(text)}
		decoded, err := prepare.Decode(changed)
		if err != nil {
			if !fault.IsInput(err) {
				t.Errorf("error %v is not one of input", err)
			}
			return
		}
		p := prepare.ByColumn(decoded)
		x := &points.Mixed{N: 3}
		for range p.Features() {
			x.Columns = append(x.Columns, words("", "2024-01-01", "", "yes"))
		}
		if _, err := p.Apply(x); err != nil && !fault.IsInput(err) {
			t.Errorf("error %v is not one of input", err)
		}
		p.Unknown(x)
		once, twice := &model.File{}, &model.File{}
		p.Encode(once)
		q, err := prepare.Decode(once)
		if err != nil {
			t.Fatalf("it does not read what it writes: %v", err)
		}
		q.Encode(twice)
		if !bytes.Equal(once.Header.Extra["preparation"], twice.Header.Extra["preparation"]) {
			t.Error("it writes something else the second time")
		}
	})
}

// TestDecodeRefuses: a file in which something is missing or changed is an error of input.
func TestDecodeRefuses(t *testing.T) {
	if p, err := prepare.Decode(&model.File{}); p != nil || err != nil {
		t.Errorf("%v, %v of a file without a preparation", p, err)
	}
	whole := string(encoded(t).Header.Extra["preparation"])
	refuse := func(what string, change func(f *model.File)) {
		f := encoded(t)
		change(f)
		if p, err := prepare.Decode(f); p != nil || err == nil || !fault.IsInput(err) {
			t.Errorf("%s: %v, error %v", what, p, err)
		}
	}
	for _, name := range []string{"preparation.numbers", "preparation.pooled", "preparation.weights"} {
		refuse("without "+name, func(f *model.File) { delete(f.Tensors, name) })
	}
	refuse("a scale below 0", func(f *model.File) { f.Tensors["preparation.numbers"].F64[2] = -1 })
	refuse("NaN", func(f *model.File) { f.Tensors["preparation.numbers"].F64[0] = nan })
	refuse("weight NaN", func(f *model.File) { f.Tensors["preparation.weights"].F64[0] = nan })
	refuse("a pool out of order", func(f *model.File) { f.Tensors["preparation.pooled"].I64[0] = -1 })
	refuse("more numbers", func(f *model.File) {
		f.SetFloat64s("preparation.numbers", make([]float64, 300), 100, 3)
	})
	for _, change := range [][2]string{
		{`"kinds":"`, `"kinds":"n`}, {`"kinds":"`, `"kinds":"x`}, {`"kinds":`, `"k":`}, {`"pool"`, `"out"`},
		{`"pooled":`, `"pooled":-`}, {`"pooled":`, `"pooled":9`}, {`"dates":["`, `"dates":["x`},
		{`"levels":["`, `"levels":["z`}, {`"text":"words"`, `"text":"letters:99"`},
		{`"text":"words"`, `"text":""`}, {`"texts":[`, `"texts":[-1,`},
		{`"indicators":[`, `"indicators":[99,`},
		{`"names":["plan"`, `"names":["size"`}, {`{`, `[`},
	} {
		if !strings.Contains(whole, change[0]) {
			t.Fatalf("no %s in %s", change[0], whole)
		}
		refuse(change[1], func(f *model.File) {
			f.Header.Extra["preparation"] = json.RawMessage(strings.Replace(whole, change[0], change[1], 1))
		})
	}
}

// TestCompact: a wide table of numbers has a short header.
func TestCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	x := &points.Mixed{N: 30}
	for j := range 784 {
		c := points.Column{Name: "p" + string(rune('a'+j%26)) + string(rune('a'+j/26)),
			Numbers: make([]float64, 30)}
		for i := range c.Numbers {
			c.Numbers[i] = r.NormFloat64() * float64(1+j)
		}
		x.Columns = append(x.Columns, c)
	}
	p, _ := fit(t, x, prepare.Options{})
	f := &model.File{}
	p.Encode(f)
	if n := len(f.Header.Extra["preparation"]); n > 784*8 {
		t.Errorf("%d bytes for 784 columns", n)
	}
}
