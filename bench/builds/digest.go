package builds

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Digest is what one build computed.
type Digest struct {
	Backend string   `json:"backend"` // as it describes itself
	Results []Result `json:"results"`
}

// Result is one method on one problem.
type Result struct {
	Method  string `json:"method"`
	Problem string `json:"problem"`
	// Distances are the squared learned distances of all pairs among some training points and some
	// new points.
	Distances  []float64 `json:"distances"`
	Objective  *float64  `json:"objective,omitempty"` // of methods that have one
	Iterations int       `json:"iterations"`
	// Sensitivity is the largest change of a distance, relative to the largest distance, when every
	// coordinate of the points moves by one unit in its last place. The difference between builds
	// that round differently can hardly be smaller.
	Sensitivity float64 `json:"sensitivity"`
}

// problem is points with links, and new points.
type problem struct {
	name     string
	x, fresh *points.Dense
	set      *links.Set
	targets  []float64 // the numbers of the classes
}

// Compute fits every method with its defaults to both problems, and calls progress, if it is not
// nil, for each. Cost: some seconds.
func Compute(ctx context.Context, eng *engine.Engine,
	progress func(done, total int, method string)) (*Digest, error) {
	d := &Digest{Backend: eng.Backend().Describe()}
	methods := catalog.Methods()
	for i, m := range methods {
		if progress != nil {
			progress(i, len(methods), m.Name)
		}
		n := 150
		if m.Small {
			n = 30
		}
		for _, make := range []func(n int) (problem, error){bands, rings} {
			p, err := make(n)
			if err != nil {
				return nil, err
			}
			r, err := p.solve(ctx, eng, m)
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", m.Name, p.name, err)
			}
			moved, err := p.moved().solve(ctx, eng, m)
			if err != nil {
				return nil, fmt.Errorf("%s on %s, moved by one unit in the last place: %w", m.Name, p.name,
					err)
			}
			r.Sensitivity = apart(r.Distances, moved.Distances)
			d.Results = append(d.Results, r)
		}
	}
	return d, nil
}

// bands returns three classes that one of six features separates; the others have larger variances.
func bands(n int) (problem, error) {
	rng := rand.New(rand.NewPCG(5, 1))
	place := func(i int, row []float64) {
		for f := range row {
			row[f] = 3 * rng.NormFloat64()
		}
		row[0] = float64(i%3) + 0.1*rng.NormFloat64()
	}
	return newProblem("bands", n, 6, 3, place)
}

// rings returns two circles, one around the other.
func rings(n int) (problem, error) {
	rng := rand.New(rand.NewPCG(6, 1))
	place := func(i int, row []float64) {
		angle, radius := 2*math.Pi*rng.Float64(), float64(1+2*(i%2))+0.1*rng.NormFloat64()
		row[0], row[1] = radius*math.Cos(angle), radius*math.Sin(angle)
	}
	return newProblem("rings", n, 2, 2, place)
}

func newProblem(name string, n, d, classes int, place func(i int, row []float64)) (problem, error) {
	p := problem{name: name, x: &points.Dense{N: n, D: d, Data: make([]float64, n*d)},
		fresh: &points.Dense{N: n / 2, D: d, Data: make([]float64, n/2*d)}}
	labels := make([]string, n)
	for i := range n {
		labels[i] = strconv.Itoa(i % classes)
		p.targets = append(p.targets, float64(i%classes))
		place(i, p.x.Row(i))
	}
	for i := range p.fresh.N {
		place(i, p.fresh.Row(i))
	}
	var err error
	p.set, err = links.SampleByCount(labels, n/3, n/3, 7)
	return p, err
}

// moved returns the problem with every coordinate moved up or down by one unit in its last place.
func (p problem) moved() problem {
	rng := rand.New(rand.NewPCG(8, 1))
	move := func(x *points.Dense) *points.Dense {
		out := &points.Dense{N: x.N, D: x.D, Data: make([]float64, len(x.Data))}
		for i, v := range x.Data {
			out.Data[i] = math.Nextafter(v, math.Inf(1-2*rng.IntN(2)))
		}
		return out
	}
	p.x, p.fresh = move(p.x), move(p.fresh)
	return p
}

// compared is the number of training points, and of new points, whose distances are in a digest.
const compared = 15

func (p problem) solve(ctx context.Context, eng *engine.Engine, m catalog.Method) (Result, error) {
	r := Result{Method: m.Name, Problem: p.name}
	config := catalog.Config{Seed: 1}
	if m.UsesTargets {
		config.Lesson.Targets = p.targets
	}
	learner, err := m.New(config)
	if err != nil {
		return r, err
	}
	fitted, err := learner.Fit(ctx, eng, p.x, p.set)
	if err != nil {
		return r, err
	}
	r.Iterations = fitted.Status().Iterations
	if with, ok := fitted.(algorithms.Objective); ok {
		value := with.Objective()
		r.Objective = &value
	}
	both := &points.Dense{N: 2 * compared, D: p.x.D,
		Data: append(append([]float64{}, p.x.Data[:compared*p.x.D]...), p.fresh.Data[:compared*p.x.D]...)}
	var pairs [][2]int
	for i := range both.N {
		for j := range i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	r.Distances, err = fitted.Distances(ctx, eng, both, pairs)
	return r, err
}

// Read reads a digest that was written as JSON. Errors are *fault.DataError.
func Read(path string) (*Digest, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Data(path, "cannot read: %w", err)
	}
	var d Digest
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fault.Data(path, "%w: want the JSON that mustlink-bench builds writes", err)
	}
	if d.Backend == "" || len(d.Results) == 0 {
		return nil, fault.Data(path, "no results: want the JSON that mustlink-bench builds writes")
	}
	return &d, nil
}
