// Package input checks the input of methods. It also chooses the kernel for a kind of points, and
// turns the error of a canceled context into a message.
package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/operator"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// Check validates the points of a fit, and that the links are for the same number of rows.
func Check(x points.Points, set *links.Set) error {
	switch {
	case x == nil:
		return fault.Param("points", nil, "points to learn from")
	case set == nil:
		return fault.Param("links", nil, "a set of links.New, which may be empty")
	}
	if err := Points(x); err != nil {
		return err
	}
	switch {
	case x.Len() == 0:
		return fault.Data("", "no points: want at least one")
	case x.Dim() == 0:
		return fault.Data("", "points with no features: want at least one")
	}
	if err := distinguishable(x); err != nil {
		return err
	}
	if g, is := x.(*points.Gram); is {
		if err := kernel.CheckResolved(g); err != nil {
			return err
		}
	}
	if set.N() != x.Len() {
		return fault.Shape("number of rows that the links refer to", set.N(),
			"%d, the number of points", x.Len())
	}
	return nil
}

// CheckPairs checks the memory for all pairs of the chunklets, for a method that stores them.
func CheckPairs(eng *engine.Engine, set *links.Set) error {
	if eng.Allows(set.Bytes()) {
		return nil
	}
	return eng.Check(fmt.Sprintf("all %d pairs of the chunklets", set.Len()), set.Bytes(),
		"use a smaller number of links instead of chunklets")
}

// Kernel returns the requested kernel or, for the zero Spec, the default for the kind of points:
// linear for a Gram matrix, spectrum:k=3 for sequences, fallback for vectors. It resolves bandwidth
// rules on x, and a linear kernel is one around the mean of x.
func Kernel(ctx context.Context, eng *engine.Engine, asked kernel.Spec, x points.Points,
	fallback string) (kernel.Kernel, error) {
	spec, err := specFor(asked, x, fallback)
	if err != nil {
		return kernel.Kernel{}, err
	}
	if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
		return kernel.Kernel{}, err
	}
	k, err := kernel.New(spec)
	if err != nil {
		return k, err
	}
	if err := moderate(ctx, eng, k, x); err != nil {
		return k, err
	}
	if err := definite(ctx, eng, k, x); err != nil {
		return k, err
	}
	return k.Around(ctx, eng, x)
}

func specFor(asked kernel.Spec, x points.Points, fallback string) (kernel.Spec, error) {
	if asked != (kernel.Spec{}) {
		return asked, nil
	}
	switch x.(type) {
	case *points.Gram:
		return kernel.Parse("linear")
	case *points.Sequences:
		return kernel.Parse("spectrum:k=3")
	}
	return kernel.Parse(fallback)
}

// Vectors returns x as dense vectors, or an error if it is of another kind.
func Vectors(method string, x points.Points) (*points.Dense, error) {
	dense, ok := x.(*points.Dense)
	if !ok {
		return nil, &fault.ParamError{Param: "points", Value: "not dense vectors",
			Want: "dense vectors for " + method + ", as the model was fitted on"}
	}
	return dense, nil
}

// Pairs returns a *fault.DataError for the first pair with a point that is not among the n points.
// Its Row is the number of the pair.
func Pairs(n int, pairs [][2]int) error {
	for p, pair := range pairs {
		for side, i := range pair {
			if i < 0 || i >= n {
				return fault.Cell(p, strconv.Itoa(side), "point %d does not exist: want 0 to %d", i, n-1)
			}
		}
	}
	return nil
}

// RowsOf returns the rows that occur in pairs, in the order in which they first occur, and the
// index of each among them.
func RowsOf(pairs [][2]int) (rows []int, at map[int]int) {
	at = map[int]int{}
	for _, pair := range pairs {
		for _, i := range pair {
			if _, there := at[i]; !there {
				at[i] = len(rows)
				rows = append(rows, i)
			}
		}
	}
	return rows, at
}

// Group returns the end of the longest run of pairs from lo on with at most so many distinct points
// (always at least one pair), and the index of each of those points.
func Group(pairs [][2]int, lo, most int) (hi int, rows map[int]int) {
	rows = map[int]int{}
	for hi = lo; hi < len(pairs); hi++ {
		if hi > lo && len(rows)+2 > most {
			break
		}
		for _, i := range pairs[hi] {
			if _, ok := rows[i]; !ok {
				rows[i] = len(rows)
			}
		}
	}
	return hi, rows
}

// Failed returns the error with which an activity ends: err, or if the context is done, the error
// of the context. The error of a solver, which finds that the numbers it got have no solution in
// double precision, becomes a *fault.DataError that says what to do.
func Failed(ctx context.Context, doing string, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%s canceled: %w", doing, ctx.Err())
	case err == nil || fault.IsInput(err) || !unsolved(err):
		return err
	}
	return fault.Data("",
		"%s failed, since a problem with these numbers has no solution in double precision (%w): "+
			"want points and similarities of moderate size, such as standardized ones, other parameters, or "+
			"another method",
		strings.TrimSuffix(doing, ":"), err)
}

// unsolved reports whether err is one of a decomposition or of an iteration of linear algebra.
func unsolved(err error) bool {
	for _, is := range []bool{
		isA[*blas.NotPositiveDefiniteError](err), isA[*blas.SingularError](err),
		isA[*blas.NoConvergenceError](err),
		isA[*operator.NoEigenpairsError](err), isA[*operator.NoSolutionError](err),
		isA[*operator.NotPositiveError](err),
		errors.Is(err, optimize.ErrUnbounded),
	} {
		if is {
			return true
		}
	}
	return false
}

func isA[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// NoLinks returns the error of a method that requires links and got none.
func NoLinks(method string) error {
	return fault.Data("", "%s learns from links: want at least one, got none", method)
}

// Rows checks the input of algorithms.RowsLearner.FitRows: count points, those that the fit uses,
// and a kernel, fallback for the zero Spec. The kernel must not have a bandwidth rule, which would
// use other points. Rows of a Gram matrix are refused, since its columns are all points.
func Rows(x points.Points, count int, asked kernel.Spec, fallback string) error {
	if _, ok := x.(*points.Gram); ok {
		return fault.Data("", "a part of the rows of a Gram matrix: want vectors or sequences")
	}
	if x.Len() != count {
		return fault.Shape("number of points that the fit uses", x.Len(), "%d, as many as Rows names", count)
	}
	if err := Points(x); err != nil {
		return err
	}
	spec, err := specFor(asked, x, fallback)
	if err != nil {
		return err
	}
	if spec.NeedsData() {
		return fault.Param("kernel", spec.String(),
			"a number instead of the bandwidth rule, which uses points that are not given")
	}
	return distinguishable(x)
}

// Targets validates the targets of a fit of n points: one finite number for each point, not all
// equal.
func Targets(method string, targets []float64, n int) error {
	if len(targets) == 0 {
		return fault.Data("", "%s learns from targets: want a number for each of the %d points, got none",
			method, n)
	}
	if len(targets) != n {
		return fault.Shape("number of targets", len(targets), "%d, the number of points", n)
	}
	equal := true
	for i, v := range targets {
		if v-v != 0 {
			return fault.Cell(i, "target", "%v is not finite: want a finite number", v)
		}
		equal = equal && v == targets[0]
	}
	if equal {
		return fault.Cell(-1, "target", "all targets are equal: want numbers that vary")
	}
	return nil
}

// AddedLinks returns the union of old, the links that a model of the named method was fitted on,
// and set; x are the points of that fit. For a link in both sets the old one counts. Errors, all
// *fault.DataError: no new links; another number of points; a new link that contradicts an old one;
// a model that does not store its links, for which old is nil.
func AddedLinks(eng *engine.Engine, method string, x points.Points, old, set *links.Set) (*links.Set, error) {
	if old == nil {
		return nil, fault.Data("", "the model does not store the links of its fit: want a fit with all links")
	}
	if err := FittedOn(x, old.N()); err != nil {
		return nil, err
	}
	if err := Check(x, set); err != nil {
		return nil, err
	}
	if err := CheckPairs(eng, set); err != nil {
		return nil, err
	}
	if set.Len() == 0 {
		return nil, NoLinks(method)
	}
	all, err := links.New(x.Len(), slices.Concat(old.Must(), old.Cannot(), set.Must(), set.Cannot()))
	if err != nil {
		return nil, fmt.Errorf("new links and those of the model: %w", err)
	}
	return all, nil
}

// FittedOn returns an error if the number of points is not n, that of the model's fit.
func FittedOn(x points.Points, n int) error {
	if x.Len() != n {
		return fault.Data("", "%d points: want the %d that the model was fitted on", x.Len(), n)
	}
	return nil
}

// Descending calls use for each distinct value, the largest first, with its positions in values.
// The first error ends it.
func Descending(values []float64, use func(v float64, positions []int) error) error {
	order := points.UpTo(len(values))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	for len(order) > 0 {
		v, count := values[order[0]], 1
		for count < len(order) && values[order[count]] == v {
			count++
		}
		if err := use(v, order[:count]); err != nil {
			return err
		}
		order = order[count:]
	}
	return nil
}

// Similarities returns the similarities of the given rows to each other. No similarities have none.
func Similarities(s blas.Matrix, rows []int) (blas.Matrix, error) {
	if s.Rows == 0 {
		return s, nil
	}
	out := blas.NewMatrix(len(rows), len(rows))
	for k, i := range rows {
		if i >= s.Rows || i >= s.Cols {
			return blas.Matrix{}, fault.Row(k,
				"row %d is not in the %d x %d similarities: want one for each point", i, s.Rows, s.Cols)
		}
		from, to := s.Row(i), out.Row(k)
		for c, j := range rows {
			if j >= s.Cols {
				break // the error comes with row j
			}
			to[c] = from[j]
		}
	}
	return out, nil
}

// Whole returns the error of a learner with a state of all points that parts of them cannot use.
func Whole(method, state string) error {
	return fault.Data("", "%s: %s belongs to all points: want a learner without it for a part of them",
		method,
		state)
}
