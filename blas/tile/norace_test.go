//go:build !race

package tile

const raceDetector = false
