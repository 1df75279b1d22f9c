package metamorphic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

// problem is what a method is given, and the pairs of rows whose learned distances it is asked for.
type problem struct {
	rows, fresh  [][]float64 // to learn from, and new ones
	at           []int       // the row of the table at which each row of the original problem stands
	must, cannot [][2]int    // of rows of the table
	targets      []float64   // one for each row
	options      []mustlink.Option
	rough        bool // without the parameters that are precise

	train, later func(p *problem) (*mustlink.Table, error) // the tables of rows and of used rows
	// between changes the model between the fit and its use. again gives the table whose distances
	// are asked for instead of that of the fit, and the rows of the original problem in it. Both
	// may be nil.
	between func(*problem, *mustlink.Model) (*mustlink.Model, error)
	again   func(*problem) (*mustlink.Table, []int, error)
}

const (
	size     = 66
	unlinked = 16 // the last rows
	features = 4
	spread   = 1.5 // standard deviation of a feature within a class
)

// original is the problem that all others are changes of: three classes, links of both kinds and
// rows without links. All numbers are multiples of 2^-16 below 16. So a shift by 1e8 and single
// precision leave them as they are, and a difference between answers is one of the computation.
func original(t testing.TB) *problem { return drawn(t, size, 30, 1) }

// drawn is another such problem, of other size, with as many links of each kind.
func drawn(t testing.TB, size, count int, seed uint64) *problem {
	t.Helper()
	p := &problem{train: denseRows, later: denseFresh}
	var labels []string
	p.rows, labels = draw(size, seed)
	p.fresh, _ = draw(20, seed+1)
	for i, row := range p.rows {
		p.at = append(p.at, i)
		p.targets = append(p.targets, grid(row[0]-0.5*row[1]+2*math.Sin(float64(7*i))))
	}
	linked, err := mustlink.FromRows(p.rows[:size-unlinked])
	if err == nil {
		linked, err = linked.WithLabels(labels[:size-unlinked])
	}
	if err != nil {
		t.Fatal(err)
	}
	set, err := linked.SampleLinks(count, count, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range set.Must() {
		p.must = append(p.must, [2]int{l.I, l.J})
	}
	for _, l := range set.Cannot() {
		p.cannot = append(p.cannot, [2]int{l.I, l.J})
	}
	return p
}

func draw(n int, seed uint64) (rows [][]float64, labels []string) {
	rng := rand.New(rand.NewPCG(seed, 64))
	for i := range n {
		row := make([]float64, features)
		for j := range row {
			row[j] = rng.NormFloat64() * spread
		}
		row[i%3] += 3
		row[3] += 0.5 * row[0] // correlated
		for j, v := range row {
			row[j] = grid(v)
		}
		rows, labels = append(rows, row), append(labels, string(rune('a'+i%3)))
	}
	return rows, labels
}

func grid(v float64) float64 { return math.Round(v*(1<<16)) / (1 << 16) }

func denseRows(p *problem) (*mustlink.Table, error)  { return mustlink.FromRows(p.rows) }
func denseFresh(p *problem) (*mustlink.Table, error) { return mustlink.FromRows(p.used()) }

// copy returns a copy whose rows and lists can be changed.
func (p *problem) copy() *problem {
	q := *p
	q.rows, q.fresh = rowsOf(p.rows), rowsOf(p.fresh)
	q.at, q.targets = slices.Clone(p.at), slices.Clone(p.targets)
	q.must, q.cannot = slices.Clone(p.must), slices.Clone(p.cannot)
	q.options = slices.Clone(p.options)
	return &q
}

func rowsOf(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = slices.Clone(row)
	}
	return out
}

// each changes every row, new ones too.
func (p *problem) each(change func(row []float64) []float64) *problem {
	q := p.copy()
	for i, row := range q.rows {
		q.rows[i] = change(row)
	}
	for i, row := range q.fresh {
		q.fresh[i] = change(row)
	}
	return q
}

// with returns the problem with further options of the fit.
func (p *problem) with(options ...mustlink.Option) *problem {
	q := p.copy()
	q.options = append(q.options, options...)
	return q
}

// order returns the problem with its rows in another order: row i is what was row order[i].
func (p *problem) order(order []int) *problem {
	q := p.copy()
	place := make([]int, len(order))
	for i, r := range order {
		place[r], q.rows[i], q.targets[i] = i, p.rows[r], p.targets[r]
	}
	for i, r := range p.at {
		q.at[i] = place[r]
	}
	for k, l := range p.must {
		q.must[k] = [2]int{place[l[0]], place[l[1]]}
	}
	for k, l := range p.cannot {
		q.cannot[k] = [2]int{place[l[0]], place[l[1]]}
	}
	return q
}

// sparse gives the rows as sparse ones, with their zeros where explicit.
func (p *problem) sparse(explicit bool) *problem {
	q := p.copy()
	of := func(rows [][]float64) (*mustlink.Table, error) {
		start, column, value := []int{0}, []int32(nil), []float64(nil)
		for _, row := range rows {
			for j, v := range row {
				if explicit || v != 0 {
					column, value = append(column, int32(j)), append(value, v)
				}
			}
			start = append(start, len(value))
		}
		return mustlink.FromSparse(len(rows), len(rows[0]), start, column, value)
	}
	q.train = func(p *problem) (*mustlink.Table, error) { return of(p.rows) }
	q.later = func(p *problem) (*mustlink.Table, error) { return of(p.used()) }
	return q
}

// gram gives the inner products of the rows instead of the rows.
func (p *problem) gram(kernel func(x, y []float64) float64) *problem {
	q := p.copy()
	q.options = nil // the kernel is in the matrix
	q.train = func(p *problem) (*mustlink.Table, error) {
		return mustlink.FromGram(products(p.rows, p.rows, kernel), nil)
	}
	q.later = func(p *problem) (*mustlink.Table, error) {
		rows, reference, diagonal := p.used(), []int(nil), []float64(nil)
		for i, row := range rows {
			reference, diagonal = append(reference, -1), append(diagonal, kernel(row, row))
			if i >= len(p.fresh) {
				reference[i] = p.at[i-len(p.fresh)]
			}
		}
		k := products(rows, p.rows, kernel).RawMatrix()
		gram, err := points.NewGram(k.Rows, k.Cols, k.Data, diagonal, reference)
		return mustlink.FromData(&dataset.Data{Points: gram}), err
	}
	return q
}

// used returns the rows that a model is used on: new ones, and then as many of the training rows,
// the same whatever their order, so that there are distances of rows of both kinds.
func (p *problem) used() [][]float64 {
	rows := slices.Clone(p.fresh)
	for i := range p.fresh {
		rows = append(rows, p.rows[p.at[i]])
	}
	return rows
}

func products(x, y [][]float64, kernel func(x, y []float64) float64) *mat.Dense {
	out := mat.NewDense(len(x), len(y), nil)
	for i := range x {
		for j := range y {
			out.Set(i, j, kernel(x[i], y[j]))
		}
	}
	return out
}

func inner(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += v * y[j]
	}
	return sum
}

func gauss(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += (v - y[j]) * (v - y[j])
	}
	return math.Exp(-sum / (2 * 3 * 3))
}
