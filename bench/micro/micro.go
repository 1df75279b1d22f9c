// Package micro lists the single operations that decide the speed of mustlink, as work to measure:
// ours first, then the contenders.
package micro

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine/fault"
)

// Options choose the work. The zero value is all operations at their default sizes with one and two
// threads, comparing the native backend with the default of the build or, if that is native, with
// gonum.
type Options struct {
	Cases   []string // of [Cases]; nil: all
	Sizes   []int    // orders of the matrices; nil: the default sizes of each operation
	Threads []int    // nil: 1 and 2
	SIMD    string   // level of the native backend, "" for the best
	Against []string // backends to compare with
}

// operation is one row of the table of operations.
type operation struct {
	name  string
	sizes []int
	flops func(n float64) float64
	// work builds one contender on a backend; prepare runs before each call and is not timed.
	work func(b blas.Backend, n int, r *rand.Rand) (prepare, run func())
}

func operations() []operation {
	return []operation{
		{"gemm", []int{64, 512, 1024, 2048}, func(n float64) float64 { return 2 * n * n * n }, gemm},
		{"syrk", []int{2000}, func(n float64) float64 { return n * n * n }, syrk},
		{"trsm", []int{2000}, func(n float64) float64 { return n * n * n }, trsm},
		{"cholesky", []int{2000}, func(n float64) float64 { return n * n * n / 3 }, cholesky},
		{"gemv", []int{2000}, func(n float64) float64 { return 2 * n * n }, gemv},
		{"eig", []int{200, 500, 1000, 2000}, unknown, eig(true)},
		{"eigvals", []int{2000}, unknown, eig(false)},
	}
}

// Peak is the case that measures multiply-adds on registers, with which the others are compared.
const Peak = "peak"

// The other cases that are not operations of a backend.
const (
	tileCase = "tile"
	expCase  = "exp"
	gramCase = "gram"

	laplacianCase = "laplacian"
)

// Write is the case that measures how fast memory beyond the caches is written.
const Write = "write"

// Cases returns the names of all cases, in the order in which they are measured.
func Cases() []string {
	names := []string{Peak, tileCase, Write}
	for _, op := range operations() {
		names = append(names, op.name)
	}
	return append(names, expCase, gramCase, laplacianCase)
}

// Works returns the work that o describes. Unknown names and sizes that are not positive are
// input errors. All inputs are drawn from a fixed seed.
func Works(o Options) ([]measure.Work, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	var works []measure.Work
	large := new(memory)
	for _, threads := range o.Threads {
		subjects, err := o.open(threads)
		if err != nil {
			return nil, err
		}
		if slices.Contains(o.Cases, Write) {
			works = append(works, writeWork(subjects[0].backend.Kernels(), threads, large))
		}
		if slices.Contains(o.Cases, gramCase) {
			grams, err := gramWorks(o, threads, large)
			if err != nil {
				return nil, err
			}
			works = append(works, grams...)
		}
		if slices.Contains(o.Cases, laplacianCase) {
			some, err := laplacianWorks(o, threads)
			if err != nil {
				return nil, err
			}
			works = append(works, some...)
		}
		for _, op := range operations() {
			if !slices.Contains(o.Cases, op.name) {
				continue
			}
			sizes := op.sizes
			if o.Sizes != nil {
				sizes = o.Sizes
			}
			for _, n := range sizes {
				works = append(works, op.build(subjects, n, threads))
			}
		}
	}
	table, err := o.table()
	if err != nil {
		return nil, err
	}
	if slices.Contains(o.Cases, tileCase) {
		works = append([]measure.Work{tileWork(table)}, works...)
	}
	if slices.Contains(o.Cases, Peak) {
		works = append([]measure.Work{peakWork(table)}, works...)
	}
	if slices.Contains(o.Cases, expCase) {
		works = append(works, expWork(table, 4096), expWork(table, 1_000_000))
	}
	return works, nil
}

func (o *Options) fill() error {
	if o.Cases == nil {
		o.Cases = Cases()
	}
	for _, c := range o.Cases {
		if !slices.Contains(Cases(), c) {
			return fault.Unknown("case", c, Cases())
		}
	}
	for _, n := range o.Sizes {
		if n < 1 {
			return &fault.ParamError{Param: "size", Value: n, Want: "a number >= 1"}
		}
	}
	if o.Threads == nil {
		o.Threads = []int{1, 2}
	}
	for _, n := range o.Threads {
		if n < 1 {
			return &fault.ParamError{Param: "threads", Value: n, Want: "a number >= 1"}
		}
	}
	return nil
}

// Rivals returns the backends that native is compared with.
func (o Options) Rivals() []string {
	if o.Against != nil {
		return o.Against
	}
	if name := backends.Default(); name != "native" {
		return []string{name}
	}
	return []string{"gonum"}
}

// subject is a backend with its name in the report.
type subject struct {
	name    string
	backend blas.Backend
}

// open opens the native backend and the ones to compare it with.
func (o *Options) open(threads int) ([]subject, error) {
	var subjects []subject
	for _, name := range append([]string{"native"}, o.Rivals()...) {
		b, err := backends.Open(backends.Options{Name: name, SIMD: o.SIMD, Threads: threads})
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, subject{name, b})
	}
	return subjects, nil
}

func (o *Options) table() (*asm.Table, error) {
	level := asm.Best()
	if o.SIMD != "" {
		var err error
		if level, err = asm.ParseLevel(o.SIMD); err != nil {
			return nil, err
		}
	}
	return asm.Select(level)
}

// build gives every subject the same input.
func (op operation) build(subjects []subject, n, threads int) measure.Work {
	w := measure.Work{Name: op.name, Size: fmt.Sprintf("n=%d", n), Threads: threads,
		Flops: op.flops(float64(n))}
	for _, s := range subjects {
		prepare, run := op.work(s.backend, n, rand.New(rand.NewPCG(1, uint64(n))))
		w.Contenders = append(w.Contenders, measure.Func(s.name, prepare, run))
	}
	return w
}

func gemm(b blas.Backend, n int, r *rand.Rand) (prepare, run func()) {
	x, y, c := random(r, n), random(r, n), blas.NewMatrix(n, n)
	return nil, func() { b.Gemm(false, false, 1, x, y, 0, c) }
}

func syrk(b blas.Backend, n int, r *rand.Rand) (prepare, run func()) {
	x, c := random(r, n), blas.NewMatrix(n, n)
	return nil, func() { b.Syrk(false, 1, x, 0, c) }
}

func trsm(b blas.Backend, n int, r *rand.Rand) (prepare, run func()) {
	l, from, x := random(r, n), random(r, n), blas.NewMatrix(n, n)
	for i := range n {
		l.Set(i, i, float64(n)) // far from singular: the solution does not overflow
	}
	return func() { x.CopyFrom(from) }, func() { b.Trsm(true, false, l, x) }
}

func cholesky(b blas.Backend, n int, r *rand.Rand) (prepare, run func()) {
	from, a := random(r, n), blas.NewMatrix(n, n)
	for i := range n {
		from.Set(i, i, float64(n)) // dominant diagonal: positive definite
	}
	return func() { a.CopyFrom(from) }, func() {
		if err := b.Cholesky(a); err != nil {
			panic(err) // the matrix above is positive definite
		}
	}
}

// unknown is the number of flops of work whose flops depend on its data.
func unknown(float64) float64 { return 0 }

// eig decomposes a symmetric matrix of random numbers.
func eig(vectors bool) func(b blas.Backend, n int, r *rand.Rand) (prepare, run func()) {
	return func(b blas.Backend, n int, r *rand.Rand) (prepare, run func()) {
		from, a, w := random(r, n), blas.NewMatrix(n, n), make([]float64, n)
		return func() { a.CopyFrom(from) }, func() {
			if err := b.SymEig(a, w, vectors); err != nil {
				panic(err) // the numbers are finite
			}
		}
	}
}

func gemv(b blas.Backend, n int, r *rand.Rand) (prepare, run func()) {
	a, x, y := random(r, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = r.Float64()
	}
	return nil, func() { b.Gemv(false, 1, a, x, 0, y) }
}

// random returns an n x n matrix of numbers from -0.5 to 0.5.
func random(r *rand.Rand, n int) blas.Matrix {
	m := blas.NewMatrix(n, n)
	for i := range m.Data {
		m.Data[i] = r.Float64() - 0.5
	}
	return m
}

// expWork compares the exponential of n numbers with a loop over math.Exp.
func expWork(t *asm.Table, n int) measure.Work {
	r := rand.New(rand.NewPCG(2, uint64(n)))
	x, dst := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = -20 * r.Float64() // the range of a Gaussian kernel
	}
	return measure.Work{Name: expCase, Size: fmt.Sprintf("n=%d", n), Threads: 1,
		Contenders: []measure.Contender{
			measure.Func(t.Level.String(), nil, func() { t.Exp(dst, x) }),
			measure.Func("math.Exp", nil, func() {
				for i, v := range x {
					dst[i] = math.Exp(v)
				}
			}),
		}}
}

// peakWork runs multiply-adds on registers alone.
func peakWork(t *asm.Table) measure.Work {
	const rounds = 10000
	return measure.Work{
		Name: Peak, Size: "registers", Threads: 1, Flops: t.Peak(rounds),
		Contenders: []measure.Contender{measure.Func(t.Level.String(), nil, func() { t.Peak(rounds) })},
	}
}

// tileWork multiplies packed panels that stay in the cache: the rate of the register tile alone.
func tileWork(t *asm.Table) measure.Work {
	const tiles = 64
	a, b, c := make([]float64, t.KC*t.MR), make([]float64, t.KC*t.NR), make([]float64, t.MR*t.NR)
	return measure.Work{
		Name: tileCase, Size: fmt.Sprintf("%dx%dx%d", t.MR, t.NR, t.KC), Threads: 1,
		Flops: tiles * 2 * float64(t.MR*t.NR*t.KC),
		Contenders: []measure.Contender{measure.Func(t.Level.String(), nil, func() {
			for range tiles {
				t.Tile(t.KC, a, b, c)
			}
		})},
	}
}
