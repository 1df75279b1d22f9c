// Package bytesize provides a command-line flag for a number of bytes.
package bytesize

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Size is a number of bytes, 0 for no limit: "8GiB", "500MB", "1073741824".
type Size int64

var units = []struct {
	suffix string
	bytes  float64
}{
	// Longest first: "MiB" also ends in "B".
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"pib", 1 << 50},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"pb", 1e15},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"p", 1 << 50},
	{"b", 1},
}

var errSize = errors.New("a size such as 8GiB, 500MB or a number of bytes")

// Set implements pflag.Value.
func (b *Size) Set(s string) error {
	number, unit := strings.ToLower(strings.TrimSpace(s)), 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	// The condition is written so that NaN fails.
	if err != nil || !(v >= 0 && v*unit < math.MaxInt64) {
		return errSize
	}
	*b = Size(v * unit)
	return nil
}

// Type implements pflag.Value.
func (b *Size) Type() string { return "size" }

func (b *Size) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprint(fault.FormatBytes(int64(*b)))
}
