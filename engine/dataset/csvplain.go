package dataset

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// addPlain appends the next record to t if it is plain, as most are: numbers without spaces, names
// without quotes, a field for every column. It does in one pass and without allocation what next
// and add do for any record. It returns the length of the record with its line end, or 0 if it
// leaves the record to them.
func (c *csvRows) addPlain(t *table) int {
	text := c.csv.plainLine()
	if len(text) == 0 {
		return 0
	}
	before := len(t.data)
	label, id, ok := c.parsePlain(t, text)
	if !ok {
		t.data = t.data[:before]
		c.csv.unread(text)
		return 0
	}
	c.row++
	c.labels.pushPlain(label, c.csv.line)
	c.ids.pushPlain(id, c.csv.line)
	return len(text) + 1
}

// parsePlain appends the features of a record to t and returns its names.
func (c *csvRows) parsePlain(t *table, text []byte) (label, id []byte, ok bool) {
	last := len(c.isFeature) - 1
	for i, number := range c.isFeature {
		var size int
		if number {
			var v float64
			if v, size = numberField(text); size < 0 {
				return nil, nil, false
			}
			t.data = append(t.data, v)
		} else {
			if size = nameField(text); size < 0 {
				return nil, nil, false
			}
			switch i {
			case c.labels.at:
				label = text[:size]
			case c.ids.at:
				id = text[:size]
			}
		}
		if i == last {
			return label, id, size == len(text) && (id == nil || !c.ids.has(id))
		}
		if size == len(text) {
			break
		}
		text = text[size+1:]
	}
	return nil, nil, false
}

// numberField parses the finite number before the first comma of text and returns its length, -1 if
// there is no such number.
func numberField(text []byte) (v float64, size int) {
	v, size = decimal(text)
	if size >= 0 && (size == len(text) || text[size] == ',') {
		return v, size
	}
	if size = bytes.IndexByte(text, ','); size < 0 {
		size = len(text)
	}
	v, err := strconv.ParseFloat(string(text[:size]), 64)
	if err != nil || v-v != 0 {
		return 0, -1
	}
	return v, size
}

// nameField returns the length of the field before the first comma of text, -1 if it is empty or
// not plain.
func nameField(text []byte) int {
	size := bytes.IndexByte(text, ',')
	if size < 0 {
		size = len(text)
	}
	field := text[:size]
	if size == 0 || field[0] <= ' ' || field[0] >= utf8.RuneSelf || bytes.IndexByte(field, '"') >= 0 || bytes.IndexByte(field, '\r') >= 0 {
		return -1
	}
	return size
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
