package abi

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Column is a mustlink_column, with the same layout.
type Column struct {
	Name       unsafe.Pointer // char, or NULL
	Numbers    unsafe.Pointer // float64
	Codes      unsafe.Pointer // int32
	Levels     unsafe.Pointer // char *
	LevelCount int64
}

// columns reads a table: dense points if every cell is a number, else mixed ones.
func (p *Points) columns(keep bool) (*dataset.Data, error) {
	switch {
	case p.Rows < 0 || p.Cols < 1 || p.Rows > 1<<40 || p.Cols > math.MaxInt32:
		return nil, argument("the table has %d rows and %d columns: want rows >= 0 and columns >= 1", p.Rows,
			p.Cols)
	case p.Data == nil:
		return nil, argument("the data of the table are NULL: want its columns")
	case uintptr(p.Data)%8 != 0:
		return nil, argument("the columns of the table are not aligned: want a multiple of 8 bytes")
	}
	given := list[Column](p.Data, p.Cols)
	names, err := namesOf(given)
	if err != nil {
		return nil, err
	}
	x := &points.Mixed{N: int(p.Rows), Columns: make([]points.Column, len(given))}
	for j := range given {
		if x.Columns[j], err = given[j].read(p.Rows, keep); err != nil {
			return nil, inColumn(err, nameOf(names, j))
		}
	}
	if err := validate(x, names); err != nil {
		return nil, err
	}
	d := &dataset.Data{Points: x, Features: names}
	if dense, err := x.Dense(); err == nil {
		d.Points = dense
	}
	return d, nil
}

// validate checks the cells of a table, and then names its columns. A column without a name is
// called by its number in errors.
func validate(x *points.Mixed, names []string) error {
	for j := range x.Columns {
		x.Columns[j].Name = nameOf(names, j)
	}
	if err := x.Validate(); err != nil {
		return err
	}
	for j := range x.Columns {
		if names == nil {
			x.Columns[j].Name = ""
		}
	}
	return nil
}

// nameOf returns the name of a column, or its number.
func nameOf(names []string, j int) string {
	if names == nil {
		return strconv.Itoa(j)
	}
	return names[j]
}

// inColumn adds the column to an error about its memory or its texts.
func inColumn(err error, name string) error {
	if e, ok := err.(*Error); ok {
		return &Error{e.Code, fmt.Sprintf("column %q: %s", name, e.Text)}
	}
	return &fault.DataError{Row: -1, Column: name, Err: err}
}

// namesOf returns the names of columns, nil if none has one.
func namesOf(given []Column) ([]string, error) {
	names, known := make([]string, 0, len(given)), make(map[string]bool, len(given))
	for j := range given {
		if given[j].Name == nil {
			continue
		}
		name := textAt(given[j].Name)
		switch {
		case name == "":
			return nil, fault.Data("", "column %d has an empty name: want a name, or NULL for all columns", j)
		case !utf8.ValidString(name):
			return nil, fault.Data("", "the name %q of column %d is not UTF-8: want UTF-8", name, j)
		case known[name]:
			return nil, fault.Data("", "two columns have the name %q: want different names", name)
		}
		names, known[name] = append(names, name), true
	}
	switch len(names) {
	case 0:
		return nil, nil
	case len(given):
		return names, nil
	}
	j := slices.IndexFunc(given, func(c Column) bool { return c.Name == nil })
	return nil, argument(
		"column %d has no name, but others have: want names for all columns, or NULL for all", j)
}

// read returns the column without its name. With keep it shares no memory with the caller.
func (c *Column) read(rows int64, keep bool) (out points.Column, err error) {
	switch {
	case (c.Numbers == nil) == (c.Codes == nil):
		return out, argument("numbers and codes are both given, or both NULL: want one of them")
	case uintptr(c.Numbers)%8 != 0 || uintptr(c.Codes)%4 != 0 ||
		uintptr(c.Levels)%unsafe.Alignof(c.Levels) != 0:
		return out, argument("its memory is not aligned: want a multiple of the size of an element")
	case c.Numbers != nil:
		out.Numbers = orCopy(list[float64](c.Numbers, rows), keep)
		return out, nil
	}
	out.Codes = orCopy(list[int32](c.Codes, rows), keep)
	out.Levels, err = c.levels()
	return out, err
}

// orCopy returns the elements, or a copy of them. The result is not nil.
func orCopy[T any](x []T, keep bool) []T {
	if keep || x == nil {
		return append(make([]T, 0, len(x)), x...)
	}
	return x
}

// levels returns copies of the texts.
func (c *Column) levels() ([]string, error) {
	switch {
	case c.LevelCount < 0 || c.LevelCount > math.MaxInt32:
		return nil, argument("it has %d levels: want a number from 0 to %d", c.LevelCount, math.MaxInt32)
	case c.LevelCount > 0 && c.Levels == nil:
		return nil, argument("its levels are NULL: want %d texts", c.LevelCount)
	}
	out, known := make([]string, c.LevelCount), make(map[string]bool, c.LevelCount)
	for k, at := range list[unsafe.Pointer](c.Levels, c.LevelCount) {
		if at == nil {
			return nil, argument("level %d is NULL: want a text", k)
		}
		text := textAt(at)
		switch {
		case !utf8.ValidString(text):
			return nil, fmt.Errorf("level %d, %q, is not UTF-8: want UTF-8", k, text)
		case known[text]:
			return nil, fmt.Errorf("two levels are %q: want different levels", text)
		}
		out[k], known[text] = text, true
	}
	return out, nil
}

// textAt returns a copy of the text that ends in a zero byte.
func textAt(at unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(at, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(at), n))
}

// withGaps returns dense points as a table, in which NaN is a missing number.
func withGaps(x *points.Dense, names []string) (*points.Mixed, error) {
	out := &points.Mixed{N: x.N, Columns: make([]points.Column, x.D)}
	for j := range out.Columns {
		out.Columns[j].Numbers = make([]float64, x.N)
	}
	squares(x.N, x.D, func(i, lo, hi int) {
		for j := lo; j < hi; j++ {
			out.Columns[j].Numbers[i] = x.Data[i*x.D+j]
		}
	})
	return out, validate(out, names)
}

// Links are a mustlink_links.
type Links struct {
	Pairs    int64
	Pair     unsafe.Pointer // int64, two for each pair
	Sign     unsafe.Pointer // int8
	Weight   unsafe.Pointer // float64
	Bound    unsafe.Pointer // float64
	Triplets int64
	Triplet  unsafe.Pointer // int64, three for each triplet
	Rows     int64
	Group    unsafe.Pointer // int64
	Label    unsafe.Pointer // int64
}

// check returns an error for bad numbers, and for arrays that are NULL but not empty.
func (l *Links) check(n int) error {
	switch {
	case l.Pairs < 0 || l.Pairs > math.MaxInt32 || l.Triplets < 0 || l.Triplets > math.MaxInt32:
		return argument("there are %d pairs and %d triplets: want numbers from 0 to %d", l.Pairs, l.Triplets,
			math.MaxInt32)
	case l.Pairs > 0 && (l.Pair == nil || l.Sign == nil):
		return argument("pair or sign of the links is NULL: want arrays for %d pairs", l.Pairs)
	case l.Triplets > 0 && l.Triplet == nil:
		return argument("triplet of the links is NULL: want an array of %d triplets", l.Triplets)
	case (l.Group != nil || l.Label != nil) && l.Rows != int64(n):
		return fault.Shape("number of groups or labels", int(l.Rows), "%d, one for each point", n)
	}
	return nil
}

// set returns the links between n points for a method. A nil l has none.
func (l *Links) set(n int, method catalog.Method) (*links.Set, error) {
	if l == nil {
		return links.New(n, nil)
	}
	if err := l.check(n); err != nil {
		return nil, err
	}
	set, err := links.New(n, l.pairs())
	if err != nil {
		return nil, err
	}
	if l.Group != nil {
		groups, err := links.FromChunklets(n, groupRows(list[int64](l.Group, l.Rows)))
		if err != nil {
			return nil, err
		}
		if set, err = union(set, groups); err != nil {
			return nil, err
		}
	}
	if l.Label != nil {
		labeled, err := impliedLinks(list[int64](l.Label, l.Rows), method)
		if err != nil {
			return nil, err
		}
		return union(set, labeled)
	}
	return set, nil
}

// union returns the union of two sets. When one is nil it returns the other unchanged, with its
// origin.
func union(a, b *links.Set) (*links.Set, error) {
	if a.Len() == 0 {
		return b, nil
	}
	return links.Union(a, b)
}

func (l *Links) pairs() []links.Link {
	pair, sign := list[int64](l.Pair, 2*l.Pairs), list[int8](l.Sign, l.Pairs)
	out := make([]links.Link, l.Pairs)
	for k := range out {
		out[k] = links.Link{I: int(pair[2*k]), J: int(pair[2*k+1]), Sign: links.Sign(sign[k])}
		if l.Weight != nil {
			out[k].Weight = list[float64](l.Weight, l.Pairs)[k]
		}
		if l.Bound != nil {
			out[k].Bound = list[float64](l.Bound, l.Pairs)[k]
		}
	}
	return out
}

func (l *Links) triplets() []links.Triplet {
	if l == nil || l.Triplets == 0 {
		return nil
	}
	rows := list[int64](l.Triplet, 3*l.Triplets)
	out := make([]links.Triplet, l.Triplets)
	for k := range out {
		out[k] = links.Triplet{I: int(rows[3*k]), J: int(rows[3*k+1]), K: int(rows[3*k+2])}
	}
	return out
}

// groupRows returns the rows of each number >= 0, in the order of their first rows.
func groupRows(number []int64) [][]int {
	at := map[int64]int{}
	var out [][]int
	for i, g := range number {
		if g < 0 {
			continue
		}
		k, known := at[g]
		if !known {
			k = len(out)
			at[g] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	return out
}

// labelTexts returns labels as text for the library, "" for unlabeled rows.
func labelTexts(label []int64) []string {
	out := make([]string, len(label))
	for i, v := range label {
		if v >= 0 {
			out[i] = strconv.FormatInt(v, 10)
		}
	}
	return out
}

// impliedLinks returns all links that labels imply: every pair for a method that learns from pairs,
// classes for others.
func impliedLinks(label []int64, method catalog.Method) (*links.Set, error) {
	set, err := links.FromLabels(labelTexts(label))
	if err != nil || !method.Pairwise {
		return set, err
	}
	set, err = set.Closure()
	if e, tooMany := errors.AsType[*fault.MemoryError](err); tooMany {
		e.Hint = "the labels imply every pair: draw some of them"
	}
	return set, err
}

// SampleLinks implements mustlink_sample_links.
func SampleLinks(label unsafe.Pointer, rows, must, cannot int64, seed uint64, pair unsafe.Pointer) error {
	switch {
	case rows < 0 || must > math.MaxInt32 || cannot > math.MaxInt32:
		return argument("there are %d rows, %d must-links and %d cannot-links: want numbers from 0 to %d",
			rows, must, cannot, math.MaxInt32)
	case rows > 0 && label == nil:
		return argument("the labels are NULL: want a pointer")
	case max(must, cannot) > 0 && pair == nil:
		return argument("the output for pairs is NULL: want a pointer")
	}
	set, err := links.SampleByCount(labelTexts(list[int64](label, rows)), int(must), int(cannot), seed)
	if err != nil {
		return err
	}
	out := list[int64](pair, 2*(must+cannot))
	for k, l := range append(append([]links.Link(nil), set.Must()...), set.Cannot()...) {
		out[2*k], out[2*k+1] = int64(l.I), int64(l.J)
	}
	return nil
}
