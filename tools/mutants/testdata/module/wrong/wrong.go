// Package wrong has a test that fails without a fault.
package wrong

// One is 1.
func One() int { return 1 }
