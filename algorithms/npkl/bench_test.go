package npkl

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// measured fits b.N times and reports how long the stages took.
func measured(b *testing.B, l Learner, x points.Points, set *links.Set) {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	spent := map[string]time.Duration{}
	for b.Loop() {
		stage, since := "", time.Now()
		turn := func(name string) {
			if stage != "" {
				spent[stage] += time.Since(since)
			}
			stage, since = name, time.Now()
		}
		l.Progress = func(p algorithms.Progress) {
			if p.Stage != stage {
				turn(p.Stage)
			}
		}
		m, err := l.Fit(context.Background(), eng, x, set)
		if err != nil {
			b.Fatal(err)
		}
		turn("")
		b.ReportMetric(float64(m.Status().Iterations), "sweeps")
		b.ReportMetric(float64(m.Dim()), "rank")
		if !m.(*Model).Certified() {
			b.Log(m.Status().Message)
		}
	}
	for name, d := range spent {
		b.ReportMetric(d.Seconds()/float64(b.N), name+"-s")
	}
}

// BenchmarkAdult fits Adult in the sizes of the paper's Table 5, with 1.2 n links.
func BenchmarkAdult(b *testing.B) {
	dir := os.Getenv("MUSTLINK_DATA")
	if dir == "" {
		b.Skip("MUSTLINK_DATA is not set")
	}
	d, err := dataset.Read(filepath.Join(dir, "adult-train.svm.gz"), dataset.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1605, 4781, 16100} {
		for _, graph := range []graphkernel.Graph{KNN, Dense} {
			x, labels := points.Slice(d.Points, 0, n), d.Labels[:n]
			set, err := links.SampleByCount(labels, n*6/10, n*6/10, 1)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/n=%d", graph, n), func(b *testing.B) {
				l := Learner{Params: DefaultParams()}
				l.Params.Delta, l.Params.Graph, l.Params.Neighbors = 0.5, graph, 50
				if graph == Dense {
					l.Params.Neighbors = 10
				}
				measured(b, l, x, set)
			})
		}
	}
}

// clouds returns points around as many centers as there are classes.
func clouds(n, d, classes int) (*points.Dense, []string) {
	rng := rand.New(rand.NewPCG(1, 2))
	centers := make([]float64, classes*d)
	for i := range centers {
		centers[i] = rng.NormFloat64()
	}
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	for i := range n {
		c := rng.IntN(classes)
		labels[i] = strconv.Itoa(c)
		for j := range d {
			x.Data[i*d+j] = centers[c*d+j] + 2*rng.NormFloat64()
		}
	}
	return x, labels
}

// BenchmarkGrowth fits ten blobs in 50 dimensions with as many links as points; the sizes show how
// the time grows.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{12500, 25000, 50000, 100000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			x, labels := clouds(n, 50, 10)
			set, err := links.SampleByCount(labels, n/2, n/2, 1)
			if err != nil {
				b.Fatal(err)
			}
			l := Learner{Params: DefaultParams()}
			l.Params.Neighbors = 20
			measured(b, l, x, set)
		})
	}
}
