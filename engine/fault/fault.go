// Package fault defines the typed errors of bad input that all other layers share.
//
// Each error names the problem, its place (file, row, column or parameter) and what was expected,
// so that a program can use the fields and a person the message. [IsInput] returns true for all of
// them; the command line then exits with code 2.
package fault

import (
	"errors"
	"fmt"
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

// MemoryError reports a request that would exceed the memory limit.
type MemoryError struct {
	What  string // the request: "kernel matrix 50000 x 50000"
	Need  int64  // bytes
	Limit int64  // bytes
	Hint  string // what to do: "use landmarks=2000"
}

func (e *MemoryError) Error() string {
	s := fmt.Sprintf("%s needs %s, limit %s", e.What, FormatBytes(e.Need), FormatBytes(e.Limit))
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// InputFault marks the error as caused by input.
func (e *MemoryError) InputFault() {}

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
