package dataset

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// decodeCSV reads a data file in CSV.
func decodeCSV(src *source, o ReadOptions, rep *report) (*table, error) {
	c, err := openCSVRows(src, o, rep)
	if err != nil {
		return nil, err
	}
	t, err := c.next(math.MaxInt)
	switch {
	case err == io.EOF:
		return nil, c.none()
	case err == nil && !src.translated:
		t.doubtLastRow()
	}
	return t, err
}

// csvRows reads the rows of a CSV file, a block at a time.
type csvRows struct {
	*records
	src         *source
	o           ReadOptions
	labels, ids *names
	features    []int    // the columns that are features
	names       []string // names of the features
	numbers     []int    // the features that are numbers
	roles       []role   // of every column
	words       bool     // some columns are not numbers
	late        []int    // columns of numbers in which the block has the first blank word
	mix         mixture
}

// openCSVRows reads the header.
func openCSVRows(src *source, o ReadOptions, rep *report) (*csvRows, error) {
	src.limit = o.MemoryLimit
	if err := o.head(src); err != nil {
		return nil, err
	}
	r, err := openRecords(src, o.MaxLine, rep)
	if err != nil {
		return nil, err
	}
	parts, err := o.Roles(r.columns)
	if err != nil {
		return nil, r.badOption(err)
	}
	if r.counts {
		parts.Features = slices.DeleteFunc(parts.Features, func(i int) bool { return i == 0 })
	}
	c := &csvRows{records: r, src: src, o: o, labels: labelNames(parts.Label), ids: idNames(parts.ID),
		features: parts.Features}
	switch none := len(c.features) == 0; {
	case none && len(o.Drop)+len(o.Keep) > 0:
		return nil, rep.fatal("keep some", "it has no feature columns: all %d are labels, ids, or left out",
			len(r.columns))
	case none:
		return nil, rep.fatal("add numeric columns", "it has no feature columns, only %s",
			strings.Join(r.columns, " and "))
	}
	if o.IgnoreLabels {
		c.labels.at = -1
	}
	c.findNumerals(o.Thousands)
	for name, marks := range o.Marks {
		if !marks.Valid() {
			return nil, fault.Param("number", name+"="+string(marks), "us or eu")
		}
		if !slices.Contains(r.columns, name) {
			return nil, fault.InFile(fault.Unknown("number", name, r.columns), src.name)
		}
	}
	if err := c.findColumnNumerals(&o); err != nil {
		return nil, err
	}
	if o.Header == "" {
		c.doubtHeader()
	}
	c.doubtColumn()
	c.assign(parts)
	c.first = nil
	return c, nil
}

// assign sets the roles of the columns.
func (c *csvRows) assign(parts Roles) {
	c.roles = make([]role, len(c.columns))
	for _, i := range c.features {
		c.roles[i], c.names = asNumber, append(c.names, c.columns[i])
	}
	if c.o.Mixed && !c.o.Gram {
		c.decide(parts)
	}
	for _, i := range c.features {
		if c.roles[i] == asNumber {
			c.numbers = append(c.numbers, i)
		}
	}
	c.mix.above = make([]int, len(c.numbers))
	for _, part := range []struct {
		at   int
		role role
	}{{c.labels.at, asLabel}, {c.ids.at, asID}} {
		if part.at >= 0 {
			c.roles[part.at] = part.role
		}
	}
	if c.counts {
		c.roles[0] = asRow
		c.warnings = append(c.warnings, "the first column has no name and numbers the rows: it is left out")
	}
	c.words = len(c.numbers) < len(c.columns)
}

// openCSVStream is like openCSVRows, for more rows than memory can hold.
func openCSVStream(src *source, o ReadOptions, rep *report) (rowReader, error) {
	c, err := openCSVRows(src, o, rep)
	if err != nil {
		return nil, err
	}
	c.ids.seen, c.ids.lines = nil, nil
	return c, nil
}

func (c *csvRows) count() int { return -1 }

// next returns the next rows, at most limit of them; after the last one the error is io.EOF.
func (c *csvRows) next(limit int) (*table, error) {
	t := &table{cols: len(c.numbers), features: c.names, warnings: c.warnings, marks: c.named}
	c.warnings = nil
	read := 0 // bytes of the rows
	for t.rows < limit {
		length := c.addPlain(t)
		if length == 0 {
			fields, line, err := c.records.next()
			if err == io.EOF && t.rows > 0 {
				break
			}
			if err != nil {
				return nil, err
			}
			labels, ids := len(c.labels.values), len(c.ids.values)
			if err := c.add(t, fields, line); err != nil {
				return nil, err
			}
			if c.rep.takeBad()[c.row] {
				t.data, c.labels.values, c.ids.values = t.data[:(t.rows-c.mix.moved)*t.cols],
					c.labels.values[:labels], c.ids.values[:ids]
				c.mix.drop(t.rows)
				continue
			}
			length = len(fields) // about that of the line
			for _, f := range fields {
				length += len(f)
			}
		}
		read += length
		if t.rows++; t.rows == rowsToMeasure {
			c.reserve(t, float64(read)/rowsToMeasure, limit)
		}
		if err := checkBytes(c.o, c.src.name, c.mix.settle(t)+c.labels.bytes()+c.ids.bytes()); err != nil {
			return nil, err
		}
	}
	for _, column := range c.late { // the first rows have none
		t.warnings = append(t.warnings, c.missingWord(column, c.cells[column].blank))
	}
	c.late = nil
	t.ids, t.labels = c.ids.take(), c.labels.take()
	c.mix.finish(t, c.features)
	return t, nil
}

// rowsToMeasure is the number of first rows of a block whose mean length says how many rows there
// may be. Fewer rows are not worth a reservation.
const rowsToMeasure = 256

// reserve allocates memory for the rows that the file may have if they are of the given length.
func (c *csvRows) reserve(t *table, length float64, limit int) {
	if c.o.MemoryLimit > 0 { // a row more, for the error
		limit = int(min(int64(limit), c.o.MemoryLimit/8/int64(len(c.features))+1))
	}
	rows := expected(c.src.hint, length, limit)
	for _, texts := range []*names{c.labels, c.ids} {
		if texts.at >= 0 {
			texts.values = slices.Grow(texts.values, max(0, rows-len(texts.values)))
		}
	}
	if !c.mix.apart() {
		// A value takes at least two bytes of text, so this is at most four times the size of the
		// file.
		values := min(rows*t.cols, int(c.src.hint/2+1))
		t.data = append(make([]float64, 0, max(len(t.data), values)), t.data...)
		return
	}
	c.mix.reserve(rows)
}

func (c *csvRows) skip(n int) error {
	for ; n > 0; n-- {
		_, _, err := c.csv.next()
		if re, wrong := errors.AsType[*recordError](err); wrong && !re.fatal {
			err = nil // a skipped row is not parsed, so it cannot be wrong
		}
		if err == io.EOF {
			return err
		}
		c.row++
		if err != nil {
			return noteRecord(c.rep, err, c.row)
		}
	}
	return nil
}

// add appends one record to t.
func (c *csvRows) add(t *table, fields []string, line int) error {
	if c.mix.on && c.row == 0 && c.unitsOf(fields) {
		return c.problem(line, "", "remove the line if it has units, or names again",
			"none of its cells is a number, in columns of numbers: want the first row")
	}
	if err := c.labels.add(c.records, fields, line); err != nil {
		return err
	}
	if err := c.ids.add(c.records, fields, line); err != nil {
		return err
	}
	for _, i := range c.features {
		if c.roles[i] == asText {
			c.mix.at[i].push([]byte(fields[i]))
			continue
		}
		v, err := c.cells[i].float([]byte(fields[i]))
		if err != nil || v-v != 0 {
			if v, err = c.oddNumber(t, fields[i], i, line); err != nil {
				return err
			}
		}
		t.data = append(t.data, v)
	}
	return nil
}

// missing notes a missing number.
func (c *csvRows) missing(cell string, column int) {
	c.mix.gap = true
	if marks := &c.cells[column]; marks.blank == "" && !IsMissing(cell) {
		marks.blank = cell
		c.late = append(c.late, column)
	}
}

// unitsOf reports whether a record has a text for each of several columns of numbers.
func (c *csvRows) unitsOf(fields []string) bool {
	return len(c.numbers) > 1 && !slices.ContainsFunc(c.numbers, func(i int) bool {
		return isBlank(fields[i]) || c.cells[i].isNumber(fields[i])
	})
}

// oddNumber parses a cell of a column of numbers that the fast path refused: NaN if it is missing
// in a mixed table.
func (c *csvRows) oddNumber(t *table, cell string, column, line int) (float64, error) {
	if c.mix.on && isBlank(cell) {
		c.missing(cell, column)
		return math.NaN(), nil
	}
	v, what, fix := c.cells[column].parse(cell)
	switch {
	case what == "":
		return v, nil
	case !c.mix.on || isNumber(cell):
		return v, c.problem(line, c.columns[column], fix, "%s", what)
	}
	return v, c.textAmongNumbers(t, column, line, cell)
}

// expected returns the number of rows, up to limit, that a file of size bytes may have if they are
// of the given length, 0 if the size is not known.
func expected(size int64, rowLength float64, limit int) int {
	if size <= 0 {
		return 0
	}
	return int(min(float64(size)/rowLength*1.05+1, float64(limit)))
}

// addPlain appends the next record to t if it is plain, as most are: numbers without spaces, names
// without quotes, a field for every column. It does in one pass and without allocation what next
// and add do for any record. It returns the length of the record with its line end, or 0 if it
// leaves the record to them.
func (c *csvRows) addPlain(t *table) int {
	line := c.csv.plainLine()
	if len(line) == 0 {
		return 0
	}
	before := len(t.data)
	label, id, ok := c.parsePlain(t, line)
	if !ok {
		t.data = t.data[:before]
		c.mix.drop(t.rows)
		c.csv.ahead = &ahead{string(line), nil} // for next
		return 0
	}
	c.row++
	c.labels.pushPlain(label, c.csv.line)
	c.ids.pushPlain(id, c.csv.line)
	return len(line) + 1
}

// parsePlain appends the features of a record to t and returns its names.
func (c *csvRows) parsePlain(t *table, line []byte) (label, id []byte, ok bool) {
	if c.words && (bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, '\r') >= 0) {
		return nil, nil, false
	}
	last, delimiter := len(c.roles)-1, c.csv.delimiter
	for i, role := range c.roles {
		var size int
		if role == asNumber {
			var v float64
			if v, size = c.numberField(line, delimiter, i); size < 0 {
				return nil, nil, false
			}
			t.data = append(t.data, v)
		} else {
			if size = bytes.IndexByte(line, delimiter); size < 0 {
				size = len(line)
			}
			field := bytes.TrimSpace(line[:size])
			switch {
			case role == ignored:
			case role == asText:
				c.mix.at[i].push(field)
			case role == asLabel:
				label = line[:0] // not nil if the cell is empty
				if len(field) > 0 {
					label = field
				}
			case len(field) == 0:
				return nil, nil, false
			case role == asID:
				id = field
			case !c.isNext(field, c.row+1):
				return nil, nil, false
			}
		}
		if i == last {
			return label, id, size == len(line) && c.ids.lines[string(id)] == 0
		}
		if size == len(line) {
			break
		}
		line = line[size+1:]
	}
	return nil, nil, false
}

// numberField parses the finite number before the first delimiter of text and returns its length,
// -1 if there is no such number. In a mixed table it may be missing.
func (c *csvRows) numberField(text []byte, delimiter byte, column int) (v float64, size int) {
	marks := &c.cells[column]
	v, size = decimal(text)
	if size >= 0 && (size == len(text) || text[size] == delimiter) && marks.standard() {
		return v, size
	}
	if size = bytes.IndexByte(text, delimiter); size < 0 {
		size = len(text)
	}
	field := text[:size]
	if c.mix.on && isBlank(string(field)) {
		c.missing(string(field), column)
		return math.NaN(), size
	}
	v, err := marks.float(field)
	if err != nil || v-v != 0 {
		return 0, -1
	}
	return v, size
}

// pushPlain is push without a search for an equal value; a nil value is ignored.
func (c *names) pushPlain(value []byte, line int) {
	if value == nil {
		return
	}
	text, known := c.seen[string(value)]
	if !known {
		text = string(value)
		if c.seen != nil {
			c.seen[text] = text
		}
		if c.lines != nil {
			c.lines[text] = line
		}
	}
	c.values = append(c.values, text)
}
