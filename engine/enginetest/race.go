//go:build race

package enginetest

// The race detector empties pools at random, so that what is kept there is allocated again.
const raceDetector = true
