package dataset

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
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
	for lines, begin := 0, 0; err == nil && lines < sampleRecords && (len(head) < sampleBytes || lines == 0) && len(head)-begin <= maxLine; {
		var part []byte
		part, err = s.r.ReadSlice('\n')
		head = append(head, part...)
		if err == bufio.ErrBufferFull {
			err = nil
			continue
		}
		lines, begin = lines+1, len(head)
	}
	rest := io.Reader(s.r)
	if err != nil {
		rest = &failing{err}
	}
	s.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), rest), bufferSize)
	return head
}

// failing is a reader at its end, or with another error.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// sample returns the next records, which stay to be read. Those that cannot be read are left out.
func (r *records) sample() [][]string {
	head := r.csv.src.lookAhead(r.csv.max)
	c := &csvReader{lineReader: lineReader{src: newSource(r.csv.src.name, bytes.NewReader(head), -1, false), max: r.csv.max, kind: r.csv.kind}}
	var list [][]string
	for {
		fields, _, err := c.next()
		if re, bad := err.(*recordError); err != nil && (!bad || re.fatal) {
			return list
		}
		if err == nil && len(fields) == len(r.columns) {
			list = append(list, append([]string(nil), fields...))
		}
	}
}

// decide sets the roles of the features of a mixed table: a column is one of numbers if at least
// nine in ten of the cells that are not missing in the first records are numbers, or if all are
// missing. The options come first.
func (c *csvRows) decide(forced Roles) {
	var first [][]string
	for _, i := range c.features {
		if !forced.Text[i] && !forced.Numbers[i] && first == nil {
			first = c.sample()
		}
	}
	c.mix.on, c.mix.at = true, make([]*textColumn, len(c.columns))
	for _, i := range c.features {
		if forced.Text[i] || !forced.Numbers[i] && !mostlyNumbers(first, i) {
			x := &textColumn{at: i, forced: forced.Text[i], known: map[string]int32{}}
			c.roles[i], c.mix.at[i], c.mix.texts = asText, x, append(c.mix.texts, x)
		}
	}
}

func mostlyNumbers(rows [][]string, column int) bool {
	cells, numbers := 0, 0
	for _, row := range rows {
		cell := strings.TrimSpace(row[column])
		if isMissing(cell) {
			continue
		}
		cells++
		if isNumber(cell) {
			numbers++
		}
	}
	return 10*numbers >= 9*cells
}

// textAmongNumbers reports a text in a column of numbers, with how to read it otherwise.
func (c *csvRows) textAmongNumbers(t *table, column, line int, cell string) error {
	where := "as most cells of the column are"
	j := 0
	for _, i := range c.numbers {
		if i == column {
			break
		}
		j++
	}
	switch above := c.mix.above[j] + c.mix.numbers(t, j); {
	case above == 1:
		where = "as the cell above is"
	case above > 1:
		where = "as the " + strconv.Itoa(above) + " cells above are"
	}
	return c.problem(line, c.columns[column], "correct it, or read the column as text", "%s is not a number, %s: want a number", quote(cell), where)
}
