// Package ballast lets a program's garbage grow to a fixed size before it is collected.
//
// Go collects when there is as much garbage as memory in use (GOGC=100). A program that uses little
// memory, and allocates thousands of small objects, then collects hundreds of times a second, each
// time on all its processors. A block that is never touched counts as memory in use, but occupies
// none if it comes fresh from the system, at the start of a program.
package ballast

import "runtime"

// Ballast is such a block, for one goroutine.
type Ballast struct {
	size  int
	block []byte
}

// New allocates a block. It allows as much additional garbage, until the Ballast itself is garbage.
func New(bytes int) *Ballast { return &Ballast{bytes, make([]byte, bytes)} }

// Drop restores the default garbage collection of Go until restore is called.
func (b *Ballast) Drop() (restore func()) {
	b.block = nil
	runtime.GC()
	return func() { b.block = make([]byte, b.size) }
}
