package param

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// rules are the tags of a type of structs, read once, so that a fit does not read them again.
type rules struct {
	fields []*rule
	groups [][]*rule // with the same tag oneof
}

// rule is what the tags say about a parameter.
type rule struct {
	name  string
	index []int // of the field, through embedded structs
	kind  Type
	tags  reflect.StructTag
	outer []reflect.StructTag // tags of the structs that embed its struct, the outermost first

	zero    bool // whether 0 is valid outside the range too
	ranges  []span
	numbers []float64 // that have a word
	choices []string  // of a string; nil for any
	also    []string  // further ones, for programs
}

// field is a parameter of a struct.
type field struct {
	*rule
	value reflect.Value
	owner reflect.Value // the struct that holds it
}

// of returns the parameter of a struct.
func (f *rule) of(v reflect.Value) field {
	last := len(f.index) - 1
	for _, k := range f.index[:last] {
		v = v.Field(k)
	}
	return field{f, v.Field(f.index[last]), v}
}

// structOf returns a struct, or the one that params points to.
func structOf(params any) reflect.Value {
	v := reflect.ValueOf(params)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// known holds the rules of types: from reflect.Type to *rules.
var known sync.Map

// rulesOf returns the rules of a type of structs, in the order of the fields.
func rulesOf(t reflect.Type) *rules {
	if r, is := known.Load(t); is {
		return r.(*rules)
	}
	r := &rules{}
	r.read(t, nil, nil)
	known.Store(t, r)
	return r
}

// read appends the rules of a struct at the index of an outer one.
func (r *rules) read(t reflect.Type, index []int, outer []reflect.StructTag) {
	for i := range t.NumField() {
		s, at := t.Field(i), append(slices.Clip(index), i)
		if s.Anonymous && s.Type.Kind() == reflect.Struct {
			r.read(s.Type, at, append(slices.Clip(outer), s.Tag))
		} else if name := s.Tag.Get("param"); name != "" && name != "-" {
			r.add(&rule{name: name, index: at, kind: typeOf(s.Type), tags: s.Tag, outer: outer})
		}
	}
}

// add reads what validation needs from the tags of a rule, and appends it.
func (r *rules) add(f *rule) {
	f.zero = f.tag("zero") != ""
	switch f.kind {
	case Text:
		for _, c := range choices(f.tag("choices")) {
			f.choices = append(f.choices, c.Name)
		}
		f.also = strings.Split(f.tag("also"), ",")
	case Int, Float:
		f.ranges = spans(f.bounds())
		for _, w := range f.words() {
			v, _ := f.named(w.Name)
			f.numbers = append(f.numbers, v)
		}
	}
	r.fields = append(r.fields, f)
	name := f.tag("oneof")
	if name == "" {
		return
	}
	at := slices.IndexFunc(r.groups, func(g []*rule) bool { return g[0].tag("oneof") == name })
	if at < 0 {
		r.groups, at = append(r.groups, nil), len(r.groups)
	}
	r.groups[at] = append(r.groups[at], f)
}

func typeOf(t reflect.Type) Type {
	switch t.Kind() {
	case reflect.Int:
		return Int
	case reflect.Float64:
		return Float
	case reflect.Bool:
		return Bool
	case reflect.String:
		return Text
	}
	panic("param: a field has an unsupported type")
}
