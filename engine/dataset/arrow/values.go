package arrow

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
)

// numbers writes the values [lo, hi) of an array of numbers to dst[0], dst[stride], and so on: NaN
// for a null, and an infinity for a whole number that float64 does not have exactly.
func numbers(dst []float64, stride int, a arrow.Array, lo, hi int) {
	switch a := a.(type) {
	case *array.Float64:
		put(dst, stride, a.Float64Values()[lo:hi])
	case *array.Float32:
		put(dst, stride, a.Float32Values()[lo:hi])
	case *array.Int8:
		put(dst, stride, a.Int8Values()[lo:hi])
	case *array.Int16:
		put(dst, stride, a.Int16Values()[lo:hi])
	case *array.Int32:
		put(dst, stride, a.Int32Values()[lo:hi])
	case *array.Int64:
		put(dst, stride, a.Int64Values()[lo:hi])
	case *array.Uint8:
		put(dst, stride, a.Uint8Values()[lo:hi])
	case *array.Uint16:
		put(dst, stride, a.Uint16Values()[lo:hi])
	case *array.Uint32:
		put(dst, stride, a.Uint32Values()[lo:hi])
	case *array.Uint64:
		put(dst, stride, a.Uint64Values()[lo:hi])
	default:
		for i := lo; i < hi; i++ {
			dst[(i-lo)*stride] = oneNumber(a, i)
		}
	}
	for i := lo; i < hi; i++ {
		if a.IsNull(i) {
			dst[(i-lo)*stride] = math.NaN()
		}
	}
}

// put writes numbers.
func put[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](dst []float64, stride int, values []T) {
	const exact = 1 << 53
	for i, v := range values {
		f := float64(v)
		if T(f) != v && v == v || f > exact && wide(v) || f < -exact && wide(v) {
			f = math.Inf(1)
		}
		dst[i*stride] = f
	}
}

// wide reports whether a number is a whole number of 64 bits.
func wide(v any) bool {
	switch v.(type) {
	case int64, uint64:
		return true
	}
	return false
}

// oneNumber returns a value of a type that is rare.
func oneNumber(a arrow.Array, i int) float64 {
	switch a := a.(type) {
	case *array.Boolean:
		if a.IsNull(i) || !a.Value(i) {
			return 0
		}
		return 1
	case *array.Float16:
		return half(a.Value(i))
	case *array.Null:
		return math.NaN()
	}
	v, err := strconv.ParseFloat(a.ValueStr(i), 64) // a decimal, correctly rounded
	if err != nil {
		return math.NaN() // a null
	}
	return v
}

func half(v float16.Num) float64 { return float64(v.Float32()) }

// textOf returns a value as text, "" for a null.
func textOf(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return ""
	}
	switch a := a.(type) {
	case *array.String:
		return strings.Clone(a.Value(i)) // the batch is released
	case *array.LargeString:
		return strings.Clone(a.Value(i))
	case *array.StringView:
		return strings.Clone(a.Value(i))
	case *array.Dictionary:
		return textOf(a.Dictionary(), a.GetValueIndex(i))
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Date64:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Time32:
		return a.Value(i).ToTime(a.DataType().(*arrow.Time32Type).Unit).Format(clock)
	case *array.Time64:
		return a.Value(i).ToTime(a.DataType().(*arrow.Time64Type).Unit).Format(clock)
	case *array.Timestamp:
		return a.Value(i).ToTime(a.DataType().(*arrow.TimestampType).Unit).UTC().Format(time.RFC3339Nano)
	}
	return a.ValueStr(i)
}

// clock is the form of a time of day.
const clock = "15:04:05.999999999"
