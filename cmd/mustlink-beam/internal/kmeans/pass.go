package kmeans

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/engine"
)

// The kinds of passes.
const (
	first   = "first"   // draw one row
	round   = "round"   // draw rows far from those drawn so far
	weigh   = "weigh"   // count the rows nearest to each row drawn
	move    = "move"    // sum the rows of each center
	measure = "measure" // the same, without moving the centers
)

// pass describes the task of a pass.
type pass struct {
	Kind  string
	Seed  uint64
	Round uint64
	Limit float64 // expected number of rows to draw; 0 for one row
	// Chance is the chance of every row to be in the sample, which is drawn while the drawn rows
	// are weighted. Limit is all then.
	Chance float64
	Tol    float64 // Options.Tol, for a move

	assesses bool // it is the first to read the rows, and checks the limit on bad rows
}

// drawing is the stream of random numbers of the start.
const drawing = 0x6b6d7c7c00000000 // "km||"

// all is the limit that keeps all drawn rows.
const all = math.MaxFloat64

// sampled is the stream of random numbers of the sample.
const sampled = drawing + 1<<31

// part summarizes rows with the given numbers in the set.
func (p pass) part(ctx context.Context, eng *engine.Engine, x blas.Matrix, numbers []int64,
	s State) (Part, error) {
	out := Part{Rows: int64(x.Rows)}
	if p.Kind == first {
		out.drawFirst(x, numbers, p.Seed)
		return out, nil
	}
	assigner, err := cluster.NewAssigner(s.Matrix())
	if err != nil {
		return out, err
	}
	labels, squared := make([]int, x.Rows), make([]float64, x.Rows)
	if err := assigner.Assign(ctx, eng, x, labels, squared); err != nil {
		return out, err
	}
	for _, v := range squared {
		out.Cost += v
	}
	switch p.Kind {
	case round:
		for i, number := range numbers {
			if key := rowrandom.Uniform(p.Seed, drawing+p.Round, number) /
				squared[i]; key*out.Cost <= p.Limit {
				out.Drawn.Offer(key, number, x.Row(i))
			}
		}
		out.prune(p.Limit)
	case weigh:
		out.Sums = make([]float64, s.Matrix().Rows)
		for i, c := range labels {
			out.Sums[c]++
			if u := rowrandom.Uniform(p.Seed, sampled, numbers[i]); u < p.Chance {
				out.Drawn.Offer(u, numbers[i], x.Row(i))
			}
		}
	default:
		out.sum(x, labels, s)
		out.farthest(x, numbers, squared)
	}
	return out, nil
}

// drawFirst draws one row.
func (p *Part) drawFirst(x blas.Matrix, numbers []int64, seed uint64) {
	at, least := -1, 1.0
	for i, number := range numbers {
		if u := rowrandom.Uniform(seed, drawing, number); u < least {
			at, least = i, u
		}
	}
	if at >= 0 {
		p.Drawn.Offer(least, numbers[at], x.Row(at))
	}
}

// sum adds the rows of each center to its sum.
func (p *Part) sum(x blas.Matrix, labels []int, s State) {
	shift, width := s.shift(), x.Cols
	p.Sums = make([]float64, s.Matrix().Rows*(width+1))
	for i, c := range labels {
		sum := p.Sums[c*(width+1) : (c+1)*(width+1)]
		for j, v := range x.Row(i) {
			sum[j] += v - shift[j]
		}
		sum[width]++
	}
}

// farthest records the row farthest from its center, the first of several at the same distance.
func (p *Part) farthest(x blas.Matrix, numbers []int64, squared []float64) {
	at := -1
	for i, v := range squared {
		if v > p.FarSquared {
			at, p.FarSquared = i, v
		}
	}
	if at >= 0 {
		p.Far, p.FarRow = append([]float64(nil), x.Row(at)...), numbers[at]
	}
}

// step computes the next state from the merged part of a pass.
func (p pass) step(s State, found Part) State {
	switch p.Kind {
	case first, round:
		return s.draw(found)
	case weigh:
		return s.weigh(found)
	case measure:
		return s.measure(found)
	}
	return s.move(found, p.Tol)
}
