//go:build race

package propertytest

// checks is the number of problems that a property is tested on under the race detector, which makes tests ten times slower and looks
// at how goroutines share memory: they do so in few as in many.
const checks = 20
