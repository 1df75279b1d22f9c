// Package difftest finds the first difference of two values, for tests.
package difftest

import (
	"fmt"
	"math"
	"reflect"
)

// Diff returns the first difference of got from want, "" if they are equal. It is
// reflect.DeepEqual, except that floats are equal if they are bit-identical, so that NaN equals
// itself and 0 is not -0.
func Diff(want, got any) string { return diff("", reflect.ValueOf(want), reflect.ValueOf(got)) }

// diff compares two values; at is their path within the whole.
func diff(at string, want, got reflect.Value) string {
	if !want.IsValid() || !got.IsValid() || want.Type() != got.Type() {
		return unequal(at, want, got, want.IsValid() == got.IsValid() && !want.IsValid())
	}
	switch want.Kind() {
	case reflect.Float32, reflect.Float64:
		return unequal(at, want, got, math.Float64bits(want.Float()) == math.Float64bits(got.Float()))
	case reflect.Pointer, reflect.Interface:
		if want.IsNil() || got.IsNil() {
			return unequal(at, want, got, want.IsNil() == got.IsNil())
		}
		return diff(at, want.Elem(), got.Elem())
	case reflect.Struct:
		for i := range want.NumField() {
			if d := diff(at+"."+want.Type().Field(i).Name, want.Field(i), got.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Array, reflect.Slice:
		return diffElements(at, want, got)
	case reflect.Map:
		return diffMaps(at, want, got)
	case reflect.Func:
		return unequal(at, want, got, want.IsNil() && got.IsNil())
	}
	return unequal(at, want, got, want.Equal(got))
}

func diffElements(at string, want, got reflect.Value) string {
	if want.Len() != got.Len() || want.Kind() == reflect.Slice && want.IsNil() != got.IsNil() {
		return unequal(at, want, got, false)
	}
	for i := range want.Len() {
		if d := diff(fmt.Sprintf("%s[%d]", at, i), want.Index(i), got.Index(i)); d != "" {
			return d
		}
	}
	return ""
}

func diffMaps(at string, want, got reflect.Value) string {
	if want.Len() != got.Len() || want.IsNil() != got.IsNil() {
		return unequal(at, want, got, false)
	}
	for _, key := range want.MapKeys() {
		if d := diff(fmt.Sprintf("%s[%v]", at, key), want.MapIndex(key), got.MapIndex(key)); d != "" {
			return d
		}
	}
	return ""
}

// unequal returns the message of a difference, "" if there is none.
func unequal(at string, want, got reflect.Value, equal bool) string {
	if equal {
		return ""
	}
	text := func(v reflect.Value) string {
		if !v.IsValid() {
			return "nothing"
		}
		return fmt.Sprintf("%#v", v)
	}
	return fmt.Sprintf("%s is %s: want %s", at, text(got), text(want))
}
