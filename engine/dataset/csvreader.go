package dataset

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
)

// csvKind is CSV in messages.
func csvKind() textKind { return textKind{"csv", "CSV text", "a header and data rows"} }

// csvReader splits a source into records. It differs from encoding/csv in that lines and
// records have a limit, that text which is no text is noticed, and that a blank line
// inside the data is an error, because in a file of one column it is a missing value.
type csvReader struct {
	lineReader
	blank  int    // the first of the blank lines just passed, 0 for none
	ahead  *ahead // what was read already but belongs to the next record
	fields []string
}

// ahead is an outcome of nextLine kept for later.
type ahead struct {
	text string
	err  error
}

func newCSVReader(src *source, maxLine int) (*csvReader, error) {
	lines, err := newLineReader(src, maxLine, csvKind())
	return &csvReader{lineReader: lines}, err
}

// next returns the fields of the next record and the line it begins on. The slice is
// valid until the next call, its strings for good. At the end the error is io.EOF;
// a record that is wrong is a *recordError.
func (r *csvReader) next() (fields []string, line int, err error) {
	text, err := r.nextLine()
	for ; err == nil && text == ""; text, err = r.nextLine() {
		if r.blank == 0 {
			r.blank = r.line
		}
	}
	if err == io.EOF {
		return nil, r.line, err
	}
	if blank := r.blank; blank > 0 {
		r.blank, r.ahead = 0, &ahead{text, err}
		return nil, blank, r.bad(blank, false, "remove the line, or give it values", "the line is blank: blank lines may only stand at the end")
	}
	if err != nil {
		return nil, r.line, err
	}
	line = r.line
	r.fields = r.fields[:0]
	if strings.IndexByte(text, '"') < 0 {
		if strings.IndexByte(text, '\r') >= 0 {
			return nil, line, r.bareReturn(line)
		}
		for {
			field, rest, more := strings.Cut(text, ",")
			r.fields = append(r.fields, trimLeft(field))
			if !more {
				return r.fields, line, nil
			}
			text = rest
		}
	}
	return r.splitQuoted(text, line)
}

// trimLeft removes the spaces before a field, fast when there are none.
func trimLeft(s string) string {
	if s != "" && (s[0] <= ' ' || s[0] >= utf8.RuneSelf) {
		return strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	return s
}

func (r *csvReader) bareReturn(line int) error {
	return r.bad(line, false, "save the file with LF or CRLF line ends", "a carriage return stands inside the line")
}

// splitQuoted splits a record that holds quotes, reading on while one is open.
func (r *csvReader) splitQuoted(text string, line int) ([]string, int, error) {
	for more := true; more; {
		var field string
		text = trimLeft(text)
		if strings.HasPrefix(text, `"`) {
			rest, err := r.quotedField(&field, text[1:], line)
			if err != nil {
				return nil, line, err
			}
			if text, more = strings.CutPrefix(rest, ","); !more && text != "" {
				return nil, line, r.bad(r.line, false, `write a quote inside a quoted field as ""`,
					"field %d has text behind its closing quote: want a comma", len(r.fields)+1)
			}
		} else {
			field, text, more = strings.Cut(text, ",")
			if strings.IndexByte(field, '"') >= 0 {
				return nil, line, r.bad(line, false, `quote the whole field and write the quote inside as ""`,
					"field %d has a quote in its middle", len(r.fields)+1)
			}
			if strings.IndexByte(field, '\r') >= 0 {
				return nil, line, r.bareReturn(line)
			}
		}
		r.fields = append(r.fields, field)
	}
	return r.fields, line, nil
}

// quotedField stores the field that text is inside of, and returns what follows its
// closing quote. line is where the record began.
func (r *csvReader) quotedField(field *string, text string, line int) (rest string, err error) {
	if value, rest, ok := strings.Cut(text, `"`); ok && !strings.HasPrefix(rest, `"`) {
		*field = value // nothing to undo: the usual case
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
					"a quoted field is longer than the limit of %s: is a quote left open?", fault.FormatBytes(int64(r.max)))
			}
			next, err := r.readInside()
			if err == io.EOF {
				return "", r.bad(line, true, "close the quote", "a quoted field is not closed before the end of the file")
			} else if err != nil {
				return "", err
			}
			text = string(next)
		}
	}
}

// plainLine returns the next line, valid until the next call. It is empty where next has to tell
// what comes.
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

// unread gives the line of plainLine back.
func (r *csvReader) unread(text []byte) { r.ahead = &ahead{string(text), nil} }

// nextLine is readLine as text that stays, with what was read ahead before it.
func (r *csvReader) nextLine() (string, error) {
	if a := r.ahead; a != nil {
		r.ahead = nil
		return a.text, a.err
	}
	text, err := r.readLine()
	return string(text), err
}
