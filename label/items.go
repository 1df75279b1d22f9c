package label

import (
	"cmp"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

// Kind says how a column is shown.
type Kind string

// The kinds: a value in a table, a running text whose words are compared, and a sequence of
// letters.
const (
	Value    Kind = "value"
	Text     Kind = "text"
	Sequence Kind = "sequence"
)

// Column is something that people see of rows.
type Column struct {
	Name string
	Kind Kind
	Text func(row int) string
	// Number returns the value of a column of numbers, NaN for a missing one; it is nil for texts.
	Number func(row int) float64
	unit   float64 // standard deviation
}

// ColumnsOf returns the columns of data as people see them. Cost: O(rows columns).
func ColumnsOf(d *dataset.Data) (out []Column) {
	defer func() { measure(out, d.Points.Len()) }()
	switch x := d.Points.(type) {
	case *points.Mixed:
		for j := range x.Columns {
			c := &x.Columns[j]
			if !c.IsText() {
				out = append(out, numbers(c.Name, func(i int) float64 { return c.Numbers[i] }))
				continue
			}
			out = append(out, Column{Name: c.Name, Kind: Value, Text: func(i int) string {
				if c.Codes[i] < 0 {
					return ""
				}
				return c.Levels[c.Codes[i]]
			}})
		}
	case *points.Dense:
		for j := range x.D {
			name := strconv.Itoa(j)
			if j < len(d.Features) {
				name = d.Features[j]
			}
			out = append(out, numbers(name, func(i int) float64 { return x.Row(i)[j] }))
		}
	case *points.Sequences:
		out = append(out, Column{Name: "letters", Kind: Sequence, Text: func(i int) string {
			return string(x.Row(i))
		}})
	}
	return out
}

func numbers(name string, at func(i int) float64) Column {
	return Column{Name: name, Kind: Value, Number: at, Text: func(i int) string {
		if v := at(i); !math.IsNaN(v) {
			return strconv.FormatFloat(v, 'g', 6, 64)
		}
		return ""
	}}
}

// shownColumns is the number of columns of a question. If there are more, those that differ most
// are shown.
const shownColumns = 20

// The longest cell, name of a row, and name of a column that are shown, in bytes.
const (
	longest       = 20_000
	longestName   = 200
	longestColumn = 60
)

// item is a row as people see it.
type item struct {
	Row   int      `json:"row"`
	Name  string   `json:"name"`
	Image bool     `json:"image"`
	Cells []string `json:"cells"`
}

// shown are the columns of items.
type shown struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// question is a pair of rows as people see it.
type question struct {
	A       item    `json:"a"`
	B       item    `json:"b"`
	Columns []shown `json:"columns"`
	// by column: other texts, or numbers more than a standard deviation apart
	Differs []bool `json:"differs"`
	All     bool   `json:"all"`  // show columns that do not differ, too
	Left    int    `json:"left"` // columns that are not shown
	// what the links imply, for a pair that a person chose, or an answer in doubt
	Known string `json:"known"`
	Again bool   `json:"again"` // the calibration finds the answer wrong
}

// measure computes the standard deviations of the columns of numbers.
func measure(columns []Column, n int) {
	for k := range columns {
		c := &columns[k]
		if c.Number == nil || c.unit > 0 {
			continue
		}
		var sum, squares, count float64
		for i := range n {
			if v := c.Number(i); !math.IsNaN(v) {
				count++
				d := v - sum/max(1, count-1) // from the mean so far: Welford's recurrence
				sum += v
				squares += d * (v - sum/count)
			}
		}
		c.unit = math.Sqrt(squares / max(1, count))
	}
}

// difference of a column between rows: standard deviations, or 1 for different texts.
func (c *Column) difference(i, j int) float64 {
	if c.Number != nil {
		d := math.Abs(c.Number(i) - c.Number(j))
		if math.IsNaN(d) {
			d = c.unit
		}
		if c.unit > 0 {
			d /= c.unit
		}
		return d
	}
	if c.Text(i) != c.Text(j) {
		return 1
	}
	return 0
}

// Differing returns the columns to show of rows i and j, in their order, and how many are left out:
// of more than 20 those stay that differ most.
func Differing(columns []Column, i, j int) (list []*Column, left int) {
	for k := range columns {
		list = append(list, &columns[k])
	}
	if left = len(list) - shownColumns; left <= 0 {
		return list, 0
	}
	order := slices.Clone(list)
	gap := make(map[*Column]float64, len(list))
	for _, c := range list {
		if gap[c] = c.difference(i, j); c.Kind != Value {
			gap[c] = math.Inf(1)
		}
	}
	slices.SortStableFunc(order, func(a, b *Column) int { return cmp.Compare(gap[b], gap[a]) })
	order = order[:shownColumns]
	return slices.DeleteFunc(list, func(c *Column) bool { return !slices.Contains(order, c) }), left
}

// item returns a row with some columns.
func (s *Session) item(i int, columns []*Column) item {
	out := item{Row: i, Name: s.name(i),
		Image: s.o.Images != nil && s.o.Images.path(i) != "", Cells: []string{}}
	for _, c := range columns {
		out.Cells = append(out.Cells, cut(c.Text(i), longest))
	}
	return out
}

// cut returns at most so many bytes of a text, in whole letters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// question returns a pair of rows.
func (s *Session) question(i, j int) question {
	columns, left := Differing(s.o.Columns, i, j)
	q := question{A: s.item(i, columns), B: s.item(j, columns), Left: left, Columns: []shown{},
		Differs: []bool{}, All: s.o.All}
	for _, c := range columns {
		q.Columns = append(q.Columns, shown{cut(c.Name, longestColumn), c.Kind})
		q.Differs = append(q.Differs, c.difference(i, j) >= 1)
	}
	s.mu.Lock()
	q.Known, q.Again = s.groups.known(i, j), s.again[pairOf(i, j)]
	s.mu.Unlock()
	return q
}

// groupSize is the number of rows in the grid of the group mode.
const groupSize = 12

// group is a row and rows near to it about which the links say nothing.
type group struct {
	Anchor  item    `json:"anchor"`
	Items   []item  `json:"items"`
	Columns []shown `json:"columns"`
}

// near returns the group of a row: the nearest rows in the metric learned so far.
func (s *Session) near(row int) group {
	s.mu.Lock()
	y := s.fit.learned
	s.mu.Unlock()
	far := make([]float64, s.n)
	for i := range far {
		far[i] = points.SquaredDistance(y.Row(row), y.Row(i))
	}
	var best []int
	s.mu.Lock()
	for i, d := range far {
		if i == row || len(best) == groupSize && d >= far[best[groupSize-1]] ||
			s.groups.known(row, i) != "" || s.passed[pairOf(row, i)] {
			continue
		}
		k, _ := slices.BinarySearchFunc(best, d, func(o int, d float64) int { return cmp.Compare(far[o], d) })
		best = slices.Insert(best, k, i)
		best = best[:min(len(best), groupSize)]
	}
	s.mu.Unlock()
	columns, _ := Differing(s.o.Columns, row, row)
	g := group{Anchor: s.item(row, columns), Items: []item{}, Columns: []shown{}}
	for _, i := range best {
		g.Items = append(g.Items, s.item(i, columns))
	}
	for _, c := range columns {
		g.Columns = append(g.Columns, shown{cut(c.Name, longestColumn), c.Kind})
	}
	return g
}

// Images are the pictures of rows, files below one folder.
type Images struct {
	root *os.Root
	path func(row int) string
}

// NewImages returns the pictures of rows: path returns the path of a row's picture below the
// folder, with slashes, and "" for a row without one. A path that leaves the folder, also by a
// symbolic link, cannot be read.
func NewImages(folder string, path func(row int) string) (*Images, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	return &Images{root, path}, nil
}

// imageTypes are the types that browsers draw and that have no scripts. SVG has.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}

// imageBytes is the largest picture that is served.
const imageBytes = 64 << 20

var (
	errImage = errors.New("the picture of this row cannot be read, or is outside the folder")
	errType  = errors.New("the file is no PNG, JPEG, GIF, WebP or BMP picture of at most 64 MiB")
)

// serve writes the picture of a row.
func (m *Images) serve(w http.ResponseWriter, row int) error {
	// Opening a pipe would wait for its other end, unless it is opened so that nothing waits.
	f, err := m.root.OpenFile(filepath.FromSlash(m.path(row)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return errImage
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errImage
	}
	if info.Size() > imageBytes {
		return errType
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return errType
	}
	kind := http.DetectContentType(head[:n])
	if !slices.Contains(imageTypes, kind) {
		return errType
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if _, err := w.Write(head[:n]); err == nil {
		io.Copy(w, io.LimitReader(f, imageBytes)) // an error is the end of the connection
	}
	return nil
}
