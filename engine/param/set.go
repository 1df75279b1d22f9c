package param

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mustlink/mustlink/engine/fault"
)

// Setter is implemented by (pointers to) parameter structs in which one text can set several
// fields, such as a graph with its radius.
type Setter interface {
	// SetText sets the named parameter. It returns false and changes nothing if text is an ordinary
	// value of the field.
	SetText(name, text string) (bool, error)
}

// Set parses the given texts into the struct that params points to, in the order of names, so that
// the first of several mistakes is always the same. Spaces around a text are ignored. A given
// member of a oneof group replaces the default of the group. The error is a *fault.ParamError;
// method is the owner of the parameters in messages.
func Set(params any, method string, given map[string]string) error {
	v := structOf(params)
	rules := rulesOf(v.Type())
	for _, group := range rules.groups {
		if err := startGroup(group, v, given); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := slices.IndexFunc(rules.fields, func(f *rule) bool { return f.name == name })
		if at < 0 {
			return fault.Unknown("parameter of "+method, name, names(rules.fields))
		}
		if err := rules.fields[at].of(v).set(strings.TrimSpace(given[name])); err != nil {
			return err
		}
	}
	return nil
}

func names(list []*rule) []string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.name
	}
	return out
}

// startGroup clears the defaults of a group with a given member, and refuses two given members.
func startGroup(group []*rule, v reflect.Value, given map[string]string) error {
	var found []string
	for _, f := range group {
		if _, is := given[f.name]; is {
			found = append(found, f.name)
		}
	}
	if len(found) > 1 {
		return together(found)
	}
	for _, f := range group {
		if len(found) > 0 {
			f.of(v).value.SetZero()
		}
	}
	return nil
}

// set parses the text of one parameter.
func (f field) set(text string) error {
	if s, is := f.owner.Addr().Interface().(Setter); is {
		if done, err := s.SetText(f.name, text); done || err != nil {
			return err
		}
	}
	switch f.kind {
	case Int:
		return f.setInt(text)
	case Float:
		v, named := f.named(text)
		if !named {
			var err error
			if v, err = strconv.ParseFloat(text, 64); err != nil || !f.inRange(v) {
				return f.refuse(text)
			}
		}
		f.value.SetFloat(v)
	case Bool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return f.refuse(text)
		}
		f.value.SetBool(v)
	case Text:
		if err := f.checkText(text, false); err != nil {
			return err
		}
		f.value.SetString(text)
	}
	return nil
}

func (f field) setInt(text string) error {
	if v, named := f.named(text); named {
		f.value.SetInt(int64(v))
		return nil
	}
	v, err := strconv.Atoi(text)
	switch {
	case err != nil || !f.inRange(float64(v)):
		return f.refuse(text)
	case v > math.MaxInt32:
		return fault.Param(f.name, text, "an integer <= %d", math.MaxInt32)
	}
	f.value.SetInt(int64(v))
	return nil
}

// refuse returns the error for an invalid value.
func (f *rule) refuse(value any) error {
	return &fault.ParamError{Param: f.name, Value: value, Want: f.want()}
}

// want describes the valid values.
func (f *rule) want() string {
	s := "a number"
	switch f.kind {
	case Bool:
		return "true or false"
	case Int:
		s = "an integer"
	}
	bounds := f.bounds()
	low, high, both := strings.Cut(bounds, ", ")
	if f.kind == Float && !both {
		s = "a finite number"
	}
	least, closed := strings.CutPrefix(low, ">= ")
	if most, is := strings.CutPrefix(high, "<= "); closed && is {
		s += " from " + least + " to " + most
	} else if bounds != "" {
		s += " " + strings.ReplaceAll(bounds, ", ", " and ")
	}
	for _, w := range f.words() {
		s += ", or " + w.Name
	}
	if zero := f.tag("zero"); zero != "" {
		s += " (0: " + zero + ")"
	}
	return s
}

// Validate returns a *fault.ParamError for the first invalid value, in the order of the fields. It
// then checks that exactly one number of each oneof group is given.
func Validate(params any) error {
	v := structOf(params)
	rules := rulesOf(v.Type())
	for _, r := range rules.fields {
		if err := r.of(v).check(); err != nil {
			return err
		}
	}
	for _, group := range rules.groups {
		if err := checkGroup(group, v); err != nil {
			return err
		}
	}
	return nil
}

// check returns the error for an invalid value.
func (f field) check() error {
	var v float64
	switch f.kind {
	case Bool:
		return nil
	case Text:
		return f.checkText(f.value.String(), true)
	case Int:
		v = float64(f.value.Int())
	case Float:
		v = f.value.Float()
	}
	if v == 0 && f.tag("oneof") != "" || f.inRange(v) || slices.Contains(f.numbers, v) {
		return nil
	}
	return f.refuse(f.value.Interface())
}

// checkText returns the error for text that is not a choice. For a program the values of the tag
// also are choices too.
func (f *rule) checkText(text string, program bool) error {
	if len(f.choices) == 0 || text == "" && f.zero || slices.Contains(f.choices, text) ||
		program && text != "" && slices.Contains(f.also, text) {
		return nil
	}
	return fault.Unknown(f.name, text, f.choices)
}

// checkGroup checks that exactly one number of a group is given.
func checkGroup(group []*rule, v reflect.Value) error {
	var given []string
	for _, f := range group {
		if !f.of(v).value.IsZero() {
			given = append(given, f.name)
		}
	}
	switch first := group[0]; {
	case len(given) > 1:
		return together(given)
	case len(given) == 0:
		want := first.want() + " (or give " + strings.Join(names(group[1:]), " or ") + ")"
		return &fault.ParamError{Param: first.name, Value: first.of(v).value.Interface(), Want: want}
	}
	return nil
}

// unquoted is a value that a message shows without quotes.
type unquoted string

// together returns the error for two or more given parameters of a oneof group.
func together(names []string) error {
	return fault.Param(names[0], unquoted("given together with "+strings.Join(names[1:], " and ")),
		"one of them: they set the same number")
}

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
