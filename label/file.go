package label

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
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

// repeats reports whether two records say the same of one pair by one person.
func (r *record) repeats(x *record) bool {
	return pairOf(r.i, r.j) == pairOf(x.i, x.j) && r.word == x.word && r.who == x.who
}

// names translates the rows of a file.
type names struct {
	context dataset.LinkContext
	rows    map[string]int // of ids, nil for row numbers
}

func newNames(n int, ids []string, limit int64) *names {
	x := &names{context: dataset.LinkContext{N: n, By: dataset.ByRow, MemoryLimit: limit, MayBeEmpty: true}}
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
// Sessions change it one at a time ([take]); other programs may append whole lines whenever they
// like, also to the file that a removal has replaced, whose new lines are carried over.
type file struct {
	path    string
	answer  string   // the column with the word: link, or answer in a file of open questions
	own     []string // columns that a file must have
	names   *names
	head    string   // what is before the header: comments
	columns []string // nil while there is no file
	records []record
	seen    fs.FileInfo // after the last reading or writing, nil for no file
	size    int64       // bytes that were read or written
	unread  bool        // there are more bytes than these
	half    string      // the last line, which another program has not ended, "" for none
	dropped string      // an unfinished last line that was removed, "" for none
	former  []former    // files that removals replaced, the latest last
	at      func(point string)
}

// former is a file that was replaced, and how much of it is in its successor.
type former struct {
	file *os.File
	size int64
}

// mostFormer is the number of replaced files that are watched. A program that appends to an earlier
// one has had it open since before as many removals.
const mostFormer = 16

// openFile reads a file of answers, if it exists.
func openFile(path, answer string, x *names) (*file, error) {
	f := &file{path: path, answer: answer, own: []string{"i", "j", answer, "who", "when"}, names: x,
		at: func(string) {}}
	if _, err := f.read(true); err != nil {
		return nil, err
	}
	if f.columns == nil || slices.Contains(f.columns, "who") && slices.Contains(f.columns, "when") {
		return f, nil
	}
	return f, f.rewrite(nil, nil)
}

// Answers is a file of links to which a program without a page appends the answers of a person.
type Answers struct{ file }

// OpenAnswers reads a file of links between n rows, which ids name unless they are nil, or makes
// one. It takes no more than limit bytes of memory, 0 for no limit. Errors are *fault.DataError.
func OpenAnswers(path string, n int, ids []string, limit int64) (*Answers, error) {
	a := &Answers{file{path: path, answer: "link", own: []string{"i", "j", "link"},
		names: newNames(n, ids, limit), at: func(string) {}}}
	_, err := a.read(true)
	if err == nil {
		err = a.put(nil) // the header, or whether there can be more
	}
	return a, err
}

// Name returns how the file calls a row.
func (a *Answers) Name(row int) string { return a.names.name(row) }

// Row is the opposite of Name.
func (a *Answers) Row(name string) (row int, ok bool) { return a.names.row(name) }

// Line returns the number of the line that comes next.
func (a *Answers) Line() int { return a.above() + 2 + len(a.records) }

// Add appends links, and returns when they are on disk. After an error the file is as before.
func (a *Answers) Add(list []links.Link) error {
	rows := make([]record, len(list))
	for k, l := range list {
		rows[k] = record{i: l.I, j: l.J, word: l.Sign.String()}
	}
	return a.add(rows)
}

// refresh reads the file again if it is not as it was left, and reports whether it did.
func (f *file) refresh() (changed bool, err error) {
	if changed, err = f.read(false); err != nil || f.half != "" {
		return changed, err
	}
	if err := f.carry(); err != nil || !f.unread {
		return changed, err
	}
	return f.read(false)
}

// carry appends to the file what other programs have appended to the files before it.
func (f *file) carry() error {
	for k := range f.former {
		if f.former[k].file == nil {
			continue
		}
		b, err := io.ReadAll(io.NewSectionReader(f.former[k].file, f.former[k].size, math.MaxInt64/2))
		if err != nil {
			return fault.Data(f.path, "the file that it replaced cannot be read: %w", cause(err))
		}
		if b = b[:bytes.LastIndexByte(b, '\n')+1]; len(b) == 0 {
			continue // no line has ended
		}
		if err := f.write(b); err != nil {
			return err
		}
		f.former[k].size += int64(len(b))
		f.unread = true
	}
	return nil
}

// close ends the watch on files that were replaced.
func (f *file) close() {
	for _, x := range f.former {
		x.file.Close() // of nil too
	}
	f.former = nil
}

// read reads the file if it is not as it was left. At the start of a session, before others can
// write, an unfinished last line is what a crash has left.
func (f *file) read(start bool) (changed bool, err error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.seen == nil:
		return false, nil
	case err != nil:
		return false, fault.Data(f.path, "the file of answers is gone: want it back, or a new start: %w",
			errors.Unwrap(err))
	case !f.unread && f.seen != nil && os.SameFile(info, f.seen) && info.Size() == f.seen.Size() &&
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
	f.seen, f.size, f.half, f.unread = info, int64(len(text)), "", false
	return true, f.parse(text, start)
}

// parse takes the content of the file. A last line that is not complete is cut off at the start, as
// a crash leaves one, and otherwise left alone until it ends.
func (f *file) parse(text []byte, start bool) error {
	if len(text) == 0 {
		f.head, f.columns, f.records = "", nil, nil
		return nil
	}
	columns, records, kept, err := f.split(text, start)
	if err != nil {
		f.unread = true
		return err
	}
	switch {
	case kept < len(text) && start:
		f.dropped = string(text[kept:])
		if err := os.Truncate(f.path, int64(kept)); err != nil {
			return fault.Data(f.path, "%w", err)
		}
		f.unread = true // it has another size
	case kept < len(text):
		f.half = string(text[kept:])
	case text[len(text)-1] != '\n':
		if err := f.write([]byte("\n")); err != nil {
			return err
		}
	}
	head, _ := dataset.CutComments(text)
	f.head, f.columns, f.records = string(head), columns, records
	return nil
}

// split returns the header, the records, and the number of bytes that they take. A last line
// without an end is a record at the start alone.
func (f *file) split(text []byte, start bool) (columns []string, records []record, kept int, err error) {
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
				if !whole && !start && int(r.InputOffset()) == len(body) {
					break
				}
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
		if _, err := dataset.ReadLinks(dataset.Input{Name: f.path, Stream: bytes.NewReader(checked)},
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
			if !r.when.IsZero() {
				row[k] = r.when.UTC().Format(stamp)
			}
		}
	}
	return row
}

// add appends answers, and returns when they are on disk. After an error the file is as before.
func (f *file) add(list []record) error {
	if len(list) == 0 {
		return nil
	}
	return f.put(list)
}

// put is add that writes a header also without answers.
func (f *file) put(list []record) error {
	head := f.columns == nil
	if head {
		f.columns = slices.Clone(f.own)
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
	if f.half != "" {
		return fault.Data(f.path, "its last line %q has no end, so that no answer can follow: another program "+
			"is writing it, or has ended: want its end, or the line removed", f.half)
	}
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
	if err == nil {
		f.unread = f.unread || f.seen.Size() != f.size+int64(len(b)) // others have appended lines
		f.size += int64(len(b))
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
// columns of answers that the file lacks. What other programs do meanwhile stays: lines that they
// append are carried over, and a file that an editor has saved is read again.
func (f *file) rewrite(drop func(r *record) bool, list []record) error {
	err := errChanged
	for errors.Is(err, errChanged) {
		f.unread = true
		if _, err := f.read(false); err != nil {
			return err
		}
		f.at("read")
		if f.half != "" {
			return f.write(nil) // which says so
		}
		for _, c := range f.own {
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
		if err = f.replace(kept); err == nil {
			f.records = kept
		}
	}
	if err != nil {
		return err
	}
	f.at("replaced")
	return f.carry()
}

// errChanged says that a file was changed while it was to be replaced.
var errChanged = errors.New("the file has changed")

// replace writes the records, and gives the new file its name unless the old one is no longer as it
// was read. The old one stays open, so that nothing is lost that reaches it still.
func (f *file) replace(kept []record) error {
	text := bytes.NewBufferString(f.head)
	w := csv.NewWriter(text)
	w.Write(f.columns) // into memory
	for k := range kept {
		w.Write(kept[k].fields)
	}
	w.Flush()
	old, err := f.watched()
	if err != nil {
		return err
	}
	size := int64(text.Len())
	err = dataset.Atomic(f.path, func(out io.Writer) error {
		if _, err := text.WriteTo(out); err != nil {
			return err
		}
		f.at("written")
		info, err := os.Stat(f.path)
		if err != nil || !os.SameFile(info, f.seen) || info.Size() < f.size { // an editor has saved it
			err = errors.Join(err, errChanged)
		}
		return err
	})
	if err != nil {
		old.Close()
		return err
	}
	f.former = append(f.former, former{old, f.size})
	if len(f.former) > mostFormer {
		f.former[0].file.Close()
		f.former = f.former[1:]
	}
	f.size = size
	if f.seen, err = os.Stat(f.path); err != nil {
		return fault.Data(f.path, "%w", cause(err))
	}
	f.unread = f.seen.Size() != size
	return nil
}

// watched opens the file as it was read; nil on a system that replaces no open file.
func (f *file) watched() (*os.File, error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	old, err := os.Open(f.path)
	if err != nil {
		return nil, fault.Data(f.path, "%w", cause(err))
	}
	if info, err := old.Stat(); err != nil || !os.SameFile(info, f.seen) {
		old.Close()
		return nil, errors.Join(err, errChanged)
	}
	return old, nil
}
