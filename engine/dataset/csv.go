package dataset

import (
	"bytes"
	"errors"
	"io"
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
	csv      *csvReader
	rep      *report
	columns  []string // names from the header, all different
	row      int      // 0-based number of the record that next returned
	pairs    bool     // the records are not data rows, so messages do not name the row
	marks    numerals
	cells    []numerals // of every column, nil for marks in all
	named    map[string]Marks
	first    [][]string // the first records, if they were looked at before they are read
	counts   bool       // the first column has no name and numbers the rows
	begin    int        // the number of the first row in that column, -1 before it is known
	warnings []string
}

// openRecords reads the header, or makes one of column numbers for a source without. Problems go to
// rep.
func openRecords(src *source, maxLine int, rep *report) (*records, error) {
	c, err := newCSVReader(src, maxLine)
	if err != nil {
		return nil, noteRecord(rep, err, -1)
	}
	header, line, err := c.header()
	if err == io.EOF {
		return nil, rep.fatal("check that it was written to the end",
			"the file is blank: want a header and data rows")
	}
	if err != nil {
		if err := noteRecord(rep, err, -1); err != nil {
			return nil, err
		}
		return nil, errStop // nothing can be read without a header
	}
	c.width = len(header)
	r := &records{csv: c, rep: rep, row: -1, begin: -1}
	for _, name := range header {
		r.columns = append(r.columns, strings.Clone(strings.TrimSpace(name)))
	}
	if src.translated {
		c.line = 0
	}
	if src.headless {
		return r, nil
	}
	return r, r.checkHeader(line)
}

// header returns the first record, or the numbers of its fields if the source has no header.
func (r *csvReader) header() (fields []string, line int, err error) {
	if !r.src.headless {
		return r.next()
	}
	fields, _, err = r.over(r.src.lookAhead(r.max), r.delimiter).next()
	if err != nil {
		return r.next() // which says what is wrong
	}
	names := make([]string, len(fields))
	for j := range names {
		names[j] = strconv.Itoa(j)
	}
	return names, 0, nil
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
		return r.rep.add(errorAt(r.rep.file, line, -1, column, format, args...), fix)
	}
	seen := make(map[string]int, len(r.columns))
	for i, name := range r.columns {
		first, twice := seen[name]
		var err error
		switch {
		case name == "" && i == 0 && len(r.columns) > 1:
			r.counts = true
		case name == "":
			err = add(strconv.Itoa(i), "name the column, or remove it",
				"field %d of the header is empty: want a name", i+1)
		case twice:
			fix := "rename one of them"
			if isNumber(name) {
				fix += ", or use the option header: none if the line is a row"
			}
			err = add(name, fix, "columns %d and %d have the same name: want different ones", first+1, i+1)
		default:
			seen[name] = i
		}
		if err != nil {
			return err
		}
	}
	if !r.csv.src.named && r.headerIsData() {
		return r.rep.fatalAt(line, "", "add a first line of column names, or use the option header: none",
			"the first line holds numbers: want a header of column names, or the option header: none if the "+
				"line is a row, or first if these are names")
	}
	return nil
}

// headerIsData reports whether the header looks like a row of data: only numbers, and not the plain
// column numbers of a written matrix.
func (r *records) headerIsData() bool {
	counting := true
	for _, name := range r.columns {
		if _, err := ParseFloat(name); err != nil && err != ErrRounded {
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
		if err == nil && len(fields) == len(r.columns) && r.csv.surplus == 0 {
			if r.counts && !r.isNext([]byte(fields[0]), r.row) {
				return nil, 0, r.notRowNumber(fields[0], line)
			}
			return fields, line, nil
		}
		if err == nil {
			got := len(fields) + r.csv.surplus
			if r.row < firstRows && r.restHave(got) {
				return nil, 0, r.otherHeader(line, got)
			}
			err = r.problem(line, "", "give it a value for every column",
				"it has %s: want %d, as in the header", fault.Count(got, "field"), len(r.columns))
		} else {
			err = noteRecord(r.rep, err, r.place())
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// firstRows are the rows among which the names of the columns may stand, under a title or comments.
const firstRows = 10

// restHave reports whether the next rows, at least two, have a number of fields.
func (r *records) restHave(fields int) bool {
	const least, most = 2, 100
	c := r.csv.over(r.csv.src.lookAhead(r.csv.max), r.csv.delimiter)
	for n := 0; n < most; n++ {
		next, _, err := c.next()
		if err == io.EOF {
			return n >= least
		}
		if err != nil || len(next) != fields {
			return false
		}
	}
	return true
}

// otherHeader ends the reading of a file whose rows have another number of fields than its header.
func (r *records) otherHeader(line, fields int) error {
	fix := "name every column"
	if len(r.columns) == 1 {
		fix = "remove the " + fault.Count(line-1, "line") + " above the names, if they are no part of the table"
	}
	return r.rep.fatalAt(line, "", fix, "all rows have %s from here on: want %d, as in the header",
		fault.Count(fields, "field"), len(r.columns))
}

// isNext reports whether a cell is the number of a row: rows count from 0 or 1, as the first one
// says.
func (r *records) isNext(cell []byte, row int) bool {
	v, size := decimal(cell)
	if size < 0 || size < len(cell) {
		return false
	}
	first := v - float64(row)
	if r.begin < 0 && (first == 0 || first == 1) {
		r.begin = int(first)
	}
	return first == float64(r.begin)
}

// notRowNumber ends the reading of a file whose first column has no name and does not number the
// rows.
func (r *records) notRowNumber(cell string, line int) error {
	const fix = "name the column, or remove it"
	if r.begin < 0 {
		return r.rep.fatalAt(1, "0", fix,
			"field 1 of the header is empty, and the column does not number the rows from 0 or 1: want a name")
	}
	return r.rep.fatalAt(line, "0", fix,
		"the column has no name, and its cell is %s: want %d, the number of the row, or a name for the column", quote(cell), r.row+r.begin)
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
	return r.rep.add(errorAt(r.rep.file, line, r.place(), column, format, args...), fix)
}

// place returns the row for a message, -1 in files of pairs, where readers would mistake it for a
// row of a pair.
func (r *records) place() int {
	if r.pairs {
		return -1
	}
	return r.row
}

// eachWithin calls f for every record; they take the given bytes of memory each, up to a limit, 0
// for none. Exceeding it is a *fault.MemoryError. A file without records is reported at the end.
func (r *records) eachWithin(limit int64, bytes int, f func(fields []string, line int) error) error {
	o := ReadOptions{MemoryLimit: limit}
	for {
		fields, line, err := r.next()
		if err == io.EOF && r.row < 0 {
			return r.none()
		}
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(fields, line)
		}
		if err == nil {
			err = checkBytes(o, r.rep.file, int64(r.row+1)*int64(bytes))
		}
		if err != nil {
			return err
		}
	}
}

// none returns the error for a file without rows, or without a good one.
func (r *records) none() error {
	if r.row >= 0 {
		return errStop // the problems are in the report
	}
	return r.rep.fatal("add rows below the header", "it has a header but no rows: want at least one row")
}

// names collects one column of text, such as labels. It keeps one copy of each text, so that labels
// neither keep their lines in memory nor repeat.
type names struct {
	at     int  // index of the column, -1 for none
	gaps   bool // an empty cell is a value, as for labels: the row has none
	values []string
	seen   map[string]string // nil for values of any number that are not compared
	lines  map[string]int    // for ids: the line of each, to find duplicates
}

// add appends the column's value of a record.
func (c *names) add(r *records, fields []string, line int) error {
	if c.at < 0 {
		return nil
	}
	name, value := r.columns[c.at], fields[c.at]
	if value == "" && !c.gaps {
		return r.problem(line, name, "fill in the cell, or remove the row", "the cell is empty: want a %s",
			name)
	}
	if first := c.push(value, line); first > 0 {
		return r.problem(line, name, "rename or remove one of the two rows",
			"id %s is already on line %d: want different ids", quote(value), first)
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

// bytes returns about the memory of the values so far, with the texts of ids and where each is.
func (c *names) bytes() int64 {
	const header, entry = 16, 100
	if c.lines != nil {
		return (header + entry) * int64(len(c.values))
	}
	return header * int64(len(c.values))
}

// take returns the values so far and clears them.
func (c *names) take() []string {
	values := c.values
	c.values = nil
	const limit = 1 << 12 // different texts that are kept from block to block: there may be as many as rows
	if c.lines == nil && len(c.seen) > limit {
		c.seen = map[string]string{}
	}
	return values
}

func labelNames(at int) *names { return &names{at: at, gaps: true, seen: map[string]string{}} }
func idNames(at int) *names {
	return &names{at: at, seen: map[string]string{}, lines: map[string]int{}}
}

// checkBytes compares the bytes of values, read or needed, with the limit.
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

// delimiters are the characters that may separate the fields of a CSV file, in the order of
// preference.
const delimiters = ",\t;|"

// findDelimiter returns the character between the fields: the only one of the four in the header
// that is not in quotes. If there are several, it is the one that divides most of the first records
// into as many fields as the header has, then the one that makes most of these fields numbers. In a
// file .tsv a tab in the header decides, and a header without any of them means commas.
func (r *lineReader) findDelimiter() byte {
	found := unquoted(r.src.headLine())
	switch {
	case found == "":
		return ','
	case r.src.tabs && strings.Contains(found, "\t"):
		return '\t'
	case len(found) == 1:
		return found[0]
	}
	head, _ := r.src.r.Peek(bufferSize)
	best, most := byte(0), [2]int{-1, -1}
	for _, c := range []byte(found) {
		if votes := r.votes(head, c); slices.Compare(votes[:], most[:]) > 0 {
			best, most = c, votes
		}
	}
	return best
}

// readSeparator reads a first line such as sep=; that Excel writes, and returns its delimiter, 0 if
// there is no such line.
func (r *lineReader) readSeparator() (byte, error) {
	line := bytes.Trim(bytes.TrimSuffix(r.src.headLine(), []byte("\r")), `"`)
	if len(line) != len("sep=;") || !bytes.EqualFold(line[:4], []byte("sep=")) {
		return 0, nil
	}
	delimiter := line[4]
	if _, err := r.readLine(); err != nil {
		return 0, err
	}
	if strings.IndexByte(delimiters, delimiter) < 0 {
		return 0, r.bad(r.line, true, "save the file with one of these",
			"its fields are separated by %q, as the line says: want a comma, a semicolon, a tab or a bar",
			string(delimiter))
	}
	return delimiter, nil
}

// headLine returns the first line that is not blank, as far as the buffer can hold it. It does not
// wait for more bytes than that.
func (s *source) headLine() []byte {
	for want := 1; ; want = s.r.Buffered() + 1 {
		head, err := s.r.Peek(min(max(want, s.r.Buffered()), bufferSize))
		line := bytes.TrimLeft(head, "\r\n"+byteOrderMark)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			return line[:i]
		}
		if err != nil || len(head) == bufferSize {
			return line
		}
	}
}

// unquoted returns the delimiters that occur outside of quotes.
func unquoted(line []byte) string {
	there := map[byte]bool{}
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		} else if !quoted && strings.IndexByte(delimiters, c) >= 0 {
			there[c] = true
		}
	}
	return strings.Map(func(c rune) rune {
		if there[byte(c)] {
			return c
		}
		return -1
	}, delimiters)
}

// votes returns what speaks for a delimiter in the first records: the number of those with as many
// fields as the header, and the number of their fields that are numbers.
func (r *lineReader) votes(head []byte, delimiter byte) (votes [2]int) {
	const most = 100 // records
	c := r.over(head, delimiter)
	header, _, err := c.next()
	if err != nil {
		return votes
	}
	n, marks := len(header), numerals{comma: delimiter == ';'}
	for range most {
		fields, _, err := c.next()
		if err == io.EOF {
			break
		}
		if err != nil || len(fields) != n {
			continue
		}
		votes[0]++
		for _, f := range fields {
			if f = strings.TrimSpace(f); isNumber(f) || marks.isNumber(f) {
				votes[1]++
			}
		}
	}
	return votes
}

// over returns a reader of the records in bytes that were read ahead.
func (r *lineReader) over(head []byte, delimiter byte) *csvReader {
	src := newSource(r.src.name, bytes.NewReader(head), -1, false)
	return &csvReader{lineReader: lineReader{src: src, max: r.max, kind: r.kind}, delimiter: delimiter}
}
