package krca

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// retrieved is how many points a query gets.
const retrieved = 10

// BenchmarkLocal asks for the points nearest to queries that no link knows, among those that links
// were drawn from, by the metric of all chunklets and by metrics of the nearest 1 to 30, and in the
// feature space as it is: precision@10, the mean of five draws of 1.2 links a point, half of them
// must-links.
func BenchmarkLocal(b *testing.B) {
	folder := os.Getenv("MUSTLINK_DATA")
	if folder == "" {
		b.Skip("MUSTLINK_DATA is not set")
	}
	for _, set := range []string{"wine.csv", "iris.csv", "ionosphere.csv", "glass.csv", "sonar.csv", "vehicle.csv", "image.csv", "usps.csv.gz"} {
		b.Run(set, func(b *testing.B) {
			d, err := dataset.Read(filepath.Join(folder, set), dataset.ReadOptions{})
			if err != nil {
				b.Skip(err)
			}
			scaling, _, err := prepare.Standardize(d.Points)
			must(b, err)
			x, err := scaling.Apply(d.Points)
			must(b, err)
			for b.Loop() {
				sums := map[string]float64{}
				const draws = 5
				for draw := range draws {
					for name, p := range precisions(b, x, d.Labels, uint64(draw)) {
						sums[name] += p / draws
					}
				}
				for name, p := range sums {
					b.ReportMetric(p, name)
				}
			}
		})
	}
}

// precisions returns those of the metrics, on at most 1000 points and 100 queries.
func precisions(b *testing.B, x points.Points, labels []string, seed uint64) map[string]float64 {
	ctx, eng := context.Background(), enginetest.New(b, 0)
	order := rand.New(rand.NewPCG(seed, 7)).Perm(x.Len())
	seen := min(x.Len()/2, 1000)
	known, asked := order[:seen], order[seen:min(len(order), seen+100)]
	chosen := slices.Concat(known, asked)
	x = x.Select(chosen)
	of := make([]string, len(chosen))
	for at, i := range chosen {
		of[at] = labels[i]
	}
	count := seen * 6 / 10
	set, err := links.SampleByCount(of[:seen], count, 0, seed)
	must(b, err)
	l := Learner{Params: DefaultParams()}
	train := x.Select(span(0, seen))
	metric, err := FitMetric(ctx, eng, l, train, set)
	must(b, err)
	queries := span(seen, len(chosen))
	out := map[string]float64{"global": precision(of, queries, seen, func(q int) []float64 {
		pairs := make([][2]int, seen)
		for j := range pairs {
			pairs[j] = [2]int{q, j}
		}
		d, err := metric.Distances(ctx, eng, x, pairs)
		must(b, err)
		return d
	})}
	out["unlearned"] = precision(of, queries, seen, func(q int) []float64 {
		d, positions := make([]float64, seen), x.(*points.Dense)
		for j := range d {
			d[j] = points.SquaredDistance(positions.Row(q), positions.Row(j))
		}
		return d
	})
	for _, nearest := range []int{1, 3, 10, 30} {
		m, err := FitLocal(ctx, eng, l, train, set, nearest)
		must(b, err)
		d, err := m.Distances(ctx, eng, x, queries)
		must(b, err)
		out[fmt.Sprintf("nearest-%d", nearest)] = precision(of, queries, seen, func(q int) []float64 { return d.Row(q - seen)[:seen] })
	}
	return out
}

func span(lo, hi int) []int {
	out := make([]int, hi-lo)
	for k := range out {
		out[k] = lo + k
	}
	return out
}

// precision is the mean share of points with the query's label among those retrieved.
func precision(labels []string, queries []int, seen int, distances func(q int) []float64) float64 {
	sum := 0.0
	for _, q := range queries {
		d, order := distances(q), span(0, seen)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d[a], d[b]) })
		for _, j := range order[:retrieved] {
			if labels[j] == labels[q] {
				sum += 1 / float64(retrieved*len(queries))
			}
		}
	}
	return sum
}
