package fittimes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/system"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Case is one fit: a method with its defaults, except for the parameters after its name ("npkl
// graph=dense"), and the numbers of points, features and links. Half of the links are must-links.
type Case struct {
	Method   string `json:"method"`
	Points   int    `json:"points"`
	Features int    `json:"features"`
	Links    int    `json:"links"`
}

// Size is the case's size as reports write it.
func (c Case) Size() string { return fmt.Sprintf("n=%d d=%d links=%d", c.Points, c.Features, c.Links) }

// classes of the points; the seeds of the points, the links and the methods.
const (
	classes = 3
	seed    = 1
)

// learner returns the method of the case.
func (c Case) learner() (algorithms.Learner, error) {
	method, values, err := system.Parse(c.Method)
	if err != nil {
		return nil, err
	}
	return system.Learner(method, values, seed)
}

// Problem returns points of three normal clusters, whose centers differ in every second feature by
// the width of a cluster, with links drawn from all pairs.
func (c Case) Problem() (*points.Dense, *links.Set, error) {
	rng := rand.New(rand.NewPCG(seed, uint64(c.Points)<<32+uint64(c.Features)))
	x, labels := &points.Dense{N: c.Points, D: c.Features, Data: make([]float64, c.Points*c.Features)},
		make([]string, c.Points)
	for i := range c.Points {
		class := i % classes
		labels[i] = strconv.Itoa(class)
		for f, row := 0, x.Row(i); f < c.Features; f++ {
			row[f] = rng.NormFloat64() + float64((class+f/2)%classes*((f+1)%2))
		}
	}
	set, err := links.SampleByCount(labels, c.Links-c.Links/2, c.Links/2, seed)
	return x, set, err
}

// Sizes are the numbers that a plan varies. While one of the three varies, the other two are the
// middle values of their lists.
type Sizes struct {
	Points   []int `json:"points"`
	Features []int `json:"features"`
	Links    []int `json:"links"`
}

// DefaultSizes returns the sizes of the tables in docs/performance.md.
func DefaultSizes() Sizes {
	return Sizes{Points: []int{500, 1000, 2000}, Features: []int{8, 32, 128}, Links: []int{250, 500, 1000}}
}

// minPoints is the minimum number of points.
const minPoints = 12

// check returns an error for sizes that give no exponent.
func (s Sizes) check() error {
	for _, list := range []struct {
		name    string
		values  []int
		minimum int
	}{{"sizes", s.Points, minPoints}, {"features", s.Features, 1}, {"links", s.Links, 2}} {
		if len(list.values) < 3 || !slices.IsSorted(list.values) ||
			len(slices.Compact(slices.Clone(list.values))) != len(list.values) ||
			list.values[0] < list.minimum {
			return &fault.ParamError{Param: list.name, Value: list.values,
				Want: fmt.Sprintf("at least three increasing numbers >= %d", list.minimum)}
		}
	}
	return nil
}

// smallPoints is the number of points of methods for few points.
const smallPoints = 160

// isSmall reports whether a method is one for few points.
func isSmall(text string) (bool, error) {
	name, _, err := system.Parse(text)
	if err != nil {
		return false, err
	}
	m, err := catalog.Lookup(name)
	return m.Small, err
}

// scaled returns the list multiplied by part, as distinct numbers of at least the given minimum.
func scaled(list []int, part float64, minimum int) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = max(minimum+i, int(part*float64(v)))
	}
	return out
}

func middle(list []int) int { return list[len(list)/2] }

// Methods returns the methods of the catalog that learn from links.
func Methods() []string {
	var names []string
	for _, m := range catalog.Methods() {
		if !m.UsesTargets {
			names = append(names, m.Name)
		}
	}
	return names
}

// Plan returns the cases that give the growth of the methods, each once. Methods for few points get
// fewer points and links. Unknown methods, values that do not parse and sizes that give no exponent
// are a *fault.ParamError.
func Plan(methods []string, s Sizes) ([]Case, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var plan []Case
	for _, m := range methods {
		own, err := s.of(m)
		if err != nil {
			return nil, err
		}
		for _, sweep := range own.sweeps(m) {
			for _, c := range sweep {
				if !slices.Contains(plan, c) {
					plan = append(plan, c)
				}
			}
		}
		if _, err := plan[len(plan)-1].learner(); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// of returns the sizes for a method: fewer points and links, in proportion, for one that is for few
// points.
func (s Sizes) of(method string) (Sizes, error) {
	small, err := isSmall(method)
	if top := s.Points[len(s.Points)-1]; small && top > smallPoints {
		part := float64(smallPoints) / float64(top)
		s.Points, s.Links = scaled(s.Points, part, minPoints), scaled(s.Links, part, 2)
	}
	return s, err
}

// sweeps returns the cases of each exponent: of points, features and links.
func (s Sizes) sweeps(method string) [3][]Case {
	base := Case{method, middle(s.Points), middle(s.Features), middle(s.Links)}
	var out [3][]Case
	for k, list := range [3][]int{s.Points, s.Features, s.Links} {
		for _, v := range list {
			c := base
			*c.size(k) = v
			out[k] = append(out[k], c)
		}
	}
	return out
}

// size is the number of points, features or links.
func (c *Case) size(k int) *int { return [3]*int{&c.Points, &c.Features, &c.Links}[k] }

// Contest returns the cases that compare builds: every method with each number of points, 16
// features and a quarter as many links as points. A method for few points has one case.
func Contest(methods []string, sizes []int) ([]Case, error) {
	const features = 16
	var plan []Case
	for _, m := range methods {
		small, err := isSmall(m)
		if err != nil {
			return nil, err
		}
		for _, n := range sizes {
			if n < minPoints {
				return nil, &fault.ParamError{Param: "sizes", Value: n,
					Want: fmt.Sprintf("numbers >= %d", minPoints)}
			}
			if small {
				n = min(n, smallPoints)
			}
			c := Case{m, n, features, n / 4}
			if _, err := c.learner(); err != nil {
				return nil, err
			}
			if !slices.Contains(plan, c) {
				plan = append(plan, c)
			}
		}
	}
	return plan, nil
}
