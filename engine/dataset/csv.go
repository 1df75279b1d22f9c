package dataset

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// The columns of a data file that are not features.
const (
	labelColumn = "label"
	idColumn    = "id"
)

// records reads the records of a CSV file with a checked header. All CSV files of this package are
// read through it.
type records struct {
	csv     *csvReader
	rep     *report
	columns []string // names from the header, all different
	row     int      // 0-based number of the record that next returned
	pairs   bool     // the records are not data rows, so messages do not name the row
}

// openRecords reads the header. Problems go to rep.
func openRecords(src *source, maxLine int, rep *report) (*records, error) {
	c, err := newCSVReader(src, maxLine)
	if err != nil {
		return nil, noteRecord(rep, err, -1)
	}
	header, line, err := c.next()
	if err == io.EOF {
		return nil, rep.fatal("check that it was written to the end", "the file is blank: want a header and data rows")
	}
	if err != nil {
		if err := noteRecord(rep, err, -1); err != nil {
			return nil, err
		}
		return nil, errStop // nothing can be read without a header
	}
	r := &records{csv: c, rep: rep, row: -1}
	for _, name := range header {
		r.columns = append(r.columns, strings.Clone(strings.TrimSpace(name)))
	}
	return r, r.checkHeader(line)
}

// noteRecord adds a *recordError to the report; it returns other errors.
func noteRecord(rep *report, err error, row int) error {
	re, ok := errors.AsType[*recordError](err)
	if !ok {
		return err
	}
	re.err.Row = row
	if re.fatal { // there is no row to skip
		rep.problems = append(rep.problems, Problem{Err: re.err, Fix: re.fix})
		return errStop
	}
	return rep.add(re.err, re.fix)
}

func (r *records) checkHeader(line int) error {
	add := func(column, fix, format string, args ...any) error {
		e := fault.Data(r.rep.file, format, args...)
		e.Line, e.Column = line, column
		return r.rep.add(e, fix)
	}
	if len(r.columns) == 1 {
		for _, sep := range []string{";", "\t", "|"} {
			if strings.Contains(r.columns[0], sep) {
				_ = add("", "save it with commas between the fields", "the header is separated by %q: want commas", sep)
				return errStop
			}
		}
	}
	seen := make(map[string]int, len(r.columns))
	for i, name := range r.columns {
		first, twice := seen[name]
		var err error
		switch {
		case name == "":
			err = add(strconv.Itoa(i), "name the column, or remove it", "field %d of the header is empty: want a name", i+1)
		case twice:
			err = add(name, "rename one of them", "columns %d and %d have the same name: want different ones", first+1, i+1)
		default:
			seen[name] = i
		}
		if err != nil {
			return err
		}
	}
	if r.headerIsData() {
		_ = add("", "add a first line of column names", "the first line holds numbers: want a header of column names")
		return errStop
	}
	return nil
}

// headerIsData reports whether the header looks like a row of data: only numbers, and not the plain
// column numbers of a written matrix.
func (r *records) headerIsData() bool {
	counting := true
	for _, name := range r.columns {
		if _, err := strconv.ParseFloat(name, 64); err != nil {
			return false
		}
		if _, err := strconv.ParseUint(name, 10, 64); err != nil {
			counting = false
		}
	}
	return !counting
}

// column returns the index of the named column, or -1.
func (r *records) column(name string) int { return slices.Index(r.columns, name) }

// header returns the text of the header for a message.
func (r *records) header() string { return quote(strings.Join(r.columns, ",")) }

// next returns the next record that has the header's number of fields. The error is io.EOF,
// errStop, or a failure; other problems are reported, and the record is skipped.
func (r *records) next() (fields []string, line int, err error) {
	for {
		fields, line, err = r.csv.next()
		if err == io.EOF {
			return nil, 0, err
		}
		r.row++
		if err == nil && len(fields) == len(r.columns) {
			return fields, line, nil
		}
		if err == nil {
			err = r.problem(line, "", "give it a value for every column", "it has %s: want %d, as in the header",
				count(len(fields), "field"), len(r.columns))
		} else {
			err = noteRecord(r.rep, err, r.place())
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// badOption reports columns that the options name wrongly.
func (r *records) badOption(err error) error {
	de, ok := errors.AsType[*fault.DataError](err)
	if !ok {
		return err
	}
	if err := r.rep.add(de, "correct the name, or that of the column"); err != nil {
		return err
	}
	return errStop
}

// problem reports a problem of the current record.
func (r *records) problem(line int, column, fix, format string, args ...any) error {
	e := fault.Data(r.rep.file, format, args...)
	e.Line, e.Row, e.Column = line, r.place(), column
	return r.rep.add(e, fix)
}

// place returns the row for a message, -1 in files of pairs, where readers would mistake it for a
// row of a pair.
func (r *records) place() int {
	if r.pairs {
		return -1
	}
	return r.row
}

// each calls f for every record. A file without records is reported at the end.
func (r *records) each(f func(fields []string, line int) error) error {
	for {
		fields, line, err := r.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = f(fields, line)
		}
		if err != nil {
			return err
		}
	}
	if r.row < 0 {
		return r.none()
	}
	return nil
}

// none returns the error for a file without rows, or without a good one.
func (r *records) none() error {
	if r.row >= 0 {
		return errStop // the problems are in the report
	}
	return r.rep.fatal("add rows below the header", "it has a header but no rows: want at least one row")
}

// interner keeps one copy of each text, so that labels neither keep their lines in memory nor
// repeat.
type interner map[string]string

func (in interner) keep(s string) string {
	if v, ok := in[s]; ok {
		return v
	}
	v := strings.Clone(s)
	in[v] = v
	return v
}

// names collects one column of text, such as labels.
type names struct {
	at     int // index of the column, -1 for none
	values []string
	seen   interner       // nil for values of any number that are not compared
	lines  map[string]int // for ids: the line of each, to find duplicates
}

// add appends the column's value of a record.
func (c *names) add(r *records, fields []string, line int) error {
	if c.at < 0 {
		return nil
	}
	name, value := r.columns[c.at], fields[c.at]
	if value == "" {
		return r.problem(line, name, "fill in the cell, or remove the row", "the cell is empty: want a %s", name)
	}
	if first := c.push(value, line); first > 0 {
		return r.problem(line, name, "rename or remove one of the two rows", "id %s is already on line %d: want different ids", quote(value), first)
	}
	return nil
}

// push appends a value. If lines are kept, it returns the earlier line with the same value, 0 for
// none.
func (c *names) push(value string, line int) (first int) {
	first = c.lines[value]
	c.pushPlain([]byte(value), line)
	return first
}

// take returns the values so far and clears them.
func (c *names) take() []string {
	values := c.values
	c.values = nil
	const limit = 1 << 12 // different texts that are kept from block to block: there may be as many as rows
	if c.lines == nil && len(c.seen) > limit {
		c.seen = interner{}
	}
	return values
}

func labelNames(at int) *names { return &names{at: at, seen: interner{}} }
func idNames(at int) *names    { return &names{at: at, seen: interner{}, lines: map[string]int{}} }

// decodeCSV reads a data file in CSV.
func decodeCSV(src *source, o ReadOptions, rep *report) (*table, error) {
	c, err := openCSVRows(src, o, rep)
	if err != nil {
		return nil, err
	}
	t, err := c.next(math.MaxInt)
	if err == io.EOF {
		return nil, c.none()
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
	mix         mixture
}

// openCSVRows reads the header.
func openCSVRows(src *source, o ReadOptions, rep *report) (*csvRows, error) {
	r, err := openRecords(src, o.MaxLine, rep)
	if err != nil {
		return nil, err
	}
	parts, err := o.Roles(r.columns)
	if err != nil {
		return nil, r.badOption(err)
	}
	c := &csvRows{records: r, src: src, o: o, labels: labelNames(parts.Label), ids: idNames(parts.ID), features: parts.Features}
	if len(c.features) == 0 {
		return nil, rep.fatal("add numeric columns", "it has no feature columns, only %s", strings.Join(r.columns, " and "))
	}
	if o.IgnoreLabels {
		c.labels.at = -1
	}
	c.assign(parts)
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
	t := &table{cols: len(c.numbers), features: c.names}
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
				t.data, c.labels.values, c.ids.values = t.data[:(t.rows-c.mix.moved)*t.cols], c.labels.values[:labels], c.ids.values[:ids]
				c.mix.drop(t.rows)
				continue
			}
			length = lengthOf(fields)
		}
		if t.rows == 0 { // the length of the first row bounds the number of rows
			c.reserve(t, length, limit)
		}
		t.rows++
		if err := c.settle(t); err != nil {
			return nil, err
		}
	}
	t.ids, t.labels = c.ids.take(), c.labels.take()
	c.mix.finish(t, c)
	return t, nil
}

// reserve allocates memory for the rows after a first one of the given length.
func (c *csvRows) reserve(t *table, length, limit int) {
	limit = c.o.rowsWithin(limit, len(c.features))
	if !c.mix.apart() {
		t.data = grow(t.data, c.src.size, t.cols, length, limit)
		return
	}
	c.mix.reserve(expected(c.src.size, length, limit))
}

// settle accepts the row that was added: it compares the memory with the limit, and moves the
// numbers of a mixed table to their columns now and then.
func (c *csvRows) settle(t *table) error {
	m := &c.mix
	bytes := 8 * int64(t.rows) * int64(t.cols)
	if m.on {
		m.missing, m.gap = m.missing || m.gap, false
		bytes += m.bytes(t.rows)
		if m.apart() && len(t.data) >= moveValues {
			bytes += 8 * int64(len(t.data)-moveValues) // many if they are all before the first gap
			m.move(t)
		}
	}
	return checkBytes(c.o, c.src.name, bytes)
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
	if err := c.labels.add(c.records, fields, line); err != nil {
		return err
	}
	if err := c.ids.add(c.records, fields, line); err != nil {
		return err
	}
	if !c.mix.on {
		return t.addRow(c.records, fields, c.numbers, line)
	}
	return c.addMixed(t, fields, line)
}

// addMixed appends the features of one record of a mixed table.
func (c *csvRows) addMixed(t *table, fields []string, line int) error {
	for _, i := range c.features {
		if x := c.mix.at[i]; x != nil {
			x.push([]byte(fields[i]))
			continue
		}
		v, err := parseFloat(fields[i])
		if err != nil || v-v != 0 {
			if v, err = c.oddNumber(t, fields[i], i, line); err != nil {
				return err
			}
		}
		t.data = append(t.data, v)
	}
	return nil
}

// oddNumber parses a cell of a column of numbers that the fast path refused: NaN if it is missing.
func (c *csvRows) oddNumber(t *table, cell string, column, line int) (float64, error) {
	cell = strings.TrimSpace(cell)
	if isMissing(cell) {
		c.mix.gap = true
		return math.NaN(), nil
	}
	v, what, fix := parseNumber(cell)
	switch {
	case what == "":
		return v, nil
	case isNumber(cell):
		return v, c.problem(line, c.columns[column], fix, "%s: want a finite number", what)
	}
	return v, c.textAmongNumbers(t, column, line, cell)
}

// isNumber reports whether a text is a number, perhaps one that is infinite or out of range.
func isNumber(s string) bool {
	v, err := strconv.ParseFloat(s, 64)
	return err == nil && v == v || errors.Is(err, strconv.ErrRange)
}

// addRow parses the features of one record.
func (t *table) addRow(r *records, fields []string, features []int, line int) error {
	for _, i := range features {
		v, err := parseFloat(fields[i])
		if err != nil || v-v != 0 {
			var what, fix string
			if v, what, fix = parseNumber(fields[i]); what != "" {
				if err := r.problem(line, r.columns[i], fix, "%s: want a finite number", what); err != nil {
					return err
				}
			}
		}
		t.data = append(t.data, v)
	}
	return nil
}

// parseNumber parses a cell that the fast path refused. If it is not a finite number, what states
// the problem and fix what to do.
func parseNumber(s string) (v float64, what, fix string) {
	s = strings.TrimSpace(s)
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case s == "":
		return 0, "the cell is empty", "fill in a number, or remove the row"
	case err == nil && math.IsNaN(v):
		return 0, "the value is " + s, "fill in a number, or remove the row"
	case err == nil && math.IsInf(v, 0):
		return 0, "the value is " + s, "fill in a finite number, or remove the row"
	case errors.Is(err, strconv.ErrRange):
		return 0, "the value " + quote(s) + " is beyond the range of float64", "rescale the column"
	case err != nil && s == "?" || s == "NA" || s == "N/A" || s == "null":
		return 0, "the value is missing (" + quote(s) + ")", "fill in a number, or remove the row"
	case err != nil && strings.Count(s, ",") == 1:
		return 0, "the text " + quote(s) + " is not a number", "write a decimal point, not a comma"
	case err != nil:
		return 0, "the text " + quote(s) + " is not a number",
			"correct it, encode the categories as numbers, or call the column label or id if it holds labels or ids"
	}
	return v, "", ""
}

// lengthOf returns the approximate number of bytes of a record.
func lengthOf(fields []string) int {
	n := len(fields)
	for _, f := range fields {
		n += len(f)
	}
	return n
}

// grow allocates memory for the rows, up to limit, that a file of size bytes may have after a first
// row of the given length. A value takes at least two bytes of text, so this is at most four times
// the size of the file.
func grow(data []float64, size int64, cols, rowLength, limit int) []float64 {
	rows := expected(size, rowLength, limit)
	values := min(rows*cols, int(size/2+1))
	return append(make([]float64, 0, max(len(data), values)), data...)
}

// expected returns the number of rows, up to limit, that a file of size bytes may have after a
// first row of the given length, 0 if the size is not known.
func expected(size int64, rowLength, limit int) int {
	if size <= 0 {
		return 0
	}
	return int(min(float64(size)/float64(rowLength)*1.02+1, float64(limit)))
}

// rowsWithin returns limit, or the smallest number of rows that exceeds the memory limit if that is
// lower.
func (o ReadOptions) rowsWithin(limit, cols int) int {
	if o.MemoryLimit > 0 {
		limit = int(min(int64(limit), o.MemoryLimit/8/int64(cols)+1))
	}
	return limit
}

// checkMemory compares the memory of the values, read or needed, with the limit. 8*values must not
// overflow.
func checkMemory(o ReadOptions, name string, values int64) error {
	return checkBytes(o, name, 8*values)
}

// checkBytes is like checkMemory, for a number of bytes.
func checkBytes(o ReadOptions, name string, bytes int64) error {
	if o.MemoryLimit > 0 && bytes > o.MemoryLimit {
		return &fault.MemoryError{What: "reading " + name, Need: bytes, Limit: o.MemoryLimit,
			Hint: "use fewer rows or columns, or raise the limit"}
	}
	return nil
}

// Approximate memory of a line of a file and of the values made of it: the memory limit protects
// from endless files and need not be exact.
const (
	linkBytes  = 200 // a link or a row of a chunklet, in growing lists and in the set
	labelBytes = 100 // a label, possibly with new text
)

// eachWithin is like each, for lines that take the given bytes of memory each, up to a limit, 0 for
// none. Exceeding it is a *fault.MemoryError.
func (r *records) eachWithin(limit int64, bytes int, f func(fields []string, line int) error) error {
	o := ReadOptions{MemoryLimit: limit}
	return r.each(func(fields []string, line int) error {
		if err := f(fields, line); err != nil {
			return err
		}
		return checkBytes(o, r.rep.file, int64(r.row+1)*int64(bytes))
	})
}
