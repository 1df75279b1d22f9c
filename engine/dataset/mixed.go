package dataset

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/engine/points"
)

// The kind of a column is decided from the first records, at most this many, in about this many
// bytes.
const (
	sampleRecords = 4096
	sampleBytes   = 4 << 20
)

// lookAhead returns the next lines of the source, which stay to be read: at least one, and no more
// after a line that is longer than the limit.
func (s *source) lookAhead(maxLine int) []byte {
	var head []byte
	var err error
	for lines, begin := 0, 0; err == nil && lines < sampleRecords &&
		(len(head) < sampleBytes || lines == 0) && len(head)-begin <= maxLine; {
		var part []byte
		part, err = s.r.ReadSlice('\n')
		head = append(head, part...)
		if err == bufio.ErrBufferFull {
			err = nil
			continue
		}
		lines, begin = lines+1, len(head)
	}
	s.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), s.r), bufferSize)
	return head
}

// sample returns the next records, which stay to be read. Those that cannot be read are left out.
func (r *records) sample() [][]string {
	if r.first != nil {
		return r.first
	}
	c := r.csv.over(r.csv.src.lookAhead(r.csv.max), r.csv.delimiter)
	c.width = len(r.columns)
	for {
		fields, _, err := c.next()
		if re, bad := err.(*recordError); err != nil && (!bad || re.fatal) {
			return r.first
		}
		if err == nil && len(fields) == len(r.columns) && c.surplus == 0 {
			r.first = append(r.first, slices.Clone(fields))
		}
	}
}

// decide sets the roles of the features of a mixed table: a column is one of numbers if at least
// nine in ten of the cells that are not missing in the first records are numbers, or if all are
// missing. The options come first.
func (c *csvRows) decide(forced Roles) {
	c.mix.on, c.mix.at, c.mix.forced = true, make([]*textColumn, len(c.columns)), forced.Numbers
	for _, i := range c.features {
		forced.Numbers[i] = forced.Numbers[i] || c.o.Marks[c.columns[i]] != ""
		if forced.Text[i] || !forced.Numbers[i] && !c.mostlyNumbers(i) {
			x := newTextColumn(i, forced.Text[i])
			c.roles[i], c.mix.at[i], c.mix.texts = asText, x, append(c.mix.texts, x)
		}
	}
}

func (c *csvRows) mostlyNumbers(column int) bool {
	x := cellsOf(c.sample(), column)
	return x.most(x.count(c.cells[column]))
}

// textAmongNumbers reports a text in a column of numbers, with how to read it otherwise.
func (c *csvRows) textAmongNumbers(t *table, column, line int, cell string) error {
	if c.mix.forced[column] {
		return c.problem(line, c.columns[column], "correct it, or read the column as text",
			"%s is not a number, but the column is to be numbers: want a number", quote(cell))
	}
	where := "as most cells of the column are"
	j := slices.Index(c.numbers, column)
	switch above := c.mix.above[j] + c.mix.numbers(t, j); {
	case above == 1:
		where = "as the cell above is"
	case above > 1:
		where = "as the " + strconv.Itoa(above) + " cells above are"
	}
	return c.problem(line, c.columns[column], "correct it, or read the column as text",
		"%s is not a number, %s: want a number", quote(cell), where)
}

// role is what a column of a CSV file is.
type role uint8

const (
	ignored role = iota
	asNumber
	asText
	asLabel
	asID
	asRow // the number of the row, which is not data
)

// mixture collects the cells of a block of rows column by column. Numbers are parsed into a few
// rows in the table's data, from where they move to their columns.
type mixture struct {
	on      bool          // texts and missing cells are accepted
	texts   []*textColumn // in the order of the file
	at      []*textColumn // of every column, nil for those that are not text
	forced  []bool        // of every column: whether it must be numbers
	missing bool          // the block has missing numbers
	gap     bool          // the current row has one
	columns [][]float64   // the numbers that moved, nil before the first
	moved   int           // rows
	room    int           // rows to expect
	above   []int         // of every column of numbers: those in earlier blocks
}

// apart reports whether the numbers of the block belong into columns.
func (m *mixture) apart() bool { return m.missing || len(m.texts) > 0 }

// drop removes the cells after the first n rows.
func (m *mixture) drop(n int) {
	for _, x := range m.texts {
		x.codes = x.codes[:n]
	}
	m.gap = false
}

// reserve allocates memory for rows to come.
func (m *mixture) reserve(rows int) {
	m.room = rows
	for _, x := range m.texts {
		x.codes = append(make([]int32, 0, max(rows, len(x.codes))), x.codes...)
	}
}

// moveValues is the number of values that move to their columns at a time. They fit in the cache.
const moveValues = 1 << 15

// move moves the parsed numbers to their columns.
func (m *mixture) move(t *table) {
	if t.cols == 0 {
		return
	}
	n := len(t.data) / t.cols
	if m.columns == nil {
		m.columns = make([][]float64, t.cols)
		for j := range m.columns {
			m.columns[j] = make([]float64, 0, max(n, m.room))
		}
	}
	for j := range m.columns {
		column := m.columns[j]
		for k := j; k < len(t.data); k += t.cols {
			column = append(column, t.data[k])
		}
		m.columns[j] = column
	}
	m.moved += n
	if t.data = t.data[:0]; cap(t.data) > 4*moveValues {
		t.data = nil
	}
}

// settle accepts a row, or some, that were added to t, moves numbers to their columns now and then,
// and returns the memory that the table takes.
func (m *mixture) settle(t *table) int64 {
	bytes := 8 * int64(t.rows) * int64(t.cols)
	if !m.on {
		return bytes
	}
	m.missing, m.gap = m.missing || m.gap, false
	bytes += 4 * int64(t.rows) * int64(len(m.texts))
	for _, x := range m.texts {
		bytes += x.bytes
	}
	if m.apart() && len(t.data) >= moveValues {
		bytes += 8 * int64(len(t.data)-moveValues) // many if they are all before the first gap
		m.move(t)
	}
	return bytes
}

// finish makes the points of a block, unless all its cells are numbers, and begins the next.
// features are their indices in m.at.
func (m *mixture) finish(t *table, features []int) {
	if !m.on {
		return
	}
	for j := range m.above {
		m.above[j] += m.numbers(t, j)
	}
	if m.apart() {
		m.move(t)
		t.data, t.points = nil, m.points(t, features)
	}
	m.missing, m.columns, m.moved = false, nil, 0
}

// points returns the table of the features in their order in the file.
func (m *mixture) points(t *table, features []int) *points.Mixed {
	p := &points.Mixed{N: t.rows}
	next := 0
	for k, i := range features {
		if x := m.at[i]; x != nil {
			p.Columns = append(p.Columns, x.take(t.features[k]))
			continue
		}
		p.Columns = append(p.Columns, points.Column{Name: t.features[k], Numbers: m.columns[next]})
		next++
	}
	return p
}

// numbers returns how many cells of a column of numbers are not missing in the block.
func (m *mixture) numbers(t *table, j int) int {
	if !m.missing {
		return m.moved + len(t.data)/t.cols
	}
	n := 0
	if m.columns != nil {
		n = present(m.columns[j], 1)
	}
	if j < len(t.data) {
		n += present(t.data[j:], t.cols)
	}
	return n
}

// present counts the numbers among every step-th value.
func present(values []float64, step int) (n int) {
	for k := 0; k < len(values); k += step {
		if !math.IsNaN(values[k]) {
			n++
		}
	}
	return n
}

// textColumn collects the cells of one column of text.
type textColumn struct {
	at     int     // index of the column in the file
	forced bool    // only an empty cell is missing
	codes  []int32 // of the rows of the block
	levels []string
	known  map[string]int32 // the code of each text so far, -1 if it means a missing cell
	bytes  int64            // approximate memory of everything but codes
}

func newTextColumn(at int, forced bool) *textColumn {
	return &textColumn{at: at, forced: forced, known: map[string]int32{}}
}

// push appends a cell, which has no white space around it.
func (x *textColumn) push(cell []byte) {
	code, known := x.known[string(cell)]
	if !known {
		code = x.learn(string(cell))
	}
	x.codes = append(x.codes, code)
}

// learn adds a text and returns its code.
func (x *textColumn) learn(cell string) int32 {
	const entry = 16 + 2*25 // bytes of a level and of its place in a map, which is half full
	x.bytes += entry + int64(len(cell))
	code := int32(-1)
	if cell != "" && (x.forced || !IsMissing(cell)) {
		code = int32(len(x.levels))
		x.levels = append(x.levels, cell)
	}
	x.known[cell] = code
	return code
}

// take returns the column of the rows so far and begins the next block, which has the same levels
// and perhaps more.
func (x *textColumn) take(name string) points.Column {
	c := points.Column{Name: name, Codes: x.codes, Levels: x.levels[:len(x.levels):len(x.levels)]}
	x.codes = nil
	const limit = 1 << 12 // texts that are kept from block to block: there may be as many as rows
	if len(x.known) > limit {
		*x = *newTextColumn(x.at, x.forced)
	}
	return c
}
