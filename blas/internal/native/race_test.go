//go:build race

package native

const raceDetector = true
