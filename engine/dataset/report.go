package dataset

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Problem is one thing wrong in a file and what to do about it.
type Problem struct {
	Err  *fault.DataError // where and what
	Mend string           // a suggestion: "give the cell a number, or remove the row"
}

func (p Problem) String() string {
	if p.Mend == "" {
		return p.Err.Error()
	}
	return p.Err.Error() + " (" + p.Mend + ")"
}

// errStop ends decoding when enough problems are known, or when one leaves no way to go
// on. The problems themselves are in the report.
var errStop = errors.New("dataset: problems were reported")

// report collects problems. Readers stop at the first, checks at the max-th.
type report struct {
	file     string
	max      int
	problems []Problem
	passOver func(e *fault.DataError) // for rows that are left out, or nil
	wrong    map[int]bool             // these rows, since they were last looked at
}

// add notes a problem and returns errStop when decoding should end.
func (r *report) add(e *fault.DataError, mend string) error {
	if e.File == "" {
		e.File = r.file
	}
	if r.passOver != nil && e.Row >= 0 {
		if !r.wrong[e.Row] {
			r.wrong[e.Row] = true
			r.passOver(e)
		}
		return nil
	}
	r.problems = append(r.problems, Problem{Err: e, Mend: mend})
	if len(r.problems) >= r.max {
		return errStop
	}
	return nil
}

// takeWrong returns the rows to leave out and forgets them.
func (r *report) takeWrong() map[int]bool {
	wrong := r.wrong
	if len(wrong) > 0 {
		r.wrong = map[int]bool{}
	}
	return wrong
}

// fatal notes a problem of the file as a whole, after which there is no going on.
func (r *report) fatal(mend, format string, args ...any) error {
	_ = r.add(fault.Data(r.file, format, args...), mend)
	return errStop
}

// outcome returns the error of a reader: the first problem, or else err.
func (r *report) outcome(err error) error {
	if len(r.problems) > 0 {
		return r.problems[0].Err
	}
	return err
}

// found returns the outcome of a check. A *fault.DataError that came as a plain error,
// such as a missing file, is a problem like the others.
func (r *report) found(err error) ([]Problem, error) {
	if err == nil || err == errStop {
		return r.problems, nil
	}
	if de, ok := errors.AsType[*fault.DataError](err); ok {
		return append(r.problems, Problem{Err: de}), nil
	}
	return r.problems, err
}

// Check reads the data file at path, with everything that o adds to it, and returns what
// is wrong with it: all of it, but at most max problems (0: 100). It also reports a set
// of fewer than two points. The error is for what keeps it from looking: a format that is
// not known, or a failure of the disk.
func Check(path string, o ReadOptions, max int) ([]Problem, error) {
	rep := newReport(path, max)
	d, err := readData(path, o, rep)
	if err == nil {
		err = d.AtLeast(2)
	}
	return rep.found(err)
}

// CheckLinks is [Check] for a file of links or chunklets.
// Errors are the same.
func CheckLinks(path string, c LinkContext, max int) ([]Problem, error) {
	rep := newReport(path, max)
	_, err := fromFile(path, func(src *source) (*links.Set, error) { return decodeLinks(src, c, rep) })
	return rep.found(err)
}

func newReport(file string, max int) *report {
	if max <= 0 {
		max = 100
	}
	return &report{file: file, max: max}
}

// count writes "1 row", "2 rows".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// quote writes a value from a file for a message, cut when it is long.
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
