package dataset

import (
	"bytes"
	"math"
)

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
		c.csv.unread(line)
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
			if v, size = c.numberField(line, delimiter, &c.cells[i]); size < 0 {
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
			case len(field) == 0 && role != asText:
				return nil, nil, false
			case role == asText:
				c.mix.at[i].push(field)
			case role == asLabel:
				label = field
			case role == asID:
				id = field
			case !c.isNext(field, c.row+1):
				return nil, nil, false
			}
		}
		if i == last {
			return label, id, size == len(line) && (id == nil || !c.ids.has(id))
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
func (c *csvRows) numberField(text []byte, delimiter byte, marks *numerals) (v float64, size int) {
	v, size = decimal(text)
	if size >= 0 && (size == len(text) || text[size] == delimiter) && marks.standard() {
		return v, size
	}
	if size = bytes.IndexByte(text, delimiter); size < 0 {
		size = len(text)
	}
	field := text[:size]
	if c.mix.on && IsMissing(string(field)) {
		c.mix.gap = true
		return math.NaN(), size
	}
	v, err := marks.float(field)
	if err != nil || v-v != 0 {
		return 0, -1
	}
	return v, size
}

// has reports whether an id occurred before.
func (c *names) has(id []byte) bool {
	_, there := c.lines[string(id)]
	return there
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
