package label

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// The words of a record. An unknown pair is one that somebody could not answer.
const (
	must    = "must"
	cannot  = "cannot"
	unknown = "unknown"
)

// stamp is how times are written: in UTC, with milliseconds.
const stamp = "2006-01-02T15:04:05.000Z"

// record is an answer in a file.
type record struct {
	i, j   int
	word   string
	who    string
	when   time.Time // zero for a link of another source
	line   int
	fields []string // as in the file, nil for a new record
}

// link returns the link of a record that is no unknown pair.
func (r *record) link() links.Link {
	l := links.NewLink(r.i, r.j, links.Must)
	if r.word == cannot {
		l.Sign = links.Cannot
	}
	l.Line = r.line
	return l
}

// names translates the rows of a file.
type names struct {
	context dataset.LinkContext
	rows    map[string]int // of ids, nil for row numbers
}

func newNames(n int, ids []string, limit int64) *names {
	x := &names{context: dataset.LinkContext{N: n, By: dataset.ByRow, MemoryLimit: limit}}
	if ids != nil {
		x.context.By, x.context.IDs, x.rows = dataset.ByID, ids, make(map[string]int, n)
		for i, id := range ids {
			x.rows[id] = i
		}
	}
	return x
}

// name returns how files call a row.
func (x *names) name(i int) string {
	if x.rows != nil {
		return x.context.IDs[i]
	}
	return strconv.Itoa(i)
}

// row is the opposite of name.
func (x *names) row(name string) (int, bool) {
	if x.rows != nil {
		i, ok := x.rows[name]
		return i, ok
	}
	i, err := strconv.Atoi(strings.TrimSpace(name))
	return i, err == nil && i >= 0 && i < x.context.N
}

// file is a CSV of answers. New ones are appended and flushed to disk; a removal writes another
// file and renames it. Before each change the file is read again if another program has changed it.
type file struct {
	path    string
	answer  string // the column with the word: link, or answer in a file of open questions
	names   *names
	head    string   // what is before the header: comments
	columns []string // nil while there is no file
	records []record
	seen    fs.FileInfo // after the last reading or writing, nil for no file
	dropped string      // an unfinished last line that was removed, "" for none
}

// openFile reads a file of answers, if it exists.
func openFile(path, answer string, x *names) (*file, error) {
	f := &file{path: path, answer: answer, names: x}
	if _, err := f.refresh(); err != nil {
		return nil, err
	}
	if f.columns == nil || slices.Contains(f.columns, "who") && slices.Contains(f.columns, "when") {
		return f, nil
	}
	return f, f.rewrite(nil, nil)
}

// refresh reads the file again if it is not as it was left, and reports whether it did.
func (f *file) refresh() (changed bool, err error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.seen == nil:
		return false, nil
	case err != nil:
		return false, fault.Data(f.path, "the file of answers is gone: want it back, or a new start: %w",
			errors.Unwrap(err))
	case f.seen != nil && os.SameFile(info, f.seen) && info.Size() == f.seen.Size() &&
		info.ModTime().Equal(f.seen.ModTime()):
		return false, nil
	case !info.Mode().IsRegular():
		return false, fault.Data(f.path, "it is no regular file: want one that answers are appended to")
	}
	// the text, and its lines as fields
	if limit := f.names.context.MemoryLimit; limit > 0 && info.Size() > limit/4 {
		return false, &fault.MemoryError{What: "the answers of " + f.path, Need: 4 * info.Size(),
			Limit: limit, Hint: "raise the limit"}
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return false, fault.Data(f.path, "%w", errors.Unwrap(err))
	}
	if err := f.parse(text); err != nil {
		return false, err
	}
	f.seen = info
	return true, nil
}

// parse takes the content of the file. A last line that is not complete, as a crash leaves it, is
// cut off.
func (f *file) parse(text []byte) error {
	if len(text) == 0 {
		f.head, f.columns, f.records = "", nil, nil
		return nil
	}
	columns, records, kept, err := f.split(text)
	if err != nil {
		return err
	}
	if kept < len(text) {
		f.dropped = string(text[kept:])
		if err := os.Truncate(f.path, int64(kept)); err != nil {
			return fault.Data(f.path, "%w", err)
		}
	} else if text[len(text)-1] != '\n' {
		if err := f.write([]byte("\n")); err != nil {
			return err
		}
	}
	head, _ := dataset.CutComments(text)
	f.head, f.columns, f.records = string(head), columns, records
	return nil
}

// split returns the header, the records, and the number of bytes that they take.
func (f *file) split(text []byte) (columns []string, records []record, kept int, err error) {
	whole := text[len(text)-1] == '\n'
	head, body := dataset.CutComments(text)
	mark := len(head)
	r := csv.NewReader(bytes.NewReader(body))
	if columns, err = r.Read(); err != nil {
		return nil, nil, 0, fault.Data(f.path,
			"its header cannot be read: want a .csv with the columns i, j, %s: %w", f.answer, err)
	}
	if !f.knows(columns) {
		return nil, nil, 0, fault.Data(f.path,
			"the header is %s: want the columns i, j, %s, to which answers are appended",
			strings.Join(columns, ","), f.answer)
	}
	kept = mark + int(r.InputOffset())
	var problem error
	for {
		fields, err := r.Read()
		if err == io.EOF {
			break
		}
		if err == nil {
			line, _ := r.FieldPos(0)
			line += bytes.Count(head, []byte("\n"))
			var one record
			if one, err = f.record(columns, fields, line); err == nil {
				records, kept = append(records, one), mark+int(r.InputOffset())
				continue
			}
		}
		if !whole && int(r.InputOffset()) == len(body) {
			break // the line of a crash
		}
		problem = err
		break
	}
	checked := text[:kept]
	if problem != nil {
		checked = text
	}
	if f.answer == "link" { // with all its rules
		content := checked
		if len(records) == 0 && problem == nil {
			content = f.withOne(checked, columns)
		}
		if _, err := dataset.DecodeLinks(bytes.NewReader(content), f.path, false,
			f.names.context); err != nil {
			return nil, nil, 0, err
		}
	}
	if problem != nil {
		return nil, nil, 0, fault.InFile(problem, f.path)
	}
	if !utf8.Valid(checked) { // of a file of questions
		return nil, nil, 0, fault.Data(f.path,
			"its comments or answers are not UTF-8: save the file as UTF-8 text")
	}
	return columns, records, kept, nil
}

// withOne returns a file that ends with its header, as it is after an answer. Without records it is
// no file of links, but what is wrong with its header and comments must be said before people
// answer.
func (f *file) withOne(text []byte, columns []string) []byte {
	var b bytes.Buffer
	b.Write(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		b.WriteByte('\n')
	}
	one := make([]string, len(columns))
	for k, c := range columns {
		switch c {
		case "i", "j":
			one[k] = f.names.name(strings.Index("ij", c))
		case f.answer:
			one[k] = must
		}
	}
	w := csv.NewWriter(&b)
	w.Write(one) // into memory
	w.Flush()
	return b.Bytes()
}

// above returns the number of lines before the header.
func (f *file) above() int { return strings.Count(f.head, "\n") }

// knows reports whether answers can be appended to a file with these columns.
func (f *file) knows(columns []string) bool {
	for k, c := range columns {
		if slices.Contains(columns[:k], c) ||
			!slices.Contains([]string{"i", "j", f.answer, "bound", "weight", "who", "when"}, c) {
			return false
		}
	}
	return slices.Contains(columns, "i") && slices.Contains(columns, "j") &&
		slices.Contains(columns, f.answer)
}

// record reads the fields of a line.
func (f *file) record(columns, fields []string, line int) (r record, err error) {
	wrong := func(column, got, want string) error {
		return &fault.DataError{Row: -1, Line: line, Column: column,
			Err: fmt.Errorf("the value is %q: want %s", got, want)}
	}
	r = record{line: line, fields: slices.Clone(fields)}
	for k, text := range fields {
		text, ok := strings.TrimSpace(text), true
		switch column := columns[k]; column {
		case "i":
			r.i, ok = f.names.row(text)
		case "j":
			r.j, ok = f.names.row(text)
		case f.answer:
			switch {
			case text == "1" || text == "+1":
				text = must
			case text == "-1":
				text = cannot
			}
			r.word, ok = text, text == must || text == cannot || text == unknown && f.answer != "link"
		case "who":
			r.who = fields[k]
		case "when":
			if text != "" {
				r.when, err = time.Parse(time.RFC3339, text)
				ok = err == nil
			}
		}
		if !ok {
			return r, wrong(columns[k], fields[k], "a row, an answer, or a time, as the header says")
		}
	}
	if r.i == r.j {
		return r, wrong("j", f.names.name(r.j), "another row than i")
	}
	return r, nil
}

// row returns the fields of a record.
func (f *file) row(r *record) []string {
	row := make([]string, len(f.columns))
	if r.fields != nil {
		copy(row, r.fields) // the columns that were added come last
		return row
	}
	for k, c := range f.columns {
		switch c {
		case "i":
			row[k] = f.names.name(r.i)
		case "j":
			row[k] = f.names.name(r.j)
		case f.answer:
			row[k] = r.word
		case "who":
			row[k] = r.who
		case "when":
			row[k] = r.when.UTC().Format(stamp)
		}
	}
	return row
}

// add appends answers, and returns when they are on disk. After an error the file is as before.
func (f *file) add(list []record) error {
	if len(list) == 0 {
		return nil
	}
	head := f.columns == nil
	if head {
		f.columns = []string{"i", "j", f.answer, "who", "when"}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if head {
		w.Write(f.columns) // into memory
	}
	for k := range list {
		list[k].fields = f.row(&list[k])
		w.Write(list[k].fields)
	}
	w.Flush()
	if err := f.write(b.Bytes()); err != nil {
		if head {
			f.columns = nil
		}
		return err
	}
	for k := range list {
		list[k].line = f.above() + 2 + len(f.records) + k // unless fields have ends of lines
	}
	f.records = append(f.records, list...)
	return nil
}

// write appends bytes, all of them or none.
func (f *file) write(b []byte) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fault.Data(f.path, "the answer cannot be written: %w", errors.Unwrap(err))
	}
	before, err := out.Stat()
	if err == nil {
		if _, err = out.Write(b); err == nil {
			err = out.Sync()
		}
		if err != nil {
			err = errors.Join(err, out.Truncate(before.Size()))
			if f.seen == nil {
				err = errors.Join(err, os.Remove(f.path))
			}
		}
	}
	if err == nil {
		f.seen, err = out.Stat()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("%s: the answer cannot be written: %w", f.path, cause(err))
	}
	return nil
}

// cause returns the error of the system without the name of a file.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// rewrite removes the records for which drop holds, and adds others, in one step. It adds the
// columns of answers that the file lacks.
func (f *file) rewrite(drop func(r *record) bool, list []record) error {
	for _, c := range []string{"i", "j", f.answer, "who", "when"} {
		if !slices.Contains(f.columns, c) {
			f.columns = append(f.columns, c)
		}
	}
	kept := slices.Clone(f.records)
	if drop != nil {
		kept = slices.DeleteFunc(kept, func(r record) bool { return drop(&r) })
	}
	kept = append(kept, list...)
	for k := range kept {
		kept[k].fields, kept[k].line = f.row(&kept[k]), f.above()+k+2
	}
	err := dataset.Atomic(f.path, func(out io.Writer) error {
		if _, err := io.WriteString(out, f.head); err != nil {
			return err
		}
		w := csv.NewWriter(out)
		w.Write(f.columns) // errors stay in w
		for k := range kept {
			w.Write(kept[k].fields)
		}
		w.Flush()
		return w.Error()
	})
	if err != nil {
		return err
	}
	f.records = kept
	f.seen, err = os.Stat(f.path)
	return err
}
