package enginetest

import "testing"

// Fewer returns count, the number of times that a test does something, or a fifth of it under the race detector, which makes
// work ten times slower and sees in few what it sees in many.
func Fewer(count int) int {
	if raceDetector {
		return count/5 + 1
	}
	return count
}

// Allocations returns how many allocations each further step of some work makes once it is warm: those of 3 count steps less
// those of count, over the difference. Work that keeps its memory from step to step makes none. It skips the test under the race
// detector.
func Allocations(t *testing.T, count int, work func(steps int)) float64 {
	t.Helper()
	if raceDetector {
		t.Skip("the race detector empties pools at random")
	}
	some := testing.AllocsPerRun(10, func() { work(count) })
	more := testing.AllocsPerRun(10, func() { work(3 * count) })
	return (more - some) / float64(2*count)
}
