// Package racetest makes tests smaller under the race detector, which makes them ten times slower.
// A few problems show how goroutines share memory as well as many do.
package racetest

import "testing"

// Fewer returns count, the number of times that a test does something, or a fifth of it under the
// race detector.
func Fewer(count int) int {
	if Enabled {
		return count/5 + 1
	}
	return count
}

// Some returns all, or some of them under the race detector.
func Some[T any](all, some []T) []T {
	if Enabled {
		return some
	}
	return all
}

// Part returns all, or every fifth of them under the race detector.
func Part[T any](all []T) []T {
	if !Enabled {
		return all
	}
	var part []T
	for i := 0; i < len(all); i += 5 {
		part = append(part, all[i])
	}
	return part
}

// Skip skips a test of numbers under the race detector, because another test that runs there does
// the same work: reason names it.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if Enabled {
		t.Skip("race detector: " + reason)
	}
}
