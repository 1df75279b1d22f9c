// Package param (engine room: may change) reads what structs of parameters say of themselves in the
// tags of their fields: names, defaults, ranges, choices and help. Everything that shows, sets or
// checks parameters follows from it.
//
//	type Params struct {
//		Rank  int     `param:"rank" default:"root" named:"root=-1: the root of the points" zero:"all" help:"directions"`
//		Tol   float64 `param:"tol" default:"1e-3" range:"> 0, < 1" help:"change that ends the fit"`
//		Mode  Mode    `param:"mode" default:"full" choices:"full (all points),linear" help:"coordinates to learn in"`
//		Heat  bool    `param:"heat" help:"true weighs edges by their lengths"`
//		Shape `default:"rank=5"`
//	}
//
// The tags of a field, which is an int, a float64, a bool or a string:
//
//   - param is its name; fields without this tag, or with "-", are none of this package's.
//   - default is its default, as a person writes it. Without one it is the zero of the type.
//   - range holds bounds with >, >=, < and <=, separated by commas. An int without it is >= 0; a float64 is finite in any case.
//   - named gives words that stand for numbers, separated by semicolons, perhaps with their meaning. The numbers count as in range.
//   - zero says what 0 stands for, which then counts as in range; of a string, what "" does.
//   - choices holds the values that a string can have, separated by commas, perhaps with their meaning in parentheses; also
//     holds others that programs may give and people do not, without a meaning.
//   - oneof names a group of numbers of which exactly one is not 0.
//   - help is its meaning in one line, unit the unit of its value ("help in unit").
//   - file says what a file holds that can be given as @FILE; whoever reads it sets the value.
//
// An embedded struct contributes its fields. Tags default and choices of its own replace those of
// its fields: default:"name=value; name=value".
//
// Tags that cannot be read are mistakes of a program, and panic.
package param
