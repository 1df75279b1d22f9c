// Package fault defines the typed errors of bad input that all other layers share.
//
// Each error names the problem, its place (file, row, column or parameter) and what was expected,
// so that a program can use the fields and a person the message. [IsInput] returns true for all of
// them; the command line then exits with code 2.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Input is implemented by errors whose cause is the caller's data, files or parameters.
type Input interface {
	error
	// InputFault marks the error as caused by input; it does nothing.
	InputFault()
}

// IsInput reports whether err, or an error that it wraps, was caused by the caller's input.
func IsInput(err error) bool {
	var in Input
	return errors.As(err, &in)
}

// ParamError reports a parameter whose value is not acceptable.
type ParamError struct {
	Param string // name as the user writes it: "eps", "--neighbors"
	Value any    // what was given
	Want  string // what was expected: "a number > 0"
}

func (e *ParamError) Error() string {
	return fmt.Sprintf("%s is %s: want %s", e.Param, quoteValue(e.Value), e.Want)
}

// InputFault marks the error as caused by input.
func (e *ParamError) InputFault() {}

// Param is shorthand for a ParamError whose Want is formatted.
func Param(param string, value any, want string, args ...any) *ParamError {
	return &ParamError{param, value, fmt.Sprintf(want, args...)}
}

func quoteValue(v any) string {
	s, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	const limit = 200 // bytes, enough to recognize the value
	if len(s) <= limit {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s... (%d bytes)", strconv.Quote(strings.ToValidUTF8(s[:limit], "")), len(s))
}

// DataError reports a problem at a place in a file or in an array of data.
//
// Line is 0, Row is -1 and Column is "" if they do not apply.
type DataError struct {
	File   string // path as given, "-" for a stream, "" for data in memory
	Line   int    // 1-based line in a text file, 0 if none
	Row    int    // 0-based data row, -1 if none
	Column string // column name, or its 0-based number in decimal
	Err    error  // what is wrong and what was expected
}

func (e *DataError) Error() string {
	var at []string
	if e.File != "" {
		at = append(at, e.File)
	}
	if e.Line > 0 {
		at = append(at, fmt.Sprintf("line %d", e.Line))
	}
	if e.Row >= 0 {
		at = append(at, fmt.Sprintf("row %d", e.Row))
	}
	if e.Column != "" {
		at = append(at, fmt.Sprintf("column %s", strconv.Quote(e.Column)))
	}
	if len(at) == 0 {
		return e.Err.Error()
	}
	return strings.Join(at, ", ") + ": " + e.Err.Error()
}

func (e *DataError) Unwrap() error { return e.Err }

// InputFault marks the error as caused by input.
func (e *DataError) InputFault() {}

// Data is shorthand for a DataError about a whole file.
func Data(file, format string, args ...any) *DataError {
	return &DataError{File: file, Row: -1, Err: fmt.Errorf(format, args...)}
}

// Row is shorthand for a DataError about a row in memory.
func Row(row int, format string, args ...any) *DataError {
	return &DataError{Row: row, Err: fmt.Errorf(format, args...)}
}

// Cell is shorthand for a DataError about one value in memory.
func Cell(row int, column, format string, args ...any) *DataError {
	return &DataError{Row: row, Column: column, Err: fmt.Errorf(format, args...)}
}

// ShapeError reports an object of the wrong size, such as points whose number of
// features is not the model's.
type ShapeError struct {
	What string // "number of features"
	Got  int
	Want string // "34, as the model was fitted on"
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("%s is %d: want %s", e.What, e.Got, e.Want)
}

// InputFault marks the error as caused by input.
func (e *ShapeError) InputFault() {}

// Shape is shorthand for a ShapeError whose Want is formatted.
func Shape(what string, got int, want string, args ...any) *ShapeError {
	return &ShapeError{what, got, fmt.Sprintf(want, args...)}
}

// MemoryError reports a request that would exceed the memory limit.
type MemoryError struct {
	What  string // the request: "kernel matrix 50000 x 50000"
	Need  int64  // bytes
	Limit int64  // bytes
	Hint  string // what to do: "use landmarks=2000"
}

func (e *MemoryError) Error() string {
	need, limit := FormatBytes(e.Need)+", limit ", FormatBytes(e.Limit)
	if strings.HasPrefix(need, limit+",") { // they differ in digits that are not shown
		need = "more than the limit "
	}
	s := e.What + " needs " + need + limit
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// InputFault marks the error as caused by input.
func (e *MemoryError) InputFault() {}

// Count writes a number of things: "1 row", "2 rows", "3 passes", "4 batches".
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// FormatBytes writes a byte count with one decimal and a binary unit: "18.6 GiB".
func FormatBytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, suffix := float64(n)/unit, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB", "PiB"} {
		if v < unit {
			break
		}
		v, suffix = v/unit, next
	}
	return fmt.Sprintf("%.1f %s", v, suffix)
}

// InFile adds the name of the file to an input error. It returns errors that already name a file,
// and other errors, unchanged.
func InFile(err error, path string) error {
	if err == nil || path == "" || !IsInput(err) {
		return err
	}
	de, ok := errors.AsType[*DataError](err)
	switch {
	case ok && de.File != "", strings.HasPrefix(err.Error(), path+": "): // it is named
		return err
	case ok && error(de) == err:
		named := *de
		named.File = path
		return &named
	}
	return fmt.Errorf("%s: %w", path, err)
}

// InSelection converts the row number of an error from its number among the selected rows to that
// among all rows; rows are the numbers of the selected ones.
func InSelection(err error, rows []int) error {
	if de, ok := errors.AsType[*DataError](err); ok && de.Row >= 0 && de.Row < len(rows) && error(de) == err {
		moved := *de
		moved.Row = rows[de.Row]
		return &moved
	}
	return err
}

// InRows converts the row number of an error from its number in a block to that among all rows;
// first is the number of the block's first row.
func InRows(err error, first int) error {
	if de, ok := errors.AsType[*DataError](err); ok && de.Row >= 0 && error(de) == err {
		moved := *de
		moved.Row += first
		return &moved
	}
	return err
}

// Unknown returns the error for a name that is not among choices: it lists them, and suggests the
// nearest one. param is the kind of name: "method", "kernel", "parameter of krca".
func Unknown(param, got string, choices []string) *ParamError {
	want := "one of " + strings.Join(choices, ", ") + DidYouMean("", got, choices)
	return &ParamError{Param: param, Value: got, Want: want}
}

// DidYouMean returns the end of a message about a wrong name: `; did you mean "rbf"?` with the
// nearest choice, or "" if none is near. The name follows prefix, such as "--" of a flag.
func DidYouMean(prefix, got string, choices []string) string {
	near := Nearest(got, choices)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", prefix+near)
}

// Nearest returns the choice with the smallest edit distance from s, ties to the earlier one, or ""
// if none is within a third of the longer length (at least 2).
func Nearest(s string, choices []string) string {
	best, bestDistance := "", 1<<30
	for _, c := range choices {
		most := max(2, max(len(s), len(c))/3)
		if max(len(s)-len(c), len(c)-len(s)) > most {
			continue // the distance is at least this large, and s may have megabytes
		}
		d := editDistance(strings.ToLower(s), strings.ToLower(c))
		if d < bestDistance && d <= most {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, substitutions and swaps of neighbors
// that turn a into b (optimal string alignment). Cost O(len(a) len(b)).
func editDistance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = slices.Min([]int{prev[j] + 1, cur[j-1] + 1, prev[j-1] + cost})
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
