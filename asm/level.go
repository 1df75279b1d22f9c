package asm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Level is a set of instructions that kernels are written for.
type Level int

// These are the levels, slowest first on each architecture.
const (
	Generic Level = iota // portable Go
	AVX2                 // amd64: AVX2 and FMA
	AVX512               // amd64: AVX-512 F, DQ, VL
	NEON                 // arm64: Advanced SIMD
)

var levelNames = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}

// String returns the name that [ParseLevel] accepts.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return "Level(" + strconv.Itoa(int(l)) + ")"
	}
	return levelNames[l]
}

// ParseLevel returns the level named generic, avx2, avx512 or neon, in any case. Other names give a
// *[LevelError]. [Select] checks whether the level is supported.
func ParseLevel(s string) (Level, error) {
	if i := slices.Index(levelNames[:], strings.ToLower(s)); i >= 0 {
		return Level(i), nil
	}
	return Generic, &LevelError{Value: s, Choices: levelNames[:]}
}

// Supported returns the levels that this build has kernels for and this CPU runs, slowest
// first. The first is always [Generic].
func Supported() []Level {
	levels := []Level{Generic}
	for _, v := range variants() {
		levels = append(levels, v.level)
	}
	return levels
}

// Best returns the fastest supported level.
func Best() Level {
	s := Supported()
	return s[len(s)-1]
}

// LevelError reports a level that does not exist, or that this build or CPU lacks.
type LevelError struct {
	Value   string   // the rejected name
	Choices []string // the accepted names
	Here    bool     // the level exists, but not in this build on this CPU
}

func (e *LevelError) Error() string {
	want := "one of " + strings.Join(e.Choices, ", ")
	if e.Here {
		want += " (what this build and CPU support)"
	}
	return fmt.Sprintf("SIMD level is %q: want %s", e.Value, want)
}

// InputFault marks the error as caused by the caller's input.
func (e *LevelError) InputFault() {}
