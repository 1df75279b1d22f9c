package dataset

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// delimiters are the characters that may separate the fields of a CSV file, in the order of
// preference.
const delimiters = ",\t;|"

// delimiterName describes a delimiter for messages.
func delimiterName(c byte) string {
	return map[byte]string{',': "comma", '\t': "tab", ';': "semicolon", '|': "bar"}[c]
}

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
		return 0, r.bad(r.line, true, "save the file with one of these", "its fields are separated by %q, as the line says: want a comma, a semicolon, a tab or a bar", string(delimiter))
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
