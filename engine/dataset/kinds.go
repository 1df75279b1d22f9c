package dataset

import (
	"bufio"
	"bytes"
	"io"
	"slices"
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
