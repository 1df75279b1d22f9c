package workers

import (
	"context"
	"strings"
	"testing"
)

// TestRun checks that results are consistent: the first number of workers is the unit, shares are
// shares, and the stages are part of the time alone.
func TestRun(t *testing.T) {
	var results []Result
	o := Options{Methods: []string{"rca", "kbeta"}, Rows: 400, Features: 6, Links: 200, Workers: []int{1, 2},
		Rounds: 3, Seed: 1}
	if err := Run(context.Background(), o, func(r Result) { results = append(results, r) }); err != nil {
		t.Fatal(err)
	}
	if len(results) != len(o.Methods)*len(o.Workers) {
		t.Fatalf("%d results, want %d", len(results), len(o.Methods)*len(o.Workers))
	}
	for k, r := range results {
		first := results[k-k%len(o.Workers)]
		if r.Method != o.Methods[k/len(o.Workers)] || r.Workers != o.Workers[k%len(o.Workers)] {
			t.Errorf("result %d is of %s with %d workers", k, r.Method, r.Workers)
		}
		if want := first.Seconds / r.Seconds; r.Times != want {
			t.Errorf("%s with %d workers: %g times as fast, want %g", r.Method, r.Workers, r.Times, want)
		}
		sum := 0.0
		for _, s := range r.Stages {
			sum += s.Share
		}
		if !(r.Alone >= 0) || sum > r.Alone*(1+1e-12) {
			t.Errorf("%s with %d workers: stages with a share of %g, alone %g", r.Method, r.Workers, sum,
				r.Alone)
		}
	}
	o.Methods = []string{"kfoo"}
	if err := Run(context.Background(), o, func(Result) {}); err == nil ||
		!strings.Contains(err.Error(), "kfoo") {
		t.Errorf("error %v, want one that names the method", err)
	}
}

// TestPlace checks that the functions are those of the goroutine, without the rest of the stack.
func TestPlace(t *testing.T) {
	const stacks = `goroutine 1 [running]:
github.com/mustlink/mustlink/engine.other(0x1)
	engine.go:1

goroutine 17 [chan receive]:
runtime.gopark(0x1)
	proc.go:1
github.com/mustlink/mustlink/blas/tile.(*crew).run(0x1, {0x2, 0x3})
	tile.go:2
github.com/mustlink/mustlink/algorithms/krca.(*metric).gram(...)
	metric.go:3

goroutine 170 [select]:
github.com/mustlink/mustlink/engine.third(0x1)
`
	if got, want := place(stacks, "goroutine 17 "), "tile.(*crew).run < krca.(*metric).gram"; got != want {
		t.Errorf("place %q, want %q", got, want)
	}
	if own := goroutine(); !strings.HasPrefix(own, "goroutine ") || strings.ContainsAny(own, "[]") {
		t.Errorf("goroutine %q", own)
	}
}
