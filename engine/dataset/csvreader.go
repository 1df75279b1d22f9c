package dataset

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/mustlink/mustlink/engine/fault"
)

// csvReader splits a source into records. Unlike encoding/csv it limits lines and records, detects
// binary data, and refuses a blank line inside the data, because in a file of one column it is a
// missing value.
type csvReader struct {
	lineReader
	delimiter byte   // between fields
	blank     int    // the first of the preceding blank lines, 0 for none
	ahead     *ahead // an outcome that was read already but belongs to the next record
	fields    []string
	width     int // of the header, 0 before it is known
	surplus   int // fields of the last record beyond the width, which are counted and not kept
}

// ahead is an outcome of nextLine that is kept for later.
type ahead struct {
	text string
	err  error
}

func newCSVReader(src *source, maxLine int) (*csvReader, error) {
	lines, err := newLineReader(src, maxLine, textKind{"csv", "CSV text", "a header and data rows"})
	if err != nil {
		return nil, err
	}
	if src.comments {
		if err := lines.readComments(); err != nil {
			return nil, err
		}
	}
	delimiter, err := lines.readSeparator()
	if err == nil && delimiter == 0 {
		delimiter = lines.findDelimiter()
	}
	return &csvReader{lineReader: lines, delimiter: delimiter}, err
}

// next returns the fields of the next record and the line it begins on. The slice is valid until
// the next call, its strings forever. At the end the error is io.EOF; a bad record is a
// *recordError.
func (r *csvReader) next() (fields []string, line int, err error) {
	text, err := r.nextLine()
	for ; err == nil && text == ""; text, err = r.nextLine() {
		r.blank = cmp.Or(r.blank, r.line)
	}
	if err == io.EOF {
		return nil, r.line, err
	}
	if blank := r.blank; blank > 0 {
		r.blank, r.ahead = 0, &ahead{text, err}
		return nil, blank, r.bad(blank, false, "remove the line, or give it values",
			"the line is blank: want blank lines only at the end")
	}
	if err != nil {
		return nil, r.line, err
	}
	line = r.line
	if err := r.checkWidth(text); err != nil {
		return nil, line, err
	}
	r.fields, r.surplus = r.fields[:0], 0
	if strings.IndexByte(text, '"') < 0 {
		if strings.IndexByte(text, '\r') >= 0 {
			return nil, line, r.bareReturn(line)
		}
		for more := true; more; {
			var field string
			field, text, more = r.cut(text)
			r.keep(field)
		}
		return r.fields, line, nil
	}
	return r.splitQuoted(text, line)
}

// keep adds a field to the record, without the white space around it.
func (r *csvReader) keep(field string) {
	if r.width > 0 && len(r.fields) == r.width {
		r.surplus++
		return
	}
	r.fields = append(r.fields, strings.TrimSpace(field))
}

// columnBytes is the approximate memory of a column: its name, role and statistics.
const columnBytes = 500

// checkWidth prices the columns of a header.
func (r *csvReader) checkWidth(text string) error {
	if r.width > 0 || r.src.limit == 0 {
		return nil
	}
	columns := strings.Count(text, string(r.delimiter)) + 1
	return checkBytes(ReadOptions{MemoryLimit: r.src.limit},
		fmt.Sprintf("the %d columns of %s", columns, r.src.name), int64(columns)*columnBytes)
}

// cut divides a text at the first delimiter.
func (r *csvReader) cut(text string) (field, rest string, more bool) {
	if i := strings.IndexByte(text, r.delimiter); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

func (r *csvReader) bareReturn(line int) error {
	return r.bad(line, false, "save the file with LF or CRLF line ends",
		"there is a carriage return inside the line")
}

// splitQuoted splits a record with quotes, and reads more lines while a quote is open.
func (r *csvReader) splitQuoted(text string, line int) ([]string, int, error) {
	for more := true; more; {
		var field string
		text = strings.TrimLeftFunc(text, func(c rune) bool {
			return unicode.IsSpace(c) && c != rune(r.delimiter) // which may be a tab
		})
		if strings.HasPrefix(text, `"`) {
			rest, err := r.quotedField(&field, text[1:], line)
			if err != nil {
				return nil, line, err
			}
			var behind string
			if behind, text, more = r.cut(rest); behind != "" {
				names := map[byte]string{',': "comma", '\t': "tab", ';': "semicolon", '|': "bar"}
				return nil, line, r.bad(r.line, false, `write a quote inside a quoted field as ""`,
					"field %d has text behind its closing quote: want a %s", len(r.fields)+1,
					names[r.delimiter])
			}
		} else {
			field, text, more = r.cut(text)
			if strings.IndexByte(field, '"') >= 0 {
				return nil, line, r.bad(line, false, `quote the whole field and write the quote inside as ""`,
					"field %d has a quote in its middle: want the whole field in quotes", len(r.fields)+1)
			}
			if strings.IndexByte(field, '\r') >= 0 {
				return nil, line, r.bareReturn(line)
			}
		}
		r.keep(field)
	}
	return r.fields, line, nil
}

// quotedField stores the quoted field whose content text begins with, and returns the text after
// its closing quote. The record began on the given line.
func (r *csvReader) quotedField(field *string, text string, line int) (rest string, err error) {
	if value, rest, ok := strings.Cut(text, `"`); ok && !strings.HasPrefix(rest, `"`) {
		*field = value // the usual case: no doubled quotes
		return rest, nil
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '"')
		switch {
		case i >= 0 && strings.HasPrefix(text[i+1:], `"`):
			b.WriteString(text[:i+1])
			text = text[i+2:]
		case i >= 0:
			b.WriteString(text[:i])
			*field = b.String()
			return text[i+1:], nil
		default:
			b.WriteString(text)
			b.WriteByte('\n')
			if b.Len() > r.max {
				return "", r.bad(line, true, "close the quote",
					"a quoted field is longer than the limit of %s: want a closing quote",
					fault.FormatBytes(int64(r.max)))
			}
			next, err := r.readInside()
			if err == io.EOF {
				return "", r.bad(line, true, "close the quote",
					"a quoted field is not closed before the end of the file: want a closing quote")
			} else if err != nil {
				return "", err
			}
			text = string(next)
		}
	}
}

// plainLine returns the next line, valid until the next call. It is empty if only next can tell
// what follows.
func (r *csvReader) plainLine() []byte {
	if r.ahead != nil || r.blank > 0 {
		return nil
	}
	text, err := r.readLine()
	if err != nil || len(text) == 0 {
		r.ahead = &ahead{"", err}
		return nil
	}
	return text
}

// nextLine is like readLine, but returns a copy of the text, and first an outcome that was kept.
func (r *csvReader) nextLine() (string, error) {
	if a := r.ahead; a != nil {
		r.ahead = nil
		return a.text, a.err
	}
	text, err := r.readLine()
	return string(text), err
}
