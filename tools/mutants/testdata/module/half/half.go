// Package half has functions whose tests find some faults.
package half

import (
	"context"
	"sync"
)

// Sum adds the numbers below n.
func Sum(n int) int {
	sum := 0
	for k := 0; k < n; k++ {
		sum += k
	}
	return sum
}

// Double is tested by an importing package only.
func Double(x int) int {
	return x * 2
}

// Untested has no test.
func Untested(x int) int {
	return x - 3
}

// Wait returns the error of an ended context.
func Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return nil
}

var (
	mu    sync.Mutex
	count int
)

// Count counts calls.
func Count() int {
	mu.Lock()
	defer mu.Unlock()
	count += 1
	return count
}

// Drop has a statement without which it does not compile.
func Drop(x int) int {
	y := x
	sink(y)
	return x
}

func sink(int) {}
