//go:build !race

package propertytest

// checks 0 is the number of problems that rapid tests a property on.
const checks = 0
