package arrow

import (
	"io"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// reader reads the rows of a file. It implements dataset.RowReader.
type reader struct {
	parts
	file    *ipc.FileReader
	problem func(*fault.DataError, string) error
	limit   int64
	mixed   bool     // texts and missing cells are accepted
	names   []string // of the features
	numbers []string // of those that are numbers
	rows    []int    // of each batch
	total   int
	done    int               // rows
	next    int               // the batch after the current one
	batch   arrow.RecordBatch // nil for none
	at      int               // rows of the batch that were read
}

// open starts to read a file; see [dataset.Extension].
func open(in io.ReaderAt, size int64, o dataset.ReadOptions, problem func(*fault.DataError, string) error) (dataset.RowReader, error) {
	r := &reader{problem: problem, mixed: o.Mixed && !o.Gram, limit: o.MemoryLimit}
	err := guard(func() (err error) {
		if err := checkMagic(in, size); err != nil {
			return err
		}
		if r.rows, err = batchRows(in, size); err != nil {
			return err
		}
		r.file, err = ipc.NewFileReader(io.NewSectionReader(in, 0, size), ipc.WithAllocator(newBudget(o.MemoryLimit)))
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, n := range r.rows {
		r.total += n
	}
	if r.parts, err = divide(r.file.Schema(), o, r.mixed, problem); err != nil {
		return nil, err
	}
	for _, c := range r.features {
		r.names = c.names(r.names)
		if !c.asText {
			r.numbers = c.names(r.numbers)
		}
	}
	return r, r.checkNames()
}

// checkNames reports features without a name or with the same name.
func (r *reader) checkNames() error {
	seen := make(map[string]int, len(r.names))
	for j, name := range r.names {
		first, twice := seen[name]
		var err error
		switch {
		case name == "":
			err = r.problem(columnError(strconv.Itoa(j), "feature %d has no name: want one", j), "name the column, or remove it")
		case twice:
			err = r.problem(columnError(name, "features %d and %d have the same name: want different ones", first, j), "rename one of them")
		default:
			seen[name] = j
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Count returns the number of rows.
func (r *reader) Count() int { return r.total }

// Features returns the names of the features.
func (r *reader) Features() []string { return r.names }

// Skip skips the next n rows.
func (r *reader) Skip(n int) error {
	for n > 0 {
		if err := r.advance(); err != nil {
			return err
		}
		k := min(n, r.left())
		r.at, r.done, n = r.at+k, r.done+k, n-k
	}
	return nil
}

// left returns the number of rows of the current batch that were not read.
func (r *reader) left() int {
	if r.next == 0 {
		return 0
	}
	return r.rows[r.next-1] - r.at
}

// advance goes to the next batch with rows if the current one has ended. It does not read it.
func (r *reader) advance() error {
	for r.left() == 0 {
		if r.batch != nil {
			r.batch.Release()
			r.batch = nil
		}
		if r.next == len(r.rows) {
			return io.EOF
		}
		r.next, r.at = r.next+1, 0
	}
	return nil
}

// load reads the current batch.
func (r *reader) load() error {
	if r.batch != nil {
		return nil
	}
	return guard(func() (err error) {
		if r.batch, err = r.file.RecordBatchAt(r.next - 1); err != nil {
			return err
		}
		if n := int(r.batch.NumRows()); n != r.rows[r.next-1] {
			return fault.Data("", "the Arrow file is damaged: batch %d has %d rows, and claims %d", r.next-1, n, r.rows[r.next-1])
		}
		return nil
	})
}

// Next returns the next rows, at most limit of them.
func (r *reader) Next(limit int) (dataset.Rows, error) {
	n := min(limit, r.total-r.done)
	if n == 0 {
		return dataset.Rows{}, io.EOF
	}
	const value = 8
	if len(r.names) > math.MaxInt/value/n {
		return dataset.Rows{}, fault.Data("", "it claims %d x %d values: more than memory can hold", n, len(r.names))
	}
	if need := int64(n) * int64(len(r.names)) * value; r.limit > 0 && need > r.limit {
		return dataset.Rows{}, &fault.MemoryError{What: "a block of " + strconv.Itoa(n) + " rows", Need: need, Limit: r.limit, Hint: "use fewer rows or columns, or raise the limit"}
	}
	var rows dataset.Rows
	for read := 0; read < n; {
		if err := r.advance(); err != nil {
			return dataset.Rows{}, err
		}
		if err := r.load(); err != nil {
			return dataset.Rows{}, err
		}
		k := min(n-read, r.left())
		if err := r.take(&rows, k); err != nil {
			return dataset.Rows{}, err
		}
		r.at, r.done, read = r.at+k, r.done+k, read+k
	}
	return rows, nil
}

// take appends the next k rows of the batch.
func (r *reader) take(rows *dataset.Rows, k int) error {
	first := len(rows.Data)
	rows.Data = append(rows.Data, make([]float64, k*len(r.numbers))...)
	if len(r.numbers) < len(r.names) && rows.Texts == nil {
		rows.Texts = make([][]string, len(r.names))
	}
	at, place := 0, 0 // among the numbers, and among the features
	for _, c := range r.features {
		a := r.batch.Column(c.at)
		switch {
		case c.asText:
			texts, err := r.texts(a, k)
			if err != nil {
				return err
			}
			rows.Texts[place] = append(rows.Texts[place], texts...)
		default:
			if err := r.takeNumbers(rows.Data[first:], c, a, at, k); err != nil {
				return err
			}
			at += c.width
		}
		place += c.width
	}
	var err error
	if rows.IDs, err = r.takeNames(rows.IDs, r.id, k, "an id"); err != nil {
		return err
	}
	rows.Labels, err = r.takeNames(rows.Labels, r.labels, k, "a label")
	return err
}

// texts returns the next k values as texts.
func (r *reader) texts(a arrow.Array, k int) (out []string, err error) {
	err = guard(func() error {
		for i := r.at; i < r.at+k; i++ {
			out = append(out, textOf(a, i))
		}
		return nil
	})
	return out, err
}

// takeNames appends the next k ids or labels.
func (r *reader) takeNames(to []string, c *column, k int, what string) ([]string, error) {
	if c == nil {
		return nil, nil
	}
	texts, err := r.texts(r.batch.Column(c.at), k)
	if err != nil {
		return nil, err
	}
	for i, name := range texts {
		if name == "" {
			e := columnError(c.name, "the cell is empty: want %s", what)
			e.Row = r.done + i
			if err := r.problem(e, "fill it in, or remove the row"); err != nil {
				return nil, err
			}
		}
	}
	return append(to, texts...), nil
}

// takeNumbers writes the next k values of a column, or of its lists, to the rows from number at on.
func (r *reader) takeNumbers(rows []float64, c *column, a arrow.Array, at, k int) error {
	width := len(r.numbers)
	err := guard(func() error {
		list, isList := a.(*array.FixedSizeList)
		if !isList {
			numbers(rows[at:], width, a, r.at, r.at+k)
			return nil
		}
		for i := range k {
			row := rows[i*width+at : i*width+at+c.width]
			if lo, hi := list.ValueOffsets(r.at + i); !list.IsNull(r.at+i) && hi-lo == int64(c.width) {
				numbers(row, 1, list.ListValues(), int(lo), int(hi))
				continue
			}
			for j := range row {
				row[j] = math.NaN()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range k {
		for j := at; j < at+c.width; j++ {
			if v := rows[i*width+j]; v-v != 0 && !(r.mixed && v != v) {
				if err := r.notFinite(a, i, j, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// notFinite reports a number that is none; row is a row of the batch after those that were read.
func (r *reader) notFinite(a arrow.Array, row, feature int, v float64) error {
	what, fix := "the value is "+strconv.FormatFloat(v, 'g', -1, 64)+": want a finite number", "fill in a number, or remove the row"
	_, signed := a.(*array.Int64)
	_, unsigned := a.(*array.Uint64)
	switch {
	case a.IsNull(r.at + row):
		what = "the cell is empty: want a finite number"
	case signed || unsigned:
		what, fix = "the whole number has no exact float64: want at most 2^53 in size", "write the column as double"
	}
	e := columnError(r.numbers[feature], "%s", what)
	e.Row = r.done + row
	return r.problem(e, fix)
}
