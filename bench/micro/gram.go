package micro

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// memory is one large piece of memory that works share, since they run one after the other. The
// first call of take allocates it.
type memory struct{ data blas.Matrix }

func (m *memory) take(eng *engine.Engine, rows, cols int) blas.Matrix {
	if len(m.data.Data) < rows*cols {
		m.data = eng.NewMatrix(1, rows*cols)
	}
	return blas.MatrixOf(rows, cols, m.data.Data[:rows*cols])
}

// writeWork fills 512 MiB, with one part for each thread.
func writeWork(t *asm.Table, threads int, large *memory) measure.Work {
	const (
		row  = 4096
		rows = 16384
	)
	from := make([]float64, row)
	return measure.Work{
		Name: Write, Size: "512 MiB", Threads: threads, Bytes: 8 * row * rows,
		Contenders: []measure.Contender{measure.Func(t.Level.String(), nil, func() {
			to := large.take(new(engine.Engine), rows, row).Data
			var wg sync.WaitGroup
			for i := range threads {
				wg.Go(func() {
					lo, hi := rows*i/threads, rows*(i+1)/threads
					t.Stream(hi-lo, row, to[lo*row:], row, from, 0)
					t.Fence()
				})
			}
			wg.Wait()
		})},
	}
}

// gramWorks are Gaussian kernel matrices in memory that is already allocated: n^2 d flops, since
// only half of the matrix is computed, and 8 n^2 bytes. With several threads, one thread is the
// other contender.
func gramWorks(o Options, threads int, large *memory) ([]measure.Work, error) {
	var works []measure.Work
	for _, s := range gramSizes(o.Sizes) {
		w := measure.Work{
			Name: gramCase, Size: fmt.Sprintf("n=%d d=%d", s.n, s.d), Threads: threads,
			Flops: float64(s.n) * float64(s.n) * float64(s.d), Bytes: 8 * float64(s.n) * float64(s.n),
		}
		contend := func(name string, workers int) error {
			run, err := gram(o.SIMD, workers, s.n, s.d, large)
			w.Contenders = append(w.Contenders, measure.Func(name, nil, run))
			return err
		}
		err := contend("native", threads)
		if err == nil && threads > 1 {
			err = contend("1 worker", 1)
		}
		if err != nil {
			return nil, err
		}
		works = append(works, w)
	}
	return works, nil
}

type gramSize struct{ n, d int }

func gramSizes(sizes []int) []gramSize {
	if sizes == nil {
		return []gramSize{{2000, 16}, {4000, 64}, {4000, 784}, {8000, 100}}
	}
	var out []gramSize
	for _, n := range sizes {
		out = append(out, gramSize{n, 64})
	}
	return out
}

func gram(simd string, workers, n, d int, large *memory) (func(), error) {
	b, err := backends.Open(backends.Options{Name: "native", SIMD: simd, Threads: workers})
	if err != nil {
		return nil, err
	}
	eng, err := engine.New(engine.Options{Backend: b, Workers: workers})
	if err != nil {
		return nil, err
	}
	spec, err := kernel.Parse(fmt.Sprintf("rbf:gamma=%.17g", 1/float64(d)))
	if err != nil {
		return nil, err
	}
	k, err := kernel.New(spec)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(3, uint64(n)))
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for i := range x.Data {
		x.Data[i] = r.Float64() - 0.5
	}
	return func() {
		if err := k.GramTo(context.Background(), eng, large.take(eng, n, n), x); err != nil {
			panic(err) // the points above are finite
		}
	}, nil
}
