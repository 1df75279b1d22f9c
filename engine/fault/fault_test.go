package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func TestIsInput(t *testing.T) {
	inputs := []error{
		&fault.ParamError{}, &fault.ShapeError{}, &fault.MemoryError{},
		&fault.DataError{Row: -1, Err: errors.New("bad")}, fault.Data("f", "bad"),
		fault.Unknown("kernel", "x", nil),
	}
	for _, err := range inputs {
		if !fault.IsInput(err) || !fault.IsInput(fmt.Errorf("reading: %w", err)) ||
			!fault.IsInput(errors.Join(errors.New("a"), err)) {
			t.Errorf("%T is not recognized as caused by input", err)
		}
	}
	for _, err := range []error{nil, errors.New("disk failed"),
		fmt.Errorf("wrapped: %w", errors.New("disk failed"))} {
		if fault.IsInput(err) {
			t.Errorf("%v is taken as caused by input", err)
		}
	}
}

func TestMessages(t *testing.T) {
	cases := []struct {
		err  error
		want string
	}{
		{&fault.ParamError{Param: "eps", Value: -1.5, Want: "a number > 0"},
			`eps is -1.5: want a number > 0`},
		{&fault.ParamError{Param: "graph", Value: "a b", Want: "knn"}, `graph is "a b": want knn`},
		{&fault.DataError{File: "x.csv", Line: 3, Row: 1, Column: "age", Err: errors.New("bad")},
			`x.csv, line 3, row 1, column "age": bad`},
		{&fault.DataError{Row: 0, Err: errors.New("bad")}, `row 0: bad`},
		{&fault.DataError{Row: -1, Err: errors.New("bad")}, `bad`},
		{fault.Data("x.csv", "%d rows", 0), `x.csv: 0 rows`},
		{&fault.ShapeError{What: "number of features", Got: 3, Want: "4"}, `number of features is 3: want 4`},
		{&fault.MemoryError{What: "matrix", Need: 3 << 30, Limit: 1 << 20},
			`matrix needs 3.0 GiB, limit 1.0 MiB`},
		{&fault.MemoryError{What: "matrix", Need: 1500, Limit: 1023, Hint: "use less"},
			`matrix needs 1.5 KiB, limit 1023 B: use less`},
		{&fault.MemoryError{What: "matrix", Need: 1<<20 + 1, Limit: 1 << 20},
			`matrix needs more than the limit 1.0 MiB`},
	}
	for _, c := range cases {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestDataErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	if err := error(&fault.DataError{Row: -1, Err: cause}); !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
}

func TestCount(t *testing.T) {
	for want, c := range map[string]struct {
		n    int
		noun string
	}{"0 rows": {0, "row"}, "1 row": {1, "row"}, "3 passes": {3, "pass"}, "4 batches": {4, "batch"}} {
		if got := fault.Count(c.n, c.noun); got != want {
			t.Errorf("%q: want %q", got, want)
		}
	}
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB",
		19972015308: "18.6 GiB", 5 << 40: "5.0 TiB", 1<<63 - 1: "8192.0 PiB"} {
		if got := fault.FormatBytes(n); got != want {
			t.Errorf("FormatBytes(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	methods := []string{"krca", "kbeta", "npkl", "lleratio", "gml", "itml"}
	for _, c := range []struct{ got, want string }{
		{"krca", "krca"}, {"KRCA", "krca"}, {"kcra", "krca"}, {"krac", "krca"}, {"kbata", "kbeta"},
		{"lle-ratio", "lleratio"}, {"gm", "gml"}, {"xxxxxxxxxx", ""},
	} {
		if got := fault.Nearest(c.got, methods); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.got, got, c.want)
		}
	}
	if got := fault.Nearest("a", nil); got != "" {
		t.Errorf("no choices: got %q", got)
	}
}

// Nearest finds every name with one typing error, if all other names are far from it.
func TestNearestFindsSlips(t *testing.T) {
	names := []string{"neighbors", "iterations", "landmarks", "orthogonality"}
	propertytest.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		at := rapid.IntRange(0, len(name)-2).Draw(t, "at")
		letter := rapid.StringMatching("[a-z]").Draw(t, "letter")
		slip := map[string]string{
			"drop":    name[:at] + name[at+1:],
			"insert":  name[:at] + letter + name[at:],
			"replace": name[:at] + letter + name[at+1:],
			"swap":    name[:at] + name[at+1:at+2] + name[at:at+1] + name[at+2:],
		}[rapid.SampledFrom([]string{"drop", "insert", "replace", "swap"}).Draw(t, "slip")]
		if got := fault.Nearest(slip, names); got != name {
			t.Fatalf("Nearest(%q) = %q, want %q", slip, got, name)
		}
	})
}

// A name of megabytes, as in a hostile file, is not compared and is shortened in the message.
func TestUnknownLongName(t *testing.T) {
	long := strings.Repeat("kr\u00e4c", 1<<20)
	if text := fault.Unknown("method", long, []string{"krca", "rca"}).Error(); len(text) > 400 ||
		!strings.Contains(text, "(5242880 bytes)") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	const start = "method is \"kräckräck"
	if text := fault.Unknown("method", long, nil).Error(); !strings.HasPrefix(text, start) ||
		!utf8.ValidString(text) {
		t.Errorf("%.300q", text)
	}
}

func TestUnknown(t *testing.T) {
	err := fault.Unknown("kernel", "rfb", []string{"linear", "rbf"})
	if err.Param != "kernel" || err.Value != "rfb" || err.Want != `one of linear, rbf; did you mean "rbf"?` {
		t.Errorf("got %v", err)
	}
	if err := fault.Unknown("kernel", "zzzzzzzz", []string{"linear", "rbf"}); strings.Contains(err.Error(),
		"did you mean") {
		t.Errorf("nothing is near: %v", err)
	}
}

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
		{&fault.ShapeError{What: "number of features", Got: 3, Want: "4"},
			"x.csv: number of features is 3: want 4"},
		{disk, "disk on fire"},
	} {
		if got := fault.InFile(c.err, "x.csv"); got.Error() != c.want || !errors.Is(got, c.err) &&
			fault.IsInput(got) != fault.IsInput(c.err) {
			t.Errorf("%v: %v, want %s", c.err, got, c.want)
		}
		if named := fault.InFile(c.err, "x.csv"); fault.InFile(named, "x.csv") != named {
			t.Errorf("%v is named twice: %v", c.err, fault.InFile(named, "x.csv"))
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
	for _, err := range []error{fault.Data("x.csv", "bad"), &fault.DataError{Row: 2, Err: errors.New("bad")},
		fmt.Errorf("around: %w", bad)} {
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
	for _, err := range []error{fault.Data("x.csv", "bad"), fmt.Errorf("around: %w", bad),
		errors.New("disk on fire")} {
		if got := fault.InRows(err, 100); got != err {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}

// Input errors state the given value and what was expected; IsInput distinguishes them from
// failures.
func Example() {
	err := fmt.Errorf("reading flags: %w", fault.Unknown("kernel", "rfb", []string{"linear", "rbf"}))
	param, ok := errors.AsType[*fault.ParamError](err)
	fmt.Println(fault.IsInput(err), ok, param.Param)
	fmt.Println(fault.IsInput(errors.New("disk on fire")))
	// Output:
	// true true kernel
	// false
}
