package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

// An input error gets the name of the file once; other errors, and those with a name, stay
// unchanged.
func TestInFile(t *testing.T) {
	disk := errors.New("disk on fire")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fault.DataError{Row: 3, Err: errors.New("bad")}, "x.csv, row 3: bad"},
		{&fault.DataError{File: "y.csv", Row: -1, Err: errors.New("bad")}, "y.csv: bad"},
		{&fault.ShapeError{What: "number of features", Got: 3, Want: "4"}, "x.csv: number of features is 3: want 4"},
		{disk, "disk on fire"},
	} {
		if got := fault.InFile(c.err, "x.csv"); got.Error() != c.want || !errors.Is(got, c.err) && fault.IsInput(got) != fault.IsInput(c.err) {
			t.Errorf("%v: %v, want %s", c.err, got, c.want)
		}
		if got := fault.InFile(c.err, ""); got != c.err {
			t.Errorf("%v: with an empty name it becomes %v", c.err, got)
		}
	}
	if fault.InFile(nil, "x.csv") != nil {
		t.Error("nil becomes an error")
	}
}

// The row of a selection becomes that of the whole.
func TestInSelection(t *testing.T) {
	bad := &fault.DataError{File: "x.csv", Row: 1, Err: errors.New("bad")}
	if got := fault.InSelection(bad, []int{4, 9}); got.Error() != "x.csv, row 9: bad" || bad.Row != 1 {
		t.Errorf("%v, and the error itself is %v", got, bad)
	}
	for _, err := range []error{fault.Data("x.csv", "bad"), &fault.DataError{Row: 2, Err: errors.New("bad")}, fmt.Errorf("around: %w", bad)} {
		if got := fault.InSelection(err, []int{4, 9}); got != err {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}

// The row of a block becomes that of the whole; an error without a row, or one that wraps an error
// with a row, stays unchanged.
func TestInRows(t *testing.T) {
	bad := &fault.DataError{File: "x.csv", Row: 3, Err: errors.New("bad")}
	if got := fault.InRows(bad, 100); got.Error() != "x.csv, row 103: bad" || bad.Row != 3 {
		t.Errorf("%v, and the error itself is %v", got, bad)
	}
	for _, err := range []error{fault.Data("x.csv", "bad"), fmt.Errorf("around: %w", bad), errors.New("disk on fire")} {
		if got := fault.InRows(err, 100); got != err {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}
