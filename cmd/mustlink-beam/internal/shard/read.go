package shard

import (
	"fmt"
	"io"
	"os"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Block is a block of rows of an element.
type Block struct {
	*dataset.Data
	Numbers []int64 // of the rows in the set
	element Element
}

// Locate replaces, in an error about a row of the block, the number of the row in the block by that
// in the file.
func (b Block) Locate(err error) error {
	e, ok := err.(*fault.DataError)
	if !ok || e.Row < 0 || e.Row >= len(b.Numbers) {
		return err
	}
	inFile := *e
	inFile.File, inFile.Row = b.element.File, int(b.Numbers[e.Row]-b.element.Start+b.element.First)
	return &inFile
}

// Len returns the number of rows.
func (b Block) Len() int { return len(b.Numbers) }

// Reader reads the rows of an element, a block at a time. It leaves out bad rows and records them.
// It is not safe for concurrent use.
type Reader struct {
	e      Element
	stream *dataset.Stream
	file   *os.File // a text file; nil when the stream opens the file
	next   int64    // number of the next row in the file
	values int64    // number of values read so far
	wrong  map[int64]bool
	bad    []Bad
}

// Open returns a reader of the rows of an element.
func (e Element) Open(o Options) (*Reader, error) {
	r := &Reader{e: e, next: e.First, wrong: map[int64]bool{}}
	in := o.reading(e.File)
	in.BadRow = r.addBad
	var err error
	skip := e.Skip
	if e.Bytes == 0 {
		skip = e.First
		r.stream, err = dataset.OpenStream(e.File, in)
	} else if r.file, err = os.Open(e.File); err == nil {
		r.stream, err = dataset.DecodeStream(e.text(r.file), e.File, "csv", in)
	}
	if err == nil {
		if err = r.stream.Skip(int(skip)); err == io.EOF {
			err = r.e.changed()
		}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Whole reads all rows of an element at once. When all rows are bad, the block has no data.
func (e Element) Whole(o Options) (Block, []Bad, error) {
	r, err := e.Open(o)
	if err != nil {
		return Block{}, nil, err
	}
	defer r.Close()
	block, err := r.Next(int(e.Rows))
	if err == nil {
		_, err = r.Next(1)
	}
	if err != io.EOF {
		return Block{}, nil, err
	}
	bad, err := r.Bad()
	return block, bad, err
}

// Next returns the next rows, 1 to limit of them, in memory of their own, and io.EOF after the
// last.
func (r *Reader) Next(limit int) (Block, error) {
	left := r.e.First + r.e.Rows - r.next
	if left == 0 && !r.e.closed() {
		return Block{}, io.EOF // the next rows belong to other elements
	}
	d, err := r.stream.Next(int(min(int64(limit), max(1, left))))
	if err == io.EOF {
		if r.skipBad(); r.next != r.e.First+r.e.Rows {
			err = r.e.changed()
		}
		return Block{}, err
	}
	if err != nil {
		return Block{}, r.e.locate(err)
	}
	r.values += int64(d.Points.Len()) * int64(d.Points.Dim())
	return r.number(d)
}

// number adds the row numbers to a block, and removes rows of the next element.
func (r *Reader) number(d *dataset.Data) (Block, error) {
	b := Block{Data: d, Numbers: make([]int64, 0, d.Points.Len()), element: r.e}
	end := r.e.First + r.e.Rows
	for range d.Points.Len() {
		r.skipBad()
		if r.next < end {
			b.Numbers = append(b.Numbers, r.e.Start+r.next-r.e.First)
			r.next++
		}
	}
	r.skipBad()
	r.next = min(r.next, end)
	n := len(b.Numbers)
	switch {
	case n == d.Points.Len():
		return b, nil
	case r.e.closed():
		return Block{}, r.e.changed()
	case n == 0:
		return Block{}, io.EOF
	}
	// The last rows of the element were bad, so that the stream went on to the rows of the next
	// element.
	d.Points = points.Slice(d.Points, 0, n)
	if d.IDs != nil {
		d.IDs = d.IDs[:n]
	}
	if d.Labels != nil {
		d.Labels = d.Labels[:n]
	}
	return b, nil
}

// skipBad skips the numbers of bad rows.
func (r *Reader) skipBad() {
	for r.wrong[r.next] {
		delete(r.wrong, r.next)
		r.next++
	}
}

// addBad records a bad row.
func (r *Reader) addBad(e *fault.DataError) {
	inFile := r.e.inFile(e)
	if row := int64(inFile.Row); row < r.e.First+r.e.Rows {
		r.wrong[row] = true
		r.bad = append(r.bad,
			Bad{File: r.e.File, Row: row, Line: int64(inFile.Line), Offset: -1, Column: inFile.Column,
				Reason: inFile.Err.Error()})
	}
}

// inFile replaces row and line in an error, which count from the start of the text, by those of the
// file.
func (e Element) inFile(wrong *fault.DataError) *fault.DataError {
	inFile := *wrong
	if e.Bytes > 0 {
		if inFile.Row >= 0 {
			inFile.Row += int(e.First - e.Skip)
		}
		if inFile.Line > 0 {
			inFile.Line += int(e.Line)
		}
	}
	return &inFile
}

// locate is inFile for any error.
func (e Element) locate(err error) error {
	if wrong, ok := err.(*fault.DataError); ok {
		return e.inFile(wrong)
	}
	return err
}

func (e Element) changed() error {
	return fault.Data(e.File,
		"the file has changed since the job began, and lacks %d rows from row %d on: want a file that no "+
			"program changes during a job", e.Rows, e.First)
}

// Rows returns the number of rows read so far, including bad ones.
func (r *Reader) Rows() int64 { return r.next - r.e.First }

// Bytes returns the size of the values read so far, as float64.
func (r *Reader) Bytes() int64 { return 8 * r.values }

// Close closes the file.
func (r *Reader) Close() error {
	var err error
	if r.stream != nil {
		err = r.stream.Close()
	}
	if r.file != nil {
		if e := r.file.Close(); err == nil && e != nil {
			err = fmt.Errorf("closing %s: %w", r.e.File, e)
		}
	}
	return err
}
