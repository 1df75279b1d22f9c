package metamorphic

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
)

// errNotAsked is the error of a change that means nothing for a method.
var errNotAsked = errors.New("not asked")

// relation is a change of a problem that leaves the answer as it is.
type relation struct {
	from   string // what is changed: one of the bases
	name   string
	change func(*problem) *problem
	// backward is by how much the change moves the rows, in units of their spread: rounding of the
	// new numbers and of sums of them.
	backward float64
	ratios   bool // distances may differ by a common factor, the unit of the rows
}

const eps = 0x1p-53

// bases are the problems that relations change, with options of the fit.
var bases = map[string]func(*problem) *problem{
	"rows":   func(p *problem) *problem { return p.with(mustlink.Unprepared()) },
	"auto":   func(p *problem) *problem { return p },
	"scaled": func(p *problem) *problem { return p.with(mustlink.Standardize()) },
	"linear": func(p *problem) *problem { return p.with(mustlink.Unprepared(), mustlink.Kernel("linear")) },
	"gauss": func(p *problem) *problem {
		return p.with(mustlink.Unprepared(), mustlink.Kernel("rbf:sigma=3"))
	},
	"sparse": func(p *problem) *problem { return p.with(mustlink.Unprepared()).sparse(false) },
	"twins":  func(p *problem) *problem { return twins(p).with(mustlink.Unprepared()) },
	"whole":  func(p *problem) *problem { return whole(p).with(mustlink.Unprepared()) },
	"gram":   func(p *problem) *problem { return p.gram(inner) },
}

func shifted(by float64) func(*problem) *problem {
	return func(p *problem) *problem {
		return p.each(func(row []float64) []float64 {
			for j := range row {
				row[j] += by
			}
			return row
		})
	}
}

func scaledBy(factors ...float64) func(*problem) *problem {
	return func(p *problem) *problem {
		return p.each(func(row []float64) []float64 {
			for j := range row {
				row[j] *= factors[j%len(factors)]
			}
			return row
		})
	}
}

func constant(value float64) func(*problem) *problem {
	return func(p *problem) *problem {
		return p.each(func(row []float64) []float64 { return append(row, value) })
	}
}

func permuted(p *problem) *problem {
	return p.order(rand.New(rand.NewPCG(3, 3)).Perm(len(p.rows)))
}

func reversed(p *problem) *problem {
	q := p.copy()
	for _, list := range [][][2]int{q.must, q.cannot} {
		for k, l := range list {
			list[k] = [2]int{l[1], l[0]}
		}
	}
	return q
}

func shuffled(p *problem) *problem {
	q, rng := p.copy(), rand.New(rand.NewPCG(4, 4))
	for _, list := range [][][2]int{q.must, q.cannot} {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return q
}

func twice(p *problem) *problem {
	q := p.copy()
	q.must = append(q.must, q.must...)
	q.cannot = append(q.cannot, q.cannot...)
	return q
}

func turned(p *problem) *problem {
	return p.each(func(row []float64) []float64 {
		row[0], row[1] = 0.6*row[0]-0.8*row[1], 0.8*row[0]+0.6*row[1]
		return row
	})
}

// through gives the rows by a file.
func through(t testing.TB, name string, write func(path string, rows [][]float64) error,
	options ...mustlink.ReadOption) func(*problem) *problem {
	folder := t.TempDir()
	read := func(path string, rows [][]float64) (*mustlink.Table, error) {
		if err := write(path, rows); err != nil {
			return nil, err
		}
		return mustlink.ReadTable(path, options...)
	}
	return func(p *problem) *problem {
		q := p.copy()
		q.train = func(p *problem) (*mustlink.Table, error) {
			return read(filepath.Join(folder, "x"+name), p.rows)
		}
		q.later = func(p *problem) (*mustlink.Table, error) {
			return read(filepath.Join(folder, "new"+name), p.used())
		}
		return q
	}
}

func stored(p *problem) *problem {
	q := p.copy()
	q.between = func(_ *problem, m *mustlink.Model) (*mustlink.Model, error) {
		var file bytes.Buffer
		if _, err := m.WriteTo(&file); err != nil {
			return nil, err
		}
		return mustlink.LoadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()))
	}
	return q
}

// reordered asks for the distances of the training rows in another order.
func reordered(p *problem) *problem {
	q := p.copy()
	q.again = func(p *problem) (*mustlink.Table, []int, error) {
		mixed := permuted(p)
		table, err := mixed.train(mixed)
		return table, mixed.at, err
	}
	return q
}

// updated learns every other link by an update.
func updated(p *problem) *problem {
	q := p.copy()
	rest := p.copy()
	q.must, rest.must = halves(p.must)
	q.cannot, rest.cannot = halves(p.cannot)
	q.between = func(q *problem, m *mustlink.Model) (*mustlink.Model, error) {
		if _, is := m.Record().Model.(algorithms.Linker); !is {
			return nil, errNotAsked
		}
		table, err := q.train(q)
		if err != nil {
			return nil, err
		}
		set, err := mustlink.NewLinks(table.Rows(), rest.must, rest.cannot)
		if err != nil {
			return nil, err
		}
		return m.Update(context.Background(), table, set)
	}
	return q
}

func halves(list [][2]int) (even, odd [][2]int) {
	for k, l := range list {
		if k%2 == 0 {
			even = append(even, l)
		} else {
			odd = append(odd, l)
		}
	}
	return even, odd
}

// implied adds the must-links that others imply.
func implied(p *problem) *problem {
	q := p.copy()
	set, err := mustlink.NewLinks(len(p.rows), p.must, nil)
	if err != nil {
		panic(err) // the links of the original problem
	}
	q.must = nil
	for _, group := range set.Chunklets() {
		for k, i := range group {
			for _, j := range group[:k] {
				q.must = append(q.must, [2]int{j, i})
			}
		}
	}
	return q
}

// whole rounds the rows to whole numbers, so that many distances are equal.
func whole(p *problem) *problem {
	return p.each(func(row []float64) []float64 {
		for j, v := range row {
			row[j] = math.Round(v)
		}
		return row
	})
}

// twins appends a copy of every row without links.
func twins(p *problem) *problem {
	q := p.copy()
	for i := size - unlinked; i < size; i++ {
		q.rows = append(q.rows, slices.Clone(q.rows[i]))
		q.targets = append(q.targets, q.targets[i])
	}
	return q
}

// swapped exchanges the rows without links and their copies.
func swapped(p *problem) *problem {
	q := p.copy()
	for i := size - unlinked; i < size; i++ {
		q.at[i] = i + unlinked
	}
	return q
}

func sparseRows(p *problem) *problem    { return p.sparse(false) }
func explicitZeros(p *problem) *problem { return p.sparse(true) }
func ofInner(p *problem) *problem       { return p.gram(inner) }
func ofGauss(p *problem) *problem       { return p.gram(gauss) }

// relations returns them in the order of the columns of the table.
func relations(t testing.TB) []relation {
	single, text := through(t, ".npy", writeSingle), through(t, ".csv", writeText)
	return []relation{
		{"rows", "a constant feature of 0", constant(0), eps, false},
		{"rows", "a constant feature of 1", constant(1), eps, false},
		{"rows", "a constant feature of 1000", constant(1000), 1e3 * eps, false},
		{"rows", "a constant feature of 20240", constant(20240), 20240 * eps, false},
		{"auto", "a constant feature of 20240, columns prepared", constant(20240), eps, false},
		{"sparse", "a constant feature of 20240, sparse rows", constant(20240), 20240 * 20240 * eps, false},
		{"sparse", "a constant feature of 1e8, sparse rows", constant(1e8), 1e16 * eps, false},
		{"rows", "all features plus 1e3", shifted(1e3), 1e3 * eps, false},
		{"rows", "all features plus 1e5", shifted(1e5), 1e5 * eps, false},
		{"rows", "all features plus 1e8", shifted(1e8), 1e8 * eps, false},
		{"scaled", "all features plus 1e8, standardized", shifted(1e8), 1e8 * eps, false},
		{"linear", "all features plus 1e5, `-k linear`", shifted(1e5), 1e5 * eps, false},
		{"linear", "all features plus 1e8, `-k linear`", shifted(1e8), 1e8 * eps, false},
		{"sparse", "all features plus 1e5, sparse rows", shifted(1e5), 1e10 * eps, false},
		{"gram", "all features plus 1e3, Gram matrix", shifted(1e3), 1e6 * eps, false},
		{"gram", "all features plus 1e8, Gram matrix", shifted(1e8), 1e16 * eps, false},
		{"rows", "times 1e-12", scaledBy(1e-12), eps, true},
		{"rows", "times 1e-3", scaledBy(1e-3), eps, true},
		{"rows", "times 1e3", scaledBy(1e3), eps, true},
		{"rows", "times 1e12", scaledBy(1e12), eps, true},
		{"gram", "times 1e-12, Gram matrix", scaledBy(1e-12), eps, true},
		{"scaled", "times 1e-12, standardized", scaledBy(1e-12), eps, false},
		{"scaled", "times 1e12, standardized", scaledBy(1e12), eps, false},
		{"scaled", "features times 1e-12, 7, 1e12 and 1e3, standardized", scaledBy(1e-12, 7, 1e12, 1e3), eps,
			false},
		{"rows", "negated", scaledBy(-1), eps, false},
		{"rows", "turned by 53 degrees", turned, eps, false},
		{"rows", "rows in another order", permuted, eps, false},
		{"rows", "features in another order", mirrored, eps, false},
		{"rows", "links in another order", shuffled, eps, false},
		{"rows", "both rows of each link exchanged", reversed, eps, false},
		{"rows", "each link twice", twice, eps, false},
		{"rows", "with the must-links that others imply", implied, eps, false},
		{"rows", "half of the links learned by an update", updated, eps, false},
		{"twins", "rows with equal ones, in another order", permuted, eps, false},
		{"twins", "rows without links and their copies exchanged", swapped, eps, false},
		{"twins", "rows with equal ones, used in another order", reordered, eps, false},
		{"whole", "whole numbers, rows in another order", permuted, eps, false},
		{"whole", "whole numbers, used in another order", reordered, eps, false},
		{"linear", "sparse rows instead of `-k linear`", sparseRows, eps, false},
		{"sparse", "sparse rows with explicit zeros", explicitZeros, eps, false},
		{"linear", "Gram matrix instead of `-k linear`", ofInner, eps, false},
		{"gauss", "Gram matrix instead of `-k rbf`", ofGauss, eps, false},
		{"rows", "rows of an NPY file of float32", single, 0, false},
		{"rows", "rows of a CSV file", text, 0, false},
		{"rows", "model stored and loaded", stored, 0, false},
		{"rows", "used in another order", reordered, 0, false},
		{"rows", "three workers", workers, 0, false},
	}
}

func workers(p *problem) *problem { return p.with(mustlink.Workers(3)) }

func mirrored(p *problem) *problem {
	return p.each(func(row []float64) []float64 { slices.Reverse(row); return row })
}

func writeSingle(path string, rows [][]float64) error {
	var b bytes.Buffer
	header := npyHeader(len(rows), len(rows[0]))
	b.WriteString(header)
	for _, row := range rows {
		for _, v := range row {
			bits := math.Float32bits(float32(v))
			b.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}
