package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// withJSON reads JSON Lines as the CSV text that has the same cells, so that numbers, missing
// cells, categories, labels and ids are what they are there.
func withJSON[T any](read func(src *source, o ReadOptions, rep *report) (T,
	error)) func(src *source, o ReadOptions, rep *report) (T, error) {
	return func(src *source, o ReadOptions, rep *report) (T, error) {
		inner := *src
		lines, err := newLineReader(&inner, o.MaxLine,
			textKind{"jsonl", "JSON Lines", "an object or an array in each line"})
		if err != nil {
			var none T
			return none, noteRecord(rep, err, -1)
		}
		j := &jsonLines{lines: lines, index: map[string]int{}, widths: map[string]int{}}
		src.r, src.size, src.hint, src.file = bufio.NewReaderSize(&steady{in: j}, bufferSize), -1, -1, nil
		src.headless, src.named, src.translated, o.Header = false, true, true, HeaderFirst
		return read(src, o, rep)
	}
}

// jsonLines translates JSON Lines, an object or an array in each line, to CSV. The columns are the
// names of the first lines, those of objects inside of objects joined by dots, and items of lists
// are numbered.
type jsonLines struct {
	lines   lineReader
	ahead   [][]byte // lines that were read for the names
	end     error    // of the lines, nil before it is known
	line    int      // the number of the last line that was translated
	columns []string
	index   map[string]int // of the columns
	widths  map[string]int // of lists
	cells   [][]byte       // of the line, nil for those that it lacks
	growing bool           // names are being collected
	out     bytes.Buffer
}

// Read returns the next bytes of CSV text.
func (j *jsonLines) Read(p []byte) (int, error) {
	if j.columns == nil && j.end == nil {
		if err := j.header(); err != nil {
			return 0, err
		}
	}
	for j.out.Len() == 0 {
		text, err := j.next()
		if err != nil {
			return 0, err
		}
		if err := j.translate(text); err != nil {
			return 0, err
		}
	}
	return j.out.Read(p)
}

// header collects the names of the first lines, as many as the buffer holds and at least one, and
// writes them.
func (j *jsonLines) header() error {
	j.growing = true
	for size := 0; size < bufferSize && (len(j.ahead) == 0 || j.lines.src.r.Buffered() > 0); {
		text, err := j.readLine()
		if err != nil {
			j.end = err
			break
		}
		size += len(text)
		j.ahead = append(j.ahead, bytes.Clone(text))
		j.line++
		if err := j.fill(text); err != nil {
			return err
		}
	}
	j.growing, j.line = false, 0
	if len(j.columns) == 0 && (j.end == nil || j.end == io.EOF && len(j.ahead) > 0) {
		return j.bad("",
			"it has no names: want an object such as {\"age\": 31, \"city\": \"Rome\"}, or an array")
	}
	for k, name := range j.columns {
		j.writeText(name)
		j.endCell(k)
	}
	j.cells = make([][]byte, len(j.columns))
	return nil
}

// next returns the next line.
func (j *jsonLines) next() ([]byte, error) {
	if len(j.ahead) > 0 {
		text := j.ahead[0]
		j.ahead = j.ahead[1:]
		j.line++
		return text, nil
	}
	if j.end != nil {
		return nil, j.end
	}
	text, err := j.readLine()
	if err == nil {
		j.line++
	}
	return text, err
}

// readLine returns the next line of the input without white space around it, valid until the next
// call.
func (j *jsonLines) readLine() ([]byte, error) {
	text, err := j.lines.readLine()
	if re, bad := errors.AsType[*recordError](err); bad {
		err = re.err
	}
	return bytes.TrimSpace(text), err
}

// translate writes the record of a line.
func (j *jsonLines) translate(text []byte) error {
	if len(text) == 0 {
		j.out.WriteByte('\n') // of which the reader of records knows what to say
		return nil
	}
	clear(j.cells)
	if err := j.fill(text); err != nil {
		return err
	}
	for k, cell := range j.cells {
		switch {
		case len(cell) == 0 && len(j.columns) == 1:
			j.writeText("") // which is no blank line
		case len(cell) == 0 || cell[0] != '"':
			j.out.Write(cell) // a number as it is
		case bytes.IndexByte(cell, '\\') < 0:
			j.writeText(string(cell[1 : len(cell)-1]))
		default:
			var s string
			_ = json.Unmarshal(cell, &s) // it was checked
			j.writeText(s)
		}
		j.endCell(k)
	}
	return nil
}

// inQuotes replaces what texts cannot have between quotes.
var inQuotes = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", `"`, `""`)

// writeText writes a text in quotes.
func (j *jsonLines) writeText(s string) {
	j.out.WriteByte('"')
	_, _ = inQuotes.WriteString(&j.out, s) // into memory
	j.out.WriteByte('"')
}

// endCell writes what follows a cell of the record.
func (j *jsonLines) endCell(k int) {
	if k < len(j.columns)-1 {
		j.out.WriteByte(',')
	} else {
		j.out.WriteByte('\n')
	}
}

// fill sets the cells of a line.
func (j *jsonLines) fill(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if text[0] != '{' && text[0] != '[' {
		return j.bad("", "it begins with %s: want an object {...} or an array [...] in every line",
			quote(string(text[:1])))
	}
	if !json.Valid(text) {
		var v json.RawMessage
		return j.bad("", "it is not JSON: %w", json.Unmarshal(text, &v))
	}
	_, err := j.value("", text)
	return err
}

// bad returns an error of the line, in the column of a name or in none.
func (j *jsonLines) bad(name, format string, args ...any) error {
	return errorAt(j.lines.src.name, j.line, -1, name, format, args...)
}

// value sets the cells of the value that text begins with, which is valid JSON, and returns what
// follows it. name is that of its column.
func (j *jsonLines) value(name string, text []byte) (rest []byte, err error) {
	switch text = space(text); text[0] {
	case '{':
		for text = space(text[1:]); text[0] != '}'; text = space(text) {
			var key string
			size := stringSize(text)
			if err := json.Unmarshal(text[:size], &key); err != nil {
				return nil, j.bad("", "a name is not JSON: %w", err)
			}
			if key == "" {
				return nil, j.bad("", "a name is empty: want one for every value")
			}
			if name != "" {
				key = name + "." + key
			}
			text = space(text[size:])[1:] // the colon
			if text, err = j.value(key, text); err != nil {
				return nil, err
			}
			if text = space(text); text[0] == ',' {
				text = space(text[1:])
			}
		}
		return text[1:], nil
	case '[':
		text = space(text[1:])
		k := 0
		for ; text[0] != ']'; k++ {
			item := strconv.Itoa(k)
			if name != "" {
				item = name + "." + item
			}
			if text, err = j.value(item, text); err != nil {
				return nil, err
			}
			if text = space(text); text[0] == ',' {
				text = space(text[1:])
			}
		}
		if width, known := j.widths[name]; known && width != k {
			return nil, j.bad(name, "the list has %s: want %d, as in the first line that has one",
				fault.Count(k, "item"), width)
		}
		j.widths[name] = k
		return text[1:], nil
	case '"':
		size := stringSize(text)
		return text[size:], j.set(name, text[:size])
	}
	size := bytes.IndexAny(text, ",]} \t\r")
	if bytes.HasPrefix(text, []byte("null")) {
		return text[size:], j.set(name, []byte{})
	}
	return text[size:], j.set(name, text[:size])
}

// set sets a cell, or, while names are collected, adds its column.
func (j *jsonLines) set(name string, cell []byte) error {
	k, known := j.index[name]
	switch {
	case !known && j.growing:
		j.index[name] = len(j.columns)
		j.columns = append(j.columns, name)
	case !known:
		return j.bad(name, "the first lines have no column of this name: want the same names in every line")
	case !j.growing && j.cells[k] != nil:
		return j.bad(name, "the line has two values of this name: want one")
	case !j.growing:
		j.cells[k] = cell
	}
	return nil
}

// space returns the text after leading white space.
func space(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// stringSize returns the length of the string that text begins with, with its quotes.
func stringSize(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}
