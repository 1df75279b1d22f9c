//go:build !race

package blastest

const raceDetector = false
