package dataset

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// float16 is 1 sign, 5 exponent and 10 fraction bits; the values are those of IEEE 754.
func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float64{0: 0, 0x8000: math.Copysign(0, -1), 1: 0x1p-24,
		0x3ff: 1023 * 0x1p-24, 0x400: 0x1p-14, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x3555: 0.333251953125,
		0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		if got := half(bits); math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%04x is %v: want %v", bits, got, want)
		}
	}
	if !math.IsNaN(half(0x7e00)) {
		t.Error("7e00 is a NaN")
	}
}

// A decimal is the nearest number to its digits.
func TestDecimals(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		whole, scale := rapid.Int64().Draw(t, "whole"), rapid.IntRange(0, 30).Draw(t, "scale")
		exact := new(big.Rat).SetFrac(big.NewInt(whole),
			new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		want, _ := exact.Float64()
		c := Value{Kind: DecimalNumber, Bits: 64, Scale: scale}
		if got := c.Number(uint64(whole)); got != want {
			t.Fatalf("%d/10^%d is %v: want %v", whole, scale, got, want)
		}
		b := make([]byte, 11)
		for k := range b {
			b[k] = byte(whole >> min(63, 8*(10-k)))
		}
		if got := Decimal(b, scale); got != want {
			t.Fatalf("bytes % x/10^%d are %v: want %v", b, scale, got, want)
		}
	})
}

// A time is that of package time.
func TestInstants(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		units := rapid.Int64Range(-1<<55, 1<<57).Draw(t, "units")
		v := Value{Kind: Instant, Bits: 64, Unit: time.Microsecond}
		got, want := v.instant(uint64(units)), time.UnixMicro(units).UTC()
		if !got.Equal(want) || got.Location() != time.UTC {
			t.Fatalf("%s: want %s", got, want)
		}
	})
}
