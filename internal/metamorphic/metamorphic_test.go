package metamorphic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// exception is a change after which methods answer something else, and why that is no fault.
type exception struct {
	methods, relations []string // names of relations, or how they begin
	why                string
}

var exceptions = []exception{
	{
		[]string{"kbeta", "npkl", "lleratio", "blend", "parts", "lmnn", "scml", "klein", "llma", "spectral",
			"cmvu", "npk", "simplenpkl", "sdplr"},
		[]string{"whole numbers, rows in"},
		"Nearest neighbors are not unique where distances are equal: of rows equally far the one with the " +
			"lower number is taken.",
	},
	{
		[]string{"forest"},
		[]string{"negated", "turned", "features in another order"},
		"forest draws features by their numbers, and thresholds from their lower ends.",
	},
	{[]string{"sdml"}, []string{"turned"},
		"sdml penalizes products of single features, so it depends on the axes."},
	{
		[]string{"llma"}, []string{"times "},
		"llma adds one ridge to unknowns of different units: it depends on the units of the features.",
	},
	{
		[]string{"lleratio", "blend"}, []string{"Gram matrix instead"},
		"lleratio, also in blend, seeks the neighbors of rows among their features, and those of a Gram " +
			"matrix in the space of its kernel. In blend, what learns from coordinates takes the kernel of " +
			"`-k`, or " +
			"its own with a Gram matrix.",
	},
	{
		[]string{"krca", "blend"},
		[]string{"all features plus 1e5, `-k", "all features plus 1e8, `-k",
			"all features plus 1e3, Gram"},
		"krca adds `eps_rel` times the mean of k(x, x). For the linear kernel this is measured from the " +
			"origin, and from the mean of rows that are far from it.",
	},
	{
		[]string{"nca", "mlkr"},
		[]string{"whole numbers, rows in", "rows with equal ones, in", "Gram matrix instead of `-k rbf`"},
		"nca and mlkr climb an objective with many maxima: rounding decides which one they reach.",
	},
}

// exceptionOf returns the number of the exception for a method and a relation, from 1 on, or 0.
func exceptionOf(method, relation string) int {
	for k, e := range exceptions {
		begins := func(name string) bool { return strings.HasPrefix(relation, name) }
		if slices.Contains(e.methods, method) && slices.ContainsFunc(e.relations, begins) {
			return k + 1
		}
	}
	return 0
}

// The cells of the file; exceptions have their number.
const (
	same     = "="
	refused  = "e"
	noticed  = "n"
	notAsked = "·"
	silent   = "✗"
)

// long are the methods whose precise fits take longest. Unless all draws are asked for, each of
// them is asked about a third of the relations, another one than the other two, and the rest of its
// lines is taken from the file.
var long = []string{"scml", "mlkr", "npk"}

// TestMetamorphic changes a problem in all ways, for all methods, and compares the answers. It also
// checks that docs/results/unchanged.csv is what it found; -update writes it, and needs all.
func TestMetamorphic(t *testing.T) {
	list, methods := relations(t), racetest.Part(catalog.Methods())
	if testing.Short() {
		methods = slices.DeleteFunc(methods, func(m catalog.Method) bool { return m.Baseline })
	}
	rows, names := map[string][]string{}, []string{}
	used := map[string]bool{}
	for _, method := range methods {
		t.Run(method.Name, func(t *testing.T) {
			written := line(t, method.Name, len(list))
			cells := make([]string, len(list))
			from, to := 0, len(list)
			if turn := slices.Index(long, method.Name); turn >= 0 && !drawstest.All() && !*update {
				from, to = turn*len(list)/len(long), (turn+1)*len(list)/len(long)
				copy(cells, written)
			}
			copy(cells[from:to], outcomes(t, method, list[from:to]))
			for k, cell := range cells {
				if used[cell] = true; cell == silent {
					t.Errorf("%s: another answer, and no notice", list[k].name)
				}
			}
			rows[method.Name], names = cells, append(names, method.Name)
		})
	}
	if len(rows) < len(catalog.Methods()) {
		return
	}
	for k, e := range exceptions {
		if !used[fmt.Sprint(k+1)] {
			t.Errorf("the exception of %v is not needed: %s", e.methods, e.why)
		}
	}
	checkPage(t, numbers(t, list, rows, names))
}

// outcomes returns a cell for each relation.
func outcomes(t *testing.T, method catalog.Method, list []relation) (cells []string) {
	p := original(t)
	answers, condition := map[string]answer{}, map[string]float64{}
	for _, r := range list {
		base := bases[r.from](p)
		if _, known := answers[r.from]; !known {
			answers[r.from] = ask(method, base)
			condition[r.from] = sensitivity(method, p, bases[r.from], answers[r.from])
		}
		cells = append(cells, outcome(t, method, r, base, answers[r.from], condition[r.from]))
	}
	return cells
}

// sensitivity is by how much distances change when rows move by rounding, relative to that move:
// their condition number, measured.
func sensitivity(method catalog.Method, p *problem, base func(*problem) *problem, want answer) float64 {
	const step = 1e-9
	worst := 0.0
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 9))
		moved := p.each(func(row []float64) []float64 {
			for j := range row {
				row[j] += step * rng.NormFloat64()
			}
			return row
		})
		if got := ask(method, base(moved)); want.err == nil && got.err == nil {
			worst = max(worst, apart(want, got, false)/step)
		}
	}
	return worst
}

// outcome says what becomes of a method's answer. The tolerance is 16 times what the change moves
// the rows by, times the measured condition of the method; but at least 1e-8, the root of the
// rounding, to which an optimum is determined where its objective is flat, or 1e-7 from a Gram
// matrix, whose entries are rounded like squares; and at least the tolerance at which it ends.
func outcome(t *testing.T, method catalog.Method, r relation, base *problem, want answer,
	condition float64) string {
	if want.err != nil || strings.Contains(r.name, "imply") && method.Pairwise {
		return notAsked
	}
	got := ask(method, r.change(base))
	switch {
	case errors.Is(got.err, errNotAsked):
		return notAsked
	case got.err != nil && fault.IsInput(got.err):
		return refused
	case got.err != nil:
		t.Errorf("%s: an error without a type: %v", r.name, got.err)
		return silent
	}
	limit := max(1e-8, ends[method.Name], 16*condition*r.backward)
	if strings.Contains(r.name, "Gram") {
		limit = max(limit, 1e-7)
	}
	off := apart(want, got, r.ratios)
	if off <= limit {
		return same
	}
	t.Logf("%s: distances change by %.2g of the largest, tolerance %.2g", r.name, off, limit)
	if k := exceptionOf(method.Name, r.name); k > 0 {
		return fmt.Sprint(k)
	}
	if warned(want, got) {
		t.Logf("notices: %v", got.notices)
		return noticed
	}
	return silent
}
