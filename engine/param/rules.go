package param

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// rules are the tags of a type of structs, read once, so that a fit does not read them again to
// find its parameters valid. The messages about invalid ones come from the tags themselves.
type rules struct {
	fields []rule
	groups int // number of oneof groups
}

// rule says which values of a field are valid.
type rule struct {
	index   []int // of the field, through embedded structs
	kind    Type
	group   int // of its oneof group, -1 for none
	zero    bool
	ranges  []span
	named   []float64
	choices []string // of a string, for programs; nil for any
}

// known holds the rules of types: from reflect.Type to *rules.
var known sync.Map

// rulesOf returns the rules of a type of structs.
func rulesOf(t reflect.Type) *rules {
	if r, is := known.Load(t); is {
		return r.(*rules)
	}
	r, names := &rules{}, []string{}
	index := appendIndexes(nil, t, nil)
	for i, f := range all(reflect.New(t).Interface()) {
		one := rule{index: index[i], kind: f.kind(), group: -1, zero: f.tag("zero") != ""}
		if name := f.tag("oneof"); name != "" {
			if one.group = slices.Index(names, name); one.group < 0 {
				one.group, names = len(names), append(names, name)
			}
		}
		switch one.kind {
		case Text:
			for _, c := range choices(f.tag("choices")) {
				one.choices = append(one.choices, c.Name)
			}
			if one.choices != nil {
				one.choices = append(one.choices, strings.Split(f.tag("also"), ",")...)
			}
		case Int, Float:
			one.ranges = spans(f.bounds())
			for _, w := range f.words() {
				v, _ := f.named(w.Name)
				one.named = append(one.named, v)
			}
		}
		r.fields = append(r.fields, one)
	}
	r.groups = len(names)
	known.Store(t, r)
	return r
}

// appendIndexes appends the indexes of the fields of all, in its order.
func appendIndexes(out [][]int, t reflect.Type, outer []int) [][]int {
	for i := range t.NumField() {
		s, index := t.Field(i), append(slices.Clip(outer), i)
		if s.Anonymous && s.Type.Kind() == reflect.Struct {
			out = appendIndexes(out, s.Type, index)
		} else if name := s.Tag.Get("param"); name != "" && name != "-" {
			out = append(out, index)
		}
	}
	return out
}

// valid reports whether a struct is valid. It may be false for a valid one.
func (r *rules) valid(v reflect.Value) bool {
	var given [8]int // of each oneof group
	if r.groups > len(given) {
		return false
	}
	for i := range r.fields {
		f := &r.fields[i]
		at := v
		for _, k := range f.index {
			at = at.Field(k)
		}
		if !f.valid(at) {
			return false
		}
		if f.group >= 0 && !at.IsZero() {
			given[f.group]++
		}
	}
	for _, n := range given[:r.groups] {
		if n != 1 {
			return false
		}
	}
	return true
}

// valid reports whether a value of the field is valid.
func (f *rule) valid(v reflect.Value) bool {
	switch f.kind {
	case Int:
		return f.number(float64(v.Int()))
	case Float:
		return f.number(v.Float())
	case Text:
		text := v.String()
		return f.choices == nil || text == "" && f.zero || text != "" && slices.Contains(f.choices, text)
	}
	return true
}

func (f *rule) number(v float64) bool {
	switch {
	case v == 0 && (f.zero || f.group >= 0), slices.Contains(f.named, v):
		return true
	case math.IsNaN(v) || math.IsInf(v, 0):
		return false
	}
	return within(v, f.ranges)
}
