package label

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// many are options for n rows of 20 numbers in ten classes: row i is of class i mod 10.
func many(b *testing.B, n int) Options {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	rows, all := make([][]float64, n), make([]float64, 20*n)
	for i := range rows {
		rows[i] = all[20*i : 20*i+20]
		for k := range rows[i] {
			rows[i][k] = rng.NormFloat64()
		}
		rows[i][0] += 3 * float64(i%10)
	}
	table, err := mustlink.FromRows(rows)
	if err != nil {
		b.Fatal(err)
	}
	eng, err := engine.New(engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return Options{Table: table, Coordinates: blas.MatrixOf(n, 20, all), Columns: ColumnsOf(table.Data()),
		File: filepath.Join(b.TempDir(), "links.csv"), Engine: eng, Fit: true, Seed: 1,
		People: []Person{{"ann", annKey}}}
}

// BenchmarkNext answers 300 questions of 10,000 rows, a tenth of a second after each, with fits in
// the background. It reports the time from an answer to the next question: the median and the
// longest.
func BenchmarkNext(b *testing.B) {
	for b.Loop() {
		s := start(b, many(b, 10_000))
		var took []time.Duration
		for range 300 {
			p, ok, err := s.next("ann")
			if err != nil || !ok {
				b.Fatal(ok, err)
			}
			word := cannot
			if p.I%10 == p.J%10 {
				word = must
			}
			time.Sleep(100 * time.Millisecond)
			begin := time.Now()
			give(b, s, "ann", reply{p.I, p.J, word})
			code, body, _ := request(s, "GET", "/"+annKey+"/state", "")
			if took = append(took, time.Since(begin)); code != 200 ||
				!strings.Contains(body, `"question":{`) {
				b.Fatal(code, body)
			}
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
		b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-longest")
		s.Close()
	}
}

// BenchmarkFit reports the time of a fit in the background with its verdict and map, of 5000 rows
// and so many answers.
func BenchmarkFit(b *testing.B) {
	for b.Loop() {
		o := many(b, 5000)
		o.Fit = false
		s := start(b, o)
		for at, answers := 0, 0; answers <= 1000; answers++ {
			if slices.Contains([]int{30, 100, 300, 1000}, answers) {
				s.mu.Lock()
				s.fit.answers = at
				s.mu.Unlock()
				set, count := s.due()
				begin := time.Now()
				if err := s.learn(set, count); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(begin).Seconds()*1000,
					"ms-"+[]string{"30", "100", "300", "1000"}[at])
				at++
			}
			p, _, _ := s.next("ann")
			word := cannot
			if p.I%10 == p.J%10 {
				word = must
			}
			give(b, s, "ann", reply{p.I, p.J, word})
		}
		s.Close()
	}
}

// BenchmarkOpen reports the time until the first question of 100,000 rows.
func BenchmarkOpen(b *testing.B) {
	o := many(b, 100_000)
	for b.Loop() {
		begin := time.Now()
		s, err := New(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok, err := s.next("ann"); !ok || err != nil {
			b.Fatal(ok, err)
		}
		b.ReportMetric(float64(time.Since(begin).Milliseconds()), "ms-question")
		s.Close()
	}
}
