package nearest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
)

func init() {
	register.DoFn5x1[context.Context, shard.Element, func(int64, Piece), func(rowrandom.Rows),
		func(job.Tally), error](&routeFn{})
	register.Emitter2[int64, Piece]()
}

// Piece is a run of rows that an element has put into one bucket: rows of its file of pieces, the
// primary rows of the bucket first.
type Piece struct {
	Element, Count int64 // they name the file
	First          int64 // first row in the file
	Primary, Rows  int64
}

// Routing describes how rows are put into buckets. Each landmark has one.
type Routing struct {
	Landmarks string // path of the landmarks' coordinates
	Nearest   int    // number of nearest landmarks into whose buckets a row is put
	Pieces    string // path that names the files of pieces
	Sampling  Sampling
}

func (g Routing) file(p Piece) string { return shard.Output{Path: g.Pieces}.Name(p.Element, p.Count) }

// routeFn puts the rows of an element into buckets, and draws those of the sample.
type routeFn struct {
	Config  job.Config
	Routing Routing
}

func (f *routeFn) ProcessElement(ctx context.Context, e shard.Element, put func(int64, Piece),
	sample func(rowrandom.Rows), emitTally func(job.Tally)) error {
	tally, err := f.Config.Each(ctx, e,
		func(ctx context.Context, w *job.Worker, r *shard.Reader) (int64, error) {
			rows, err := whole(ctx, w, r)
			if err != nil || len(rows.Numbers) == 0 {
				return 0, err
			}
			x := rows.Matrix()
			landmarks, err := coordinates.Read(f.Routing.Landmarks)
			if err != nil {
				return 0, err
			}
			if landmarks.Cols != x.Cols {
				return 0, &fault.ShapeError{What: "number of columns of the landmarks", Got: landmarks.Cols,
					Want: fmt.Sprintf("%d, as the rows have", x.Cols)}
			}
			near, err := graph.NearestBetween(ctx, w.Engine, kernel.Linear(), coordinates.Vectors(x),
				coordinates.Vectors(landmarks), f.Routing.Nearest)
			if err != nil {
				return 0, err
			}
			memberships := order(near)
			piece := Piece{Element: e.Index, Count: e.Count}
			if err := writePieces(f.Routing.file(piece), rows, memberships); err != nil {
				return 0, err
			}
			for _, s := range piece.split(memberships) {
				put(s.bucket, s.piece)
			}
			var drawn rowrandom.Rows
			for i, number := range rows.Numbers {
				if f.Routing.Sampling.draws(number) {
					drawn.Take(number, x.Row(i))
				}
			}
			sample(drawn)
			return 0, nil
		})
	if err != nil {
		return err
	}
	emitTally(tally)
	return nil
}

// membership is a row in a bucket.
type membership struct {
	bucket    int32
	secondary bool // another landmark is nearer to the row
	row       int
}

// order returns the memberships sorted by bucket, in each bucket the primary rows first, then by
// row.
func order(near *graph.Neighbors) []membership {
	memberships := make([]membership, 0, near.N*near.K)
	for i := range near.N {
		index, _ := near.Of(i)
		for a, bucket := range index {
			memberships = append(memberships, membership{bucket, a > 0, i})
		}
	}
	rank := map[bool]int{true: 1}
	slices.SortFunc(memberships, func(a, b membership) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(rank[a.secondary], rank[b.secondary]),
			cmp.Compare(a.row, b.row))
	})
	return memberships
}

// bucketed is a piece with the number of its bucket.
type bucketed struct {
	bucket int64
	piece  Piece
}

// split returns the pieces of an element.
func (p Piece) split(memberships []membership) []bucketed {
	var out []bucketed
	for at, s := range memberships {
		if at == 0 || s.bucket != memberships[at-1].bucket {
			out = append(out, bucketed{int64(s.bucket),
				Piece{Element: p.Element, Count: p.Count, First: int64(at)}})
		}
		last := &out[len(out)-1].piece
		last.Rows++
		if !s.secondary {
			last.Primary++
		}
	}
	return out
}

// writePieces writes the rows in the order of the memberships, each after its number.
func writePieces(path string, rows rowrandom.Rows, memberships []membership) error {
	x := rows.Matrix()
	const maxRows = 4096
	var block []float64
	next := func() (dataset.Rows, error) {
		if len(memberships) == 0 {
			return dataset.Rows{}, io.EOF
		}
		block = block[:0]
		count := min(maxRows, len(memberships))
		for _, s := range memberships[:count] {
			block = append(append(block, float64(rows.Numbers[s.row])), x.Row(s.row)...)
		}
		memberships = memberships[count:]
		return dataset.Rows{Data: block}, nil
	}
	return dataset.WriteRows(path, len(memberships), x.Cols+1, next, dataset.WriteOptions{})
}
