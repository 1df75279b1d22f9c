// Package param (engine room: may change) reads the tags of parameter structs: names, defaults,
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
