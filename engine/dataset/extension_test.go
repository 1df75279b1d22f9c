package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/gziptest"
)

// counting is a format whose files contain the number of rows, which are read in blocks of two: row
// i is i. A question mark is a problem.
type counting struct {
	rows, done int
	budget     Budget
}

func (c *counting) Count() int         { return c.rows }
func (c *counting) Features() []string { return []string{"number"} }
func (c *counting) Skip(n int) error   { c.done += n; return nil }
func (c *counting) Budget() *Budget    { return &c.budget }
func (c *counting) Next(limit int) (Rows, error) {
	n := min(2, limit, c.rows-c.done)
	if n == 0 {
		return Rows{}, io.EOF
	}
	var r Rows
	for range n {
		r.Data, r.IDs, r.Labels = append(r.Data, float64(c.done)), append(r.IDs, fmt.Sprint("r", c.done%6)),
			append(r.Labels, "x")
		c.done++
	}
	return r, nil
}

func countingFormat() Extension {
	return Extension{Name: "count", Endings: []string{".count"},
		Open: func(in io.ReaderAt, size int64, o ReadOptions,
			problem func(*fault.DataError, string) error) (RowReader, error) {
			b := make([]byte, size)
			if _, err := in.ReadAt(b, 0); err != nil && err != io.EOF {
				return nil, err
			}
			var n int
			if _, err := fmt.Sscan(string(b), &n); err != nil {
				return nil, fault.Data("", "no number: %w", err)
			}
			for i := range strings.Count(string(b), "?") {
				e := fault.Data("", "a question")
				e.Row = i
				if err := problem(e, "answer it"); err != nil {
					return nil, err
				}
			}
			return &counting{rows: n, budget: NewBudget(o.MemoryLimit, "rows", "")}, nil
		},
		Write: func(out io.Writer, columns []string, next func() (Rows, error)) error {
			fmt.Fprint(out, strings.Join(columns, " "))
			for {
				r, err := next()
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
				fmt.Fprint(out, ";", r.Data, r.IDs, r.Labels)
			}
		}}
}

// An extension reads and writes in blocks, and its errors name the file.
func TestExtension(t *testing.T) {
	o := ReadOptions{Extensions: []Extension{countingFormat()}}
	for _, name := range []string{"five.count", "five.count.gz"} {
		content := []byte("5")
		if strings.HasSuffix(name, "gz") {
			content = gziptest.Zip(content)
		}
		d, err := Read(write(t, name, content), o)
		x := dense(t, d, err)
		if !slices.Equal(x.Data, []float64{0, 1, 2, 3, 4}) || len(d.IDs) != 5 || len(d.Labels) != 5 ||
			d.Features[0] != "number" {
			t.Errorf("%s: %v, %+v", name, x, d)
		}
	}
	path := write(t, "bad.count", []byte("5 ? ?"))
	_, err := Read(path, o)
	wantData(t, err, path, place{0, 0, ""}, "question")
	if found, err := Check(path, o, 0); err != nil || len(found) != 2 || found[1].Fix != "answer it" {
		t.Errorf("check: %v, %v", found, err)
	}
	for _, c := range []struct {
		content string
		at      place
		words   string
	}{{"7", place{0, 6, "id"}, "row 0"}, {"x", place{0, -1, ""}, "no number"},
		{"0", place{0, -1, ""}, "no rows"}} {
		path := write(t, "data.count", []byte(c.content))
		_, err := Read(path, o)
		wantData(t, err, path, c.at, c.words)
	}
}

// A file may claim more rows than a limit allows, or than have a size in bytes: it is refused.
func TestExtensionClaims(t *testing.T) {
	o := ReadOptions{Extensions: []Extension{countingFormat()}, Mixed: true, MemoryLimit: 1 << 20}
	for _, rows := range []string{"200000", "1152921504606846976", "2305843009213693952",
		"9223372036854775807"} {
		path := write(t, "data.count", []byte(rows))
		var me *fault.MemoryError
		if _, err := Read(path, o); !errors.As(err, &me) || me.Need <= me.Limit {
			t.Errorf("%s rows: error %v, want one of memory", rows, err)
		}
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Labels and ids in blocks stay with their rows.
func TestExtensionWrites(t *testing.T) {
	blocks := []Rows{{Data: []float64{1, 2}, IDs: []string{"a"}, Labels: []string{"x"}},
		{Data: []float64{3, 4, 5, 6}, IDs: []string{"b", "c"}, Labels: []string{"y", "z"}}}
	for name, want := range map[string]string{"m.count": "0 1;[1 2] [a] [x];[3 4 5 6] [b c] [y z]",
		"m.csv": "id,0,1,label\na,1,2,x\nb,3,4,y\nc,5,6,z\n"} {
		path, at := filepath.Join(t.TempDir(), name), 0
		next := func() (Rows, error) {
			if at == len(blocks) {
				return Rows{}, io.EOF
			}
			at++
			return blocks[at-1], nil
		}
		o := WriteOptions{Extensions: []Extension{countingFormat()}}
		if err := WriteRows(path, -1, 2, next, o); err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, path); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	x := &points.Dense{N: 2, D: 1, Data: []float64{1, 2}}
	path := filepath.Join(t.TempDir(), "m.count")
	if err := WriteData(path, &Data{Points: x, Features: []string{"f"}},
		WriteOptions{Extensions: []Extension{countingFormat()}}); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, path); got != "f;[1 2] [] []" {
		t.Error(got)
	}
}
