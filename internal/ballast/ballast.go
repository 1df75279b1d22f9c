// Package ballast lets a program's garbage grow to a fixed size before it is collected.
//
// Go collects when there is as much garbage as there is memory in use (GOGC=100). A program that
// has little in use, and makes small things by the thousand, then collects hundreds of times a
// second, and each time on all its processors. A block that is never touched counts as memory in
// use, and takes none if it comes fresh from the system, at the beginning of a program.
package ballast

import "runtime"

// Ballast is such a block. It is for one goroutine.
type Ballast struct {
	size  int
	block []byte
}

// New takes on a block: as much garbage more is let be, until the Ballast itself is garbage.
func New(bytes int) *Ballast { return &Ballast{bytes, make([]byte, bytes)} }

// Drop collects when Go itself would until restore is called.
func (b *Ballast) Drop() (restore func()) {
	b.block = nil
	runtime.GC()
	return func() { b.block = make([]byte, b.size) }
}
