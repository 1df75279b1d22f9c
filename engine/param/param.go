// Package param (internal: may change) reads the tags of parameter structs: names, defaults,
// ranges, choices and help. All functions that show, set or check parameters use them.
//
//	type Params struct {
//		Rank  int     `param:"rank" default:"root" named:"root=-1" zero:"all" help:"directions"`
//		Tol   float64 `param:"tol" default:"1e-3" range:"> 0, < 1" help:"change that ends the fit"`
//		Mode  Mode    `param:"mode" default:"full" choices:"full (all points),linear" help:"kind"`
//		Heat  bool    `param:"heat" help:"true weighs edges by their lengths"`
//		Shape `default:"rank=5"`
//	}
//
// A field is an int, a float64, a bool or a string. Its tags are:
//
//   - param: the name; fields without this tag, or with "-", are not parameters.
//   - default: the default, as a user writes it; without it, the zero value of the type.
//   - range: bounds with >, >=, < and <=, separated by commas. An int without it is >= 0;
//     a float64 is always finite.
//   - named: words for particular numbers, separated by semicolons, optionally with a meaning
//     ("root=-1: the root of the points"). These numbers are valid outside the range too.
//   - zero: the meaning of 0, which is then valid outside the range too; for a string, of "".
//   - choices: the values of a string, separated by commas, optionally with a meaning in
//     parentheses.
//   - also: further values that programs may set but users may not, without a meaning.
//   - oneof: the name of a group of numbers of which exactly one is not 0.
//   - help: the meaning in one line; unit: the unit of the value ("help in unit").
//   - file: the content of a file that can be given as @FILE; the caller reads it and sets the
//     value.
//
// An embedded struct contributes its fields. Its own tags default and choices replace those of
// its fields: default:"name=value; name=value".
//
// Tags that cannot be parsed are mistakes of the program and cause a panic.
package param

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Field is one parameter as help texts show it.
type Field struct {
	Name    string
	Type    Type
	Default string // as a user writes it; "" if there is none
	Help    string // one line: meaning, choices, range, and the rest
	Meaning string // the meaning alone, with its unit
	Zero    string // the meaning of 0, and of no text
	Instead string // the parameter that this one replaces
	Range   string // as in the tag, ">= 0" for an int without one
	Choices []Choice
	Words   []Choice // words for particular numbers
	File    string   // content of a file that can be given as @FILE, "" for none
}

// Choice is a value that a user can write.
type Choice struct {
	Name string
	Help string // "" if the name is enough
}

// Type is the type of a parameter's value.
type Type string

// The types.
const (
	Int   Type = "int"
	Float Type = "float"
	Bool  Type = "bool"
	Text  Type = "text"
)

// Fields returns the parameters of a struct or of a pointer to one, in order.
func Fields(params any) []Field {
	var out []Field
	first := map[string]string{} // first field of each group with the tag oneof
	for _, f := range rulesOf(structOf(params).Type()).fields {
		t := Field{
			Name: f.name, Type: f.kind, Default: f.defaultText(), Range: f.bounds(),
			Choices: choices(f.tag("choices")), Words: f.words(), File: f.tag("file"),
			Help: f.help(), Meaning: f.meaning(), Zero: f.tag("zero"),
		}
		if group := f.tag("oneof"); group != "" {
			if first[group] == "" {
				first[group] = f.name
			} else {
				t.Instead = first[group]
				t.Help += "; instead of " + t.Instead
			}
		}
		out = append(out, t)
	}
	return out
}

// Default returns the struct with all defaults.
func Default[P any]() P {
	var out P
	v := reflect.ValueOf(&out).Elem()
	for _, r := range rulesOf(v.Type()).fields {
		f := r.of(v)
		if text := f.tag("default"); text != "" {
			if err := f.set(text); err != nil {
				panic("param: a default is not a valid value")
			}
		}
	}
	return out
}

// tag returns a tag of the field, or the one that an outer struct has instead.
func (f *rule) tag(key string) string {
	if key == "default" || key == "choices" {
		for _, t := range f.outer {
			for text := range strings.SplitSeq(t.Get(key), ";") {
				if name, value, _ := strings.Cut(strings.TrimSpace(text), "="); name == f.name {
					return value
				}
			}
		}
	}
	return f.tags.Get(key)
}

// defaultText returns the default as help texts show it.
func (f *rule) defaultText() string {
	text := f.tag("default")
	switch kind := f.kind; {
	case text != "" || kind == Text || f.tag("oneof") != "":
		return text
	case kind == Bool:
		return "false"
	}
	return "0"
}

// meaning returns what the parameter is.
func (f *rule) meaning() string {
	if unit := f.tag("unit"); unit != "" {
		return f.tag("help") + " in " + unit
	}
	return f.tag("help")
}

// help returns the help line.
func (f *rule) help() string {
	s := f.meaning()
	if list := choices(f.tag("choices")); len(list) > 0 {
		s += ": " + either(list)
	}
	if bounds := f.tag("range"); bounds != "" {
		s += ", " + bounds
	}
	for _, w := range f.words() {
		if w.Help != "" {
			s += "; " + w.Name + ": " + w.Help
		}
	}
	switch zero := f.tag("zero"); {
	case zero == "":
	case f.kind != Text:
		s += "; 0: " + zero
	case f.tag("default") == "":
		s += "; without it " + zero
	}
	if file := f.tag("file"); file != "" && !strings.Contains(s, "@FILE") {
		s += "; @FILE: " + file
	}
	return s
}

// either joins choices with their meanings: "a, b (the second) or c".
func either(list []Choice) string {
	var s strings.Builder
	for i, c := range list {
		switch {
		case i > 0 && i == len(list)-1:
			s.WriteString(" or ")
		case i > 0:
			s.WriteString(", ")
		}
		s.WriteString(c.Name)
		if c.Help != "" {
			s.WriteString(" (" + c.Help + ")")
		}
	}
	return s.String()
}

// choices reads a tag of that name.
func choices(text string) []Choice {
	var out []Choice
	depth, begin := 0, 0
	for i, r := range text + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			if name, help, _ := strings.Cut(strings.TrimSpace(text[begin:i]), " ("); name != "" {
				out = append(out, Choice{name, strings.TrimSuffix(help, ")")})
			}
			begin = i + 1
		}
	}
	return out
}

// words returns the words for numbers.
func (f *rule) words() []Choice {
	var out []Choice
	for text := range strings.SplitSeq(f.tag("named"), ";") {
		if word, rest, ok := strings.Cut(strings.TrimSpace(text), "="); ok {
			_, help, _ := strings.Cut(rest, ": ")
			out = append(out, Choice{word, help})
		}
	}
	return out
}

// named returns the number of a word.
func (f *rule) named(word string) (float64, bool) {
	for text := range strings.SplitSeq(f.tag("named"), ";") {
		if name, rest, _ := strings.Cut(strings.TrimSpace(text), "="); name == word && word != "" {
			number, _, _ := strings.Cut(rest, ":")
			return mustNumber(number), true
		}
	}
	return 0, false
}

// bounds returns the range in words, "" for any finite number.
func (f *rule) bounds() string {
	if text := f.tag("range"); text != "" || f.kind != Int {
		return text
	}
	return ">= 0"
}

// inRange reports whether a number is valid, apart from numbers with a word.
func (f *rule) inRange(v float64) bool {
	switch {
	case v == 0 && f.zero:
		return true
	case math.IsNaN(v) || math.IsInf(v, 0):
		return false
	}
	return within(v, f.ranges)
}

// InRange reports whether a text is a number within bounds such as "> 0, <= 1".
func InRange(text, bounds string) bool {
	v, err := strconv.ParseFloat(text, 64)
	return err == nil && within(v, spans(bounds))
}

// span is a bound of a number, such as ">= 1".
type span struct {
	op  string
	end float64
}

// spans returns the bounds of a text, which are separated by commas.
func spans(bounds string) (list []span) {
	for text := range strings.SplitSeq(bounds, ",") {
		if op, number, _ := strings.Cut(strings.TrimSpace(text), " "); op != "" {
			list = append(list, span{op, mustNumber(number)})
		}
	}
	return list
}

// within reports whether v satisfies all bounds.
func within(v float64, bounds []span) bool {
	return !slices.ContainsFunc(bounds, func(s span) bool { return !s.holds(v) })
}

// holds reports whether v satisfies the bound.
func (s span) holds(v float64) bool {
	switch s.op {
	case ">":
		return v > s.end
	case ">=":
		return v >= s.end
	case "<":
		return v < s.end
	case "<=":
		return v <= s.end
	}
	panic("param: a range cannot be parsed")
}

// mustNumber reads a number of a tag.
func mustNumber(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("param: a number in a tag cannot be parsed")
	}
	return v
}
