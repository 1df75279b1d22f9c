package paper

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// uciSet is a file with a data set of the UCI repository, or one in the same format.
type uciSet struct {
	name     string
	file     string // in the folder of data sets
	perClass int    // rows drawn of every class, 0 for all rows
}

// labeled is a data set in memory with its kernels.
type labeled struct {
	x        *points.Dense // standardized
	labels   []string
	classes  int
	gaussian kernel.Kernel
}

// loadUCI reads a data set, draws its rows and standardizes them. The bandwidth rule of the
// Gaussian kernel applies to the standardized rows.
func loadUCI(ctx context.Context, eng *engine.Engine, path string, perClass int, rule string,
	r *rand.Rand) (*labeled, error) {
	p, labels, err := readRows(path, perClass, r)
	if err != nil {
		return nil, err
	}
	scaling, _, err := prepare.Standardize(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	scaled, err := scaling.Apply(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &labeled{x: scaled.(*points.Dense), labels: labels, classes: len(classRows(labels))}
	return d, d.resolve(ctx, eng, rule)
}

// readRows reads the rows of a data set with their classes, or draws perClass of every class.
func readRows(path string, perClass int, r *rand.Rand) (*points.Dense, []string, error) {
	data, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}
	if data.Labels == nil {
		return nil, nil, fault.Data(path, "no labels: want a column with the classes of the rows")
	}
	p, labels := data.Points, data.Labels
	if perClass > 0 {
		rows, err := equalClasses(labels, perClass, r)
		if err != nil {
			return nil, nil, fault.Data(path, "%w", err)
		}
		p, labels = p.Select(rows), pick(labels, rows)
	}
	x, ok := p.(*points.Dense)
	if !ok {
		return nil, nil, fault.Data(path, "rows are %T: want vectors of numbers", p)
	}
	return x, labels, nil
}

// resolve finds the width of the Gaussian kernel.
func (d *labeled) resolve(ctx context.Context, eng *engine.Engine, rule string) (err error) {
	d.gaussian, err = resolved(ctx, eng, "rbf:sigma="+rule, d.x)
	return err
}

// resolved returns the kernel that text names, with the width that its bandwidth rule gives for the
// points x.
func resolved(ctx context.Context, eng *engine.Engine, text string, x points.Points) (kernel.Kernel, error) {
	spec, err := kernel.Parse(text)
	if err != nil {
		return kernel.Kernel{}, err
	}
	if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.New(spec)
}

// classRows returns the rows of each class, with the classes in the order of their first rows.
func classRows(labels []string) [][]int {
	number := make(map[string]int)
	var rows [][]int
	for i, label := range labels {
		c, ok := number[label]
		if !ok {
			c = len(rows)
			number[label] = c
			rows = append(rows, nil)
		}
		rows[c] = append(rows[c], i)
	}
	return rows
}

// classNumbers returns the number of the class of every row, as [classRows] orders them.
func classNumbers(labels []string) []int {
	numbers := make([]int, len(labels))
	for c, rows := range classRows(labels) {
		for _, i := range rows {
			numbers[i] = c
		}
	}
	return numbers
}

// rawRows returns points as the matrix of their coordinates, which it shares.
func rawRows(x *points.Dense) blas.Matrix {
	return blas.MatrixOf(x.N, x.D, x.Data)
}

// equalClasses draws perClass rows of every class without replacement, in ascending order.
func equalClasses(labels []string, perClass int, r *rand.Rand) ([]int, error) {
	var drawn []int
	for _, rows := range classRows(labels) {
		if len(rows) < perClass {
			return nil, fmt.Errorf("class %q has %d rows: want at least %d", labels[rows[0]], len(rows),
				perClass)
		}
		for _, i := range r.Perm(len(rows))[:perClass] {
			drawn = append(drawn, rows[i])
		}
	}
	slices.Sort(drawn)
	return drawn, nil
}

func pick(labels []string, rows []int) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = labels[row]
	}
	return out
}
