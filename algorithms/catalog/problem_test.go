package catalog_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// problem is what one method learns from, and what its model is used on afterwards.
type problem struct {
	method catalog.Method
	x      *points.Dense
	set    *links.Set
	fresh  *points.Dense // points that the fit does not see
	more   *links.Set    // links that a model may learn later
}

// problems gives every method so many points; a method for few points gets at most 30.
func problems(t enginetest.Fataler, n int) []problem {
	t.Helper()
	var list []problem
	for _, method := range catalogtest.Methods() {
		size := n
		if method.Small {
			size = min(n, 30)
		}
		x, labels, set := enginetest.Bands(t, size, 4, size/3, 11)
		fresh, _, _ := enginetest.Bands(t, n, 4, 1, 12)
		more, err := links.SampleByCount(labels, 5, 5, 13)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, problem{method, x, set, fresh, more})
	}
	return list
}

// fit learns the problem with the method's defaults.
func (p problem) fit(ctx context.Context, eng *engine.Engine,
	progress algorithms.ProgressFunc) (algorithms.Model, error) {
	learner, err := p.method.New(catalog.Config{Seed: 3, Progress: progress})
	if err != nil {
		return nil, err
	}
	return learner.Fit(ctx, eng, p.x, p.set)
}

// solve fits the model and uses it.
func (p problem) solve(ctx context.Context, eng *engine.Engine) (outcome, error) {
	m, err := p.fit(ctx, eng, nil)
	if err != nil {
		return nil, err
	}
	return p.use(ctx, eng, m)
}

// outcome is everything that a model answered, in named parts of bytes.
type outcome []part

type part struct {
	name  string
	bytes []byte
}

func (o *outcome) bytes(name string, data []byte) { *o = append(*o, part{name, data}) }

func (o *outcome) values(name string, values []float64) {
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	o.bytes(name, data)
}

func (o *outcome) matrix(name string, m blas.Matrix) { o.values(name, m.Clone().Data) }

// difference names the first part in which two outcomes differ, "" for none.
func (o outcome) difference(other outcome) string {
	if len(o) != len(other) {
		return fmt.Sprintf("%d parts against %d", len(o), len(other))
	}
	for i, p := range o {
		if p.name != other[i].name || !bytes.Equal(p.bytes, other[i].bytes) {
			return p.name
		}
	}
	return ""
}

// use asks the model for all that it has: its file, places, kernel and distances, and what it has
// learned after new links or chunklets where it takes some.
func (p problem) use(ctx context.Context, eng *engine.Engine, m algorithms.Model) (outcome, error) {
	var o outcome
	if err := p.ask(ctx, eng, &o, "", m); err != nil {
		return nil, err
	}
	var learned algorithms.Model
	var err error
	switch to := m.(type) {
	case algorithms.Linker:
		learned, err = to.AddLinks(ctx, eng, p.x, p.more)
	case algorithms.Updater:
		learned, err = to.Update(ctx, eng, p.fresh, []algorithms.Chunklet{
			{ID: algorithms.NewChunklet, Rows: []int{0, 3, 6}}, {ID: 0, Rows: []int{1}}})
	default:
		return o, nil
	}
	// krca's spectral form takes no updates, and its model does not claim to
	_, limit := errors.AsType[*fault.MemoryError](err)
	refused := fault.IsInput(err) && !limit
	if claim := (&catalog.Fitted{Model: m}).Updating(); refused != (claim == "") {
		return nil, fmt.Errorf("%s: the model claims %q, but the update ends with %v", p.method.Name, claim, err)
	}
	if refused {
		o.bytes("refusal", []byte(err.Error()))
		return o, nil
	}
	if err != nil {
		return nil, err
	}
	err = p.ask(ctx, eng, &o, "updated ", learned)
	return o, err
}

// ask adds the model's answers to the outcome.
func (p problem) ask(ctx context.Context, eng *engine.Engine, o *outcome, prefix string,
	m algorithms.Model) error {
	file, err := catalog.Encode(&catalog.Fitted{Model: m})
	if err != nil {
		return err
	}
	data, err := enginetest.Timeless(file)
	if err != nil {
		return err
	}
	o.bytes(prefix+"model file", data)
	if with, ok := m.(algorithms.Trace); ok {
		o.values(prefix+"objective", with.Trace())
	}
	coordinates, err := m.Embed(ctx, eng, p.fresh)
	if err != nil {
		return err
	}
	o.matrix(prefix+"embedding", coordinates)
	gram, err := m.Gram(ctx, eng, p.fresh, nil)
	if err != nil {
		return err
	}
	o.matrix(prefix+"Gram matrix", gram)
	cross, err := m.Gram(ctx, eng, p.fresh, p.x)
	if err != nil {
		return err
	}
	o.matrix(prefix+"cross Gram matrix", cross)
	distances, err := m.Distances(ctx, eng, p.fresh, chain(p.fresh.N))
	if err != nil {
		return err
	}
	o.values(prefix+"distances", distances)
	return nil
}

// chain pairs every point with the next and with one far from it.
func chain(n int) [][2]int {
	var pairs [][2]int
	for i := range n {
		pairs = append(pairs, [2]int{i, (i + 1) % n}, [2]int{i, (i + n/2) % n})
	}
	return pairs
}
