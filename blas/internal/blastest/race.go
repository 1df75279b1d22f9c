//go:build race

package blastest

const raceDetector = true
