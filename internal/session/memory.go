package session

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// ByteSize is a number of bytes, 0 for no limit: "8GiB", "500MB", "1073741824".
type ByteSize int64

var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	// Longest first: "MiB" also ends in "B".
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"pib", 1 << 50},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"pb", 1e15},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"p", 1 << 50},
	{"b", 1},
}

var errByteSize = errors.New("a size such as 8GiB, 500MB or a number of bytes")

// Set implements pflag.Value.
func (b *ByteSize) Set(s string) error {
	number, unit := strings.ToLower(strings.TrimSpace(s)), 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	// The condition is written so that NaN fails.
	if err != nil || !(v >= 0 && v*unit < math.MaxInt64) {
		return errByteSize
	}
	*b = ByteSize(v * unit)
	return nil
}

// Type implements pflag.Value.
func (b *ByteSize) Type() string { return "size" }

func (b *ByteSize) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprint(fault.FormatBytes(int64(*b)))
}

// collectionLimit returns the memory of the process beyond which Go collects garbage as often as it
// can, so that the heap stays within a limit. What the process has besides its heap is added, and a
// limit below the heap of a program that has just begun counts as that: collections could not make
// it smaller, and would take half of the processors.
func collectionLimit(limit int64) int64 {
	const least = 4 << 20
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	besides := int64(m.Sys - m.HeapSys)
	if limit > math.MaxInt64-besides {
		return math.MaxInt64
	}
	return max(limit, least) + besides
}

// A ballast lets a program's garbage grow to a fixed size before it is collected.
//
// Go collects when there is as much garbage as memory in use (GOGC=100). A program that uses little
// memory, and allocates thousands of small objects, then collects hundreds of times a second, each
// time on all its processors. A block that is never touched counts as memory in use, but occupies
// none if it comes fresh from the system, at the start of a program. A ballast is such a block, for
// one goroutine.
type ballast struct {
	size  int
	block []byte
}

// newBallast allocates a block. It allows as much additional garbage, until the ballast itself is
// garbage.
func newBallast(bytes int) *ballast { return &ballast{bytes, make([]byte, bytes)} }

// drop restores the default garbage collection of Go until restore is called.
func (b *ballast) drop() (restore func()) {
	b.block = nil
	runtime.GC()
	return func() { b.block = make([]byte, b.size) }
}

// DropBallast restores the garbage collection of Go's default until restore is called.
func (s *Session) DropBallast() (restore func()) {
	if s.ballast == nil {
		return func() {}
	}
	return s.ballast.drop()
}
