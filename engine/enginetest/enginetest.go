// Package enginetest (internal: may change) provides engines, kernels, points, links and
// reference implementations for tests.
package enginetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// Fataler is a test of package testing, or a property test with random inputs.
type Fataler interface {
	Helper()
	Fatal(...any)
}

// New returns an engine with the given number of workers, 0 for all processors.
func New(t Fataler, workers int) *engine.Engine {
	t.Helper()
	return With(t, engine.Options{Workers: workers})
}

// With returns an engine with these options; the default backend is that of MUSTLINK_BACKEND, or
// else that of the build.
func With(t Fataler, o engine.Options) *engine.Engine {
	t.Helper()
	if o.Backend == nil {
		o.Backend = Backend(t, os.Getenv("MUSTLINK_BACKEND"), o.Workers)
	}
	eng, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// Backend returns the named backend, "" for that of the build, with the vector kernels of
// MUSTLINK_SIMD. OpenBLAS always has two threads, as its rounding depends on their number.
func Backend(t Fataler, name string, workers int) blas.Backend {
	t.Helper()
	name, threads := cmp.Or(name, backends.Default()), workers
	if name == "netlib" {
		threads = 2
	}
	b, err := backends.Open(backends.Options{Name: name, SIMD: os.Getenv("MUSTLINK_SIMD"), Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Links returns the set of links between n points.
func Links(t Fataler, n int, list []links.Link) *links.Set {
	t.Helper()
	set, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Bands returns n points of d features with the given number of links of each kind. The first
// feature separates three classes; the others are noise of larger variance.
func Bands(t Fataler, n, d, pairs int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 3)
		for j := range d {
			x.Data[i*d+j] = 3 * rng.NormFloat64()
		}
		x.Data[i*d] = float64(i%3) + 0.1*rng.NormFloat64()
	}
	return x, labels, Drawn(t, labels, pairs, pairs, seed)
}

// Rings returns n points on two concentric circles with the given number of links of each kind.
func Rings(t Fataler, n, pairs int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}, make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 2)
		a, r := 2*math.Pi*rng.Float64(), float64(1+2*(i%2))+0.1*rng.NormFloat64()
		copy(x.Row(i), []float64{r * math.Cos(a), r * math.Sin(a)})
	}
	return x, labels, Drawn(t, labels, pairs, pairs, seed)
}

// Blobs returns n points of three overlapping classes with the given number of links of each kind.
// The mean of a class has one feature of 3.
func Blobs(t Fataler, n, d, pairs int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	x, labels := Normal(rand.New(rand.NewPCG(seed, 8)), n, d, 0), make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 3)
		x.Row(i)[i%3%d] += 3
	}
	return x, labels, Drawn(t, labels, pairs, pairs, seed)
}

// Drawn returns must must-links and cannot cannot-links between points with the given labels.
func Drawn(t Fataler, labels []string, must, cannot int, seed uint64) *links.Set {
	t.Helper()
	set, err := links.SampleByCount(labels, must, cannot, seed)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Mixed returns count links of distinct pairs (or of all pairs, when there are fewer) of n points
// whose class is the row modulo classes; a fifth of the links are mislabeled.
func Mixed(n, classes, count int, seed uint64) []links.Link {
	rng := rand.New(rand.NewPCG(seed, 4))
	var out []links.Link
	seen := map[[2]int]bool{}
	for len(out) < min(count, n*(n-1)/2) {
		i, j := rng.IntN(n), rng.IntN(n)
		if i == j || seen[[2]int{min(i, j), max(i, j)}] {
			continue
		}
		seen[[2]int{min(i, j), max(i, j)}] = true
		sign := links.Must
		if wrong := rng.IntN(5) == 0; (i%classes == j%classes) == wrong {
			sign = links.Cannot
		}
		out = append(out, links.NewLink(i, j, sign))
	}
	return out
}

// Spec returns the parsed text of a kernel.
func Spec(t Fataler, text string) kernel.Spec {
	t.Helper()
	s, err := kernel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Kernel returns the kernel of a text.
func Kernel(t Fataler, text string) kernel.Kernel {
	t.Helper()
	k, err := kernel.New(Spec(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Normal returns n points of d standard normal features, plus shift.
func Normal(rng *rand.Rand, n, d int, shift float64) *points.Dense {
	p := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range p.Data {
		p.Data[i] = rng.NormFloat64() + shift
	}
	return p
}

// Matrix returns a matrix of standard normal numbers, plus shift.
func Matrix(rng *rand.Rand, rows, cols int, shift float64) blas.Matrix {
	return blas.MatrixOf(rows, cols, Normal(rng, rows, cols, shift).Data)
}

// Lattice returns n points, as rows, whose d coordinates are whole numbers below values: many ties
// and duplicates.
func Lattice(rng *rand.Rand, n, d, values int) blas.Matrix {
	x := blas.NewMatrix(n, d)
	for i := range x.Data {
		x.Data[i] = float64(rng.IntN(values))
	}
	return x
}

// Sparse returns the points without their zeros.
func Sparse(p *points.Dense) *points.CSR {
	s := &points.CSR{N: p.N, D: p.D, Start: []int{0}}
	for i := range p.N {
		for c, v := range p.Row(i) {
			if v != 0 {
				s.Col, s.Val = append(s.Col, int32(c)), append(s.Val, v)
			}
		}
		s.Start = append(s.Start, len(s.Col))
	}
	return s
}

// SquaredDistance is the textbook loop, with another order of sums than the code under test.
func SquaredDistance(x, y []float64) float64 {
	s := 0.0
	for j := range x {
		s += (x[j] - y[j]) * (x[j] - y[j])
	}
	return s
}

// Inverse returns the inverse of a positive definite matrix, both triangles, by Gauss-Jordan
// elimination: a reference that shares no code with the backends.
func Inverse(t Fataler, a blas.Matrix) blas.Matrix {
	t.Helper()
	n := a.Rows
	a, out := a.Clone(), blas.NewMatrix(n, n)
	for i := range n {
		out.Set(i, i, 1)
	}
	for p := range n {
		if a.At(p, p) == 0 {
			t.Fatal("a pivot of a definite matrix is 0")
		}
		f := 1 / a.At(p, p)
		for j := range n {
			a.Set(p, j, a.At(p, j)*f)
			out.Set(p, j, out.At(p, j)*f)
		}
		for i := range n {
			if g := a.At(i, p); i != p && g != 0 {
				for j := range n {
					a.Set(i, j, a.At(i, j)-g*a.At(p, j))
					out.Set(i, j, out.At(i, j)-g*out.At(p, j))
				}
			}
		}
	}
	return out
}

// Ratio reports, as a metric, the time of the first function divided by that of the second one; the
// two are called in turn.
func Ratio(b *testing.B, metric string, first, second func() error) {
	b.Helper()
	var spent [2]time.Duration
	for b.Loop() {
		for k, f := range []func() error{first, second} {
			begin := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			spent[k] += time.Since(begin)
		}
	}
	b.ReportMetric(spent[0].Seconds()/spent[1].Seconds(), metric)
}

// Allocations returns the number of allocations per step after a warm-up: the allocations of 3
// count steps minus those of count steps, divided by the difference. Work that reuses its memory
// makes none. It skips the test under the race detector.
func Allocations(t *testing.T, count int, work func(steps int)) float64 {
	t.Helper()
	racetest.Skip(t, "pools are emptied at random")
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	some := testing.AllocsPerRun(10, func() { work(count) })
	more := testing.AllocsPerRun(10, func() { work(3 * count) })
	return (more - some) / float64(2*count)
}

// Stopping is a context that ends at the n-th call of Err, so that a test can cancel work at every
// place that checks the context, at any speed of the machine.
type Stopping struct {
	context.Context
	cancel context.CancelFunc
	last   int64
	looks  atomic.Int64
	late   atomic.Int64 // looks that found it ended
	cause  error        // of a single failure
	place  string       // where it was
	mu     sync.Mutex
	first  map[[24]uintptr]int // the first look from every place, if wanted
}

// StopAt returns a context that ends at the n-th call of Err; with n = 0 it only counts.
func StopAt(n int) *Stopping {
	s := &Stopping{last: int64(n)}
	s.Context, s.cancel = context.WithCancel(context.Background())
	return s
}

// FailAt returns a context whose n-th call of Err returns cause, and that says nothing before and
// afterwards. What looks at the context then fails as if for a reason of its own: no later look
// hides that somebody has dropped its error.
func FailAt(n int, cause error) *Stopping {
	s := StopAt(n)
	s.cause = cause
	return s
}

// Err counts the call.
func (s *Stopping) Err() error {
	look := s.looks.Add(1)
	if s.first != nil {
		var at [24]uintptr
		runtime.Callers(2, at[:])
		s.mu.Lock()
		if s.first[at] == 0 {
			s.first[at] = int(look)
		}
		s.mu.Unlock()
	}
	if look == s.last {
		if s.cause != nil {
			s.place = callers()
			return s.cause
		}
		s.cancel()
	}
	err := s.Context.Err()
	if err != nil {
		s.late.Add(1)
	}
	return err
}

// Stopped reports whether the context has ended, or failed.
func (s *Stopping) Stopped() bool {
	return s.Context.Err() != nil || s.cause != nil && s.looks.Load() >= s.last
}

// Place names the functions that led to the failure of FailAt, the innermost first.
func (s *Stopping) Place() string { return s.place }

// callers names the functions above the one that calls the caller.
func callers() string {
	at := make([]uintptr, 24)
	var names []string
	for frames := runtime.CallersFrames(at[:runtime.Callers(3, at)]); ; {
		f, more := frames.Next()
		names = append(names, f.Function[strings.LastIndex(f.Function, "/")+1:])
		if !more {
			return strings.Join(names, " < ")
		}
	}
}

// Looks returns the number of calls of Err.
func (s *Stopping) Looks() int { return int(s.looks.Load()) }

// Late returns the number of calls of Err that returned an error, the first one included. More
// calls may come between the count of the n-th one and the end of the context, since workers run
// side by side.
func (s *Stopping) Late() int { return int(s.late.Load()) }

// ErrBroken is the error of [FailEverywhere].
var ErrBroken = errors.New("this part is broken")

// FailEverywhere lets f fail at looks at its context, once at every place that looks and for the
// rest evenly among all, at most so often, and returns how often it did: f must return the very
// error. Functions named in later leave it to a later look to see that a context has ended.
func FailEverywhere(t *testing.T, what string, most int, f func(context.Context) error,
	later ...string) (failed int) {
	t.Helper()
	whole := StopAt(0)
	whole.first = map[[24]uintptr]int{}
	if err := f(whole); err != nil || whole.Looks() == 0 {
		t.Fatalf("%s: %d looks at its context, error %v", what, whole.Looks(), err)
	}
	list := slices.Sorted(maps.Values(whole.first))
	for k, rest := 0, most-len(list); k < rest; k++ {
		list = append(list, 1+k*whole.Looks()/rest)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	lost, n := map[string]bool{}, min(most, len(list))
	for i := range n {
		k := list[i*len(list)/n]
		failed++
		ctx := FailAt(k, ErrBroken)
		err := f(ctx)
		known := slices.ContainsFunc(later, func(f string) bool { return strings.Contains(ctx.Place(), f) })
		if ctx.Stopped() && !errors.Is(err, ErrBroken) && !known && !lost[ctx.Place()] {
			lost[ctx.Place()] = true
			t.Errorf("%s, failing at look %d of %d: error %v, at %s", what, k, whole.Looks(), err, ctx.Place())
		}
	}
	return failed
}

// Reread returns a model after writing and reading it.
func Reread[M any](t Fataler, m interface{ Encode(*model.File) error },
	decode func(*model.File) (M, error)) M {
	t.Helper()
	file := &model.File{}
	if err := m.Encode(file); err != nil {
		t.Fatal(err)
	}
	back, err := decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// elapsed is the only part of a model file that differs from fit to fit.
var elapsed = regexp.MustCompile(`"Elapsed":[0-9]+`)

// Timeless returns the bytes of a model file without the duration of the fit: equal fits have equal
// bytes.
func Timeless(file *model.File) ([]byte, error) {
	without := *file
	without.Header.Status = elapsed.ReplaceAll(file.Header.Status, []byte(`"Elapsed":0`))
	var buffer bytes.Buffer
	_, err := without.WriteTo(&buffer)
	return buffer.Bytes(), err
}

// TimelessModel returns the result of [Timeless] for the file of a model.
func TimelessModel(t Fataler, m interface{ Encode(*model.File) error }) []byte {
	t.Helper()
	file := &model.File{}
	if err := m.Encode(file); err != nil {
		t.Fatal(err)
	}
	out, err := Timeless(file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
