package metamorphic

import (
	"context"
	"math"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
)

// answer is what a model says of a problem.
type answer struct {
	squared [2][]float64 // learned distances, squared: of pairs of rows of the fit, and of new ones
	notices []string
	err     error
}

// precise are parameters of methods that end at a tolerance, so that what is compared is the
// optimum and not where a search stopped, and of a method that draws from rows: it draws all.
var precise = map[string]map[string]string{
	"npkl":  {"tol": "1e-10", "max_iter": "100000"},
	"gml":   {"tol": "1e-10", "max_iter": "20000"},
	"itml":  {"tol": "1e-10", "max_iter": "20000"},
	"sdplr": {"tol": "1e-8", "max_iter": "100000"},
	"mlkr":  {"tol": "1e-12", "max_iter": "10000"},
	"sdml":  {"tol": "1e-12"},
	"llma":  {"anchors": "50"},
}

// ends is by how much distances may change because a search ends at a tolerance: a gap to the
// optimum, or a gain, determines them to its root. nca ends when five steps gain a thousandth of
// what is missing.
var ends = map[string]float64{
	"npkl": 1e-5, "npk": 1e-3, "sdplr": 1e-4, "lleratio": 1e-6, "parts": 1e-6, "xiang": 1e-6, "sdml": 1e-5,
	"mlkr": 1e-6, "nca": 1e-3, "blend": 1e-4,
}

// pairs of the rows that are asked about: each with the next, and with one far from it.
func pairs(n int) (list [][2]int) {
	for i := range n {
		list = append(list, [2]int{i, (i + 1) % n}, [2]int{i, (i + n/2) % n})
	}
	return list
}

// ask fits the method to the problem, and asks its model for distances.
func ask(method catalog.Method, p *problem) answer {
	m, train, err := fit(method, p)
	if err != nil {
		return answer{err: err}
	}
	var a answer
	a.notices = m.Describe().Notices
	if !m.Describe().Converged {
		a.notices = append(a.notices, m.Describe().Message)
	}
	if p.between != nil {
		if m, err = p.between(p, m); err != nil {
			return answer{err: err}
		}
	}
	at := p.at
	if p.again != nil {
		if train, at, err = p.again(p); err != nil {
			return answer{err: err}
		}
	}
	list := pairs(len(at))
	for k, pair := range list {
		list[k] = [2]int{at[pair[0]], at[pair[1]]}
	}
	if a.squared[0], err = squared(m, train, list); err != nil {
		return answer{err: err}
	}
	fresh, err := p.later(p)
	if err != nil {
		return answer{err: err}
	}
	list = nil
	for i := range p.fresh {
		list = append(list, [2]int{i, len(p.fresh) + i}, [2]int{i, len(p.fresh) + (i+7)%len(p.fresh)})
	}
	if a.squared[1], err = squared(m, fresh, list); err != nil {
		return answer{err: err}
	}
	return a
}

func fit(method catalog.Method, p *problem) (*mustlink.Model, *mustlink.Table, error) {
	table, err := p.train(p)
	if err != nil {
		return nil, nil, err
	}
	set, err := mustlink.NewLinks(table.Rows(), p.must, p.cannot)
	if err != nil {
		return nil, nil, err
	}
	options := append([]mustlink.Option{mustlink.Method(method.Name)}, p.options...)
	if !p.rough {
		for name, value := range precise[method.Name] {
			options = append(options, mustlink.Param(name, value))
		}
	}
	if method.UsesTargets {
		options = append(options, mustlink.Targets(p.targets))
	}
	m, err := mustlink.Fit(context.Background(), table, set, options...)
	return m, table, err
}

func squared(m *mustlink.Model, t *mustlink.Table, list [][2]int) ([]float64, error) {
	d, err := m.Distances(context.Background(), t, list)
	for k, v := range d {
		d[k] = v * v
	}
	return d, err
}

// apart returns the largest difference between two answers, relative to the largest value of the
// first; where only ratios of distances count, after division by the sum of those of the fit.
func apart(want, got answer, ratios bool) float64 {
	unit := 1.0
	if ratios {
		unit = sum(want.squared[0]) / sum(got.squared[0])
	}
	worst := 0.0
	for part, list := range want.squared {
		largest := 0.0
		for _, v := range list {
			largest = max(largest, v)
		}
		for k, v := range list {
			if off := math.Abs(v-unit*got.squared[part][k]) / largest; !(off <= worst) {
				worst = off
			}
		}
	}
	return worst
}

func sum(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}

// warned reports whether the second answer has a notice of another kind than the first, or one that
// says that directions of both are arbitrary.
func warned(want, got answer) bool {
	kind := func(notice string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("0123456789.e+-", r) {
				return -1
			}
			return r
		}, notice)
	}
	before := map[string]bool{}
	for _, n := range want.notices {
		before[kind(n)] = true
	}
	for _, n := range got.notices {
		if !before[kind(n)] || strings.Contains(n, "are arbitrary") {
			return true
		}
	}
	return false
}
