package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
)

// csvReader splits a source into records. It differs from encoding/csv in that lines and
// records have a limit, that text which is no text is noticed, and that a blank line
// inside the data is an error, because in a file of one column it is a missing value.
type csvReader struct {
	src    *source
	max    int
	line   int    // lines read so far
	blank  int    // the first of the blank lines just passed, 0 for none
	ahead  *ahead // what was read already but belongs to the next record
	long   []byte // a line that does not fit the source's buffer
	fields []string
}

// ahead is an outcome of readLine kept for later.
type ahead struct {
	text string
	err  error
}

// recordError is a record that cannot be understood. After one that is not fatal the
// reader stands behind the record's last line.
type recordError struct {
	err   *fault.DataError
	mend  string
	fatal bool
}

func (e *recordError) Error() string { return e.err.Error() }

func (r *csvReader) bad(line int, fatal bool, mend, format string, args ...any) *recordError {
	e := fault.Data(r.src.name, format, args...)
	e.Line = line
	return &recordError{err: e, mend: mend, fatal: fatal}
}

// newCSVReader looks at the beginning of the source and skips a byte order mark.
func newCSVReader(src *source, maxLine int) (*csvReader, error) {
	r := &csvReader{src: src, max: maxLine}
	head, err := src.r.Peek(512)
	if err != nil && err != io.EOF {
		return nil, src.readError(err)
	}
	if len(head) == 0 {
		return nil, r.bad(0, true, "check that it was written to the end", "the file is empty: want a header and data rows")
	}
	if what, mend := sniff(head); what != "" {
		return nil, r.bad(0, true, mend, "the content is %s: want CSV text", what)
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, _ = src.r.Discard(len("\ufeff")) // it was peeked, so it is there
	}
	return r, nil
}

// next returns the fields of the next record and the line it begins on. The slice is
// valid until the next call, its strings for good. At the end the error is io.EOF;
// a record that is wrong is a *recordError.
func (r *csvReader) next() (fields []string, line int, err error) {
	text, err := r.readLine()
	for ; err == nil && text == ""; text, err = r.readLine() {
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
			if text, err = r.readLine(); err == io.EOF {
				return "", r.bad(line, true, "close the quote", "a quoted field is not closed before the end of the file")
			} else if err != nil {
				return "", err
			}
		}
	}
}

// readLine returns the next line without its end, which may be LF, CRLF or that of the
// file. The error is io.EOF, a *recordError, or that of the source.
func (r *csvReader) readLine() (string, error) {
	if a := r.ahead; a != nil {
		r.ahead = nil
		return a.text, a.err
	}
	r.line++
	text, err := r.src.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		text, err = r.readLong(text)
	}
	switch {
	case err == io.EOF && len(text) == 0:
		r.line--
		return "", io.EOF
	case err != nil && err != io.EOF:
		return "", r.at(err)
	}
	// Text that was converted to CRLF twice ends in CR CR LF.
	text = bytes.TrimRight(bytes.TrimSuffix(text, []byte("\n")), "\r")
	if len(text) > r.max {
		return "", r.tooLong()
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return "", r.bad(r.line, true, "check that this is the right file", "byte %d of the line is 0: want CSV text", i)
	}
	if !utf8.Valid(text) {
		return "", r.bad(r.line, false, "save the file as UTF-8", "the line is not UTF-8 text (byte %d)", invalidAt(text))
	}
	return string(text), nil
}

// readLong collects a line that begins with head, up to the limit.
func (r *csvReader) readLong(head []byte) ([]byte, error) {
	r.long = append(r.long[:0], head...)
	for {
		part, err := r.src.r.ReadSlice('\n')
		if len(r.long)+len(part) > r.max+2 { // the line's end does not count
			return nil, r.tooLong()
		}
		r.long = append(r.long, part...)
		if err != bufio.ErrBufferFull {
			return r.long, err
		}
	}
}

func (r *csvReader) tooLong() error {
	return r.bad(r.line, true, "check that this is CSV text with line ends",
		"the line is longer than the limit of %s", fault.FormatBytes(int64(r.max)))
}

// at adds the line to an error of the source.
func (r *csvReader) at(err error) error {
	err = r.src.readError(err)
	if de, ok := errors.AsType[*fault.DataError](err); ok && de.Line == 0 {
		de.Line = r.line
	}
	return err
}

// invalidAt returns the place of the first byte that is not part of UTF-8 text.
func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}
