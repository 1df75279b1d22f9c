package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
)

// Problem is one problem of a file and what to do about it.
type Problem struct {
	Err *fault.DataError // where it is and what is wrong
	Fix string           // a suggestion: "give the cell a number, or remove the row"
}

func (p Problem) String() string {
	if p.Fix == "" {
		return p.Err.Error()
	}
	return p.Err.Error() + " (" + p.Fix + ")"
}

// errStop ends decoding after enough problems, or after one that prevents further decoding. The
// problems themselves are in the report.
var errStop = errors.New("dataset: problems were reported")

// report collects problems. Readers stop at the first, checks at the max-th.
type report struct {
	file     string
	max      int
	problems []Problem
	badRow   func(e *fault.DataError) // called for skipped rows, or nil
	bad      map[int]bool             // the rows skipped since the last takeBad
}

// add records a problem and returns errStop if decoding should end.
func (r *report) add(e *fault.DataError, fix string) error {
	e.File = cmp.Or(e.File, r.file)
	if r.badRow != nil && e.Row >= 0 {
		if !r.bad[e.Row] {
			r.bad[e.Row] = true
			r.badRow(e)
		}
		return nil
	}
	r.problems = append(r.problems, Problem{Err: e, Fix: fix})
	if len(r.problems) >= r.max {
		return errStop
	}
	return nil
}

// takeBad returns the rows to skip and clears them.
func (r *report) takeBad() map[int]bool {
	bad := r.bad
	if len(bad) > 0 {
		r.bad = map[int]bool{}
	}
	return bad
}

// fatal records a problem of the file as a whole, after which decoding ends.
func (r *report) fatal(fix, format string, args ...any) error {
	return r.fatalAt(0, "", fix, format, args...)
}

// fatalAt is fatal for a problem at a place.
func (r *report) fatalAt(line int, column, fix, format string, args ...any) error {
	_ = r.add(errorAt(r.file, line, -1, column, format, args...), fix)
	return errStop
}

// errorAt returns an error at a place of a file; see fault.DataError for what does not apply.
func errorAt(file string, line, row int, column, format string, args ...any) *fault.DataError {
	e := fault.Data(file, format, args...)
	e.Line, e.Row, e.Column = line, row, column
	return e
}

// outcome returns the error of a reader: the first problem, or err if there is none.
func (r *report) outcome(err error) error {
	if len(r.problems) > 0 {
		return r.problems[0].Err
	}
	return err
}

// found returns the result of a check. A *fault.DataError that was returned as an error, such as
// that of a missing file, is a problem like the others.
func (r *report) found(err error) ([]Problem, error) {
	if err == nil || err == errStop {
		return r.problems, nil
	}
	if de, ok := errors.AsType[*fault.DataError](err); ok {
		return append(r.problems, Problem{Err: de}), nil
	}
	return r.problems, err
}

// Check reads the data file at path, with the other files that o names, and returns its problems,
// at most max of them (0: 100). Fewer than two points are a problem too. The error is for causes
// that prevent the check: an unknown format, or a failure of the disk.
func Check(path string, o ReadOptions, max int) ([]Problem, error) {
	rep := newReport(path, max)
	d, err := readData(Input{Name: path}, "", o, rep)
	if err == nil {
		err = d.AtLeast(2)
	}
	return rep.found(err)
}

// CheckLinks is [Check] for a file of links or chunklets.
// Errors are the same.
func CheckLinks(path string, c LinkContext, max int) ([]Problem, error) {
	rep := newReport(path, max)
	_, err := decodeInput(Input{Name: path}, rep, c.links)
	return rep.found(err)
}

func newReport(file string, max int) *report {
	if max <= 0 {
		max = 100
	}
	return &report{file: file, max: max}
}

// quote writes a value from a file for a message, shortened if it is long.
func quote(s string) string {
	const limit = 40
	if len(s) <= limit {
		return strconv.Quote(s)
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%q... (%d bytes)", s[:cut], len(s))
}
