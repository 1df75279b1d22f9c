package shard

import (
	"fmt"
	"io"
	"os"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Block is some rows of an element.
type Block struct {
	*dataset.Data
	Numbers []int64 // of each row in the set
	element Element
}

// Locate gives an error that names a row of the block the row of the file.
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

// Reader reads the rows of an element, a block at a time. Rows that are wrong are left out and
// noted. It is not safe for concurrent use.
type Reader struct {
	e      Element
	stream *dataset.Stream
	file   *os.File // of text, nil for what the stream opens itself
	next   int64    // number in the file of the row that comes next
	values int64    // read so far
	wrong  map[int64]bool
	bad    []Bad
}

// Open begins to read the rows of an element.
func (e Element) Open(o Options) (*Reader, error) {
	r := &Reader{e: e, next: e.First, wrong: map[int64]bool{}}
	in := o.reading()
	in.PassOver = r.addBad
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

// Whole reads all rows of an element at once. There may be none that is right: then the block has
// no data.
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

// Next returns the next rows, 1 to limit of them, in memory of their own; after the last one the
// error is io.EOF.
func (r *Reader) Next(limit int) (Block, error) {
	left := r.e.First + r.e.Rows - r.next
	if left == 0 && !r.e.closed() {
		return Block{}, io.EOF // the rows that follow belong to other elements
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

// number gives the rows their numbers.
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
	// All rows at the element's end were wrong, so that the stream went on to those of the next
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

// skipBad passes over the rows that are wrong.
func (r *Reader) skipBad() {
	for r.wrong[r.next] {
		delete(r.wrong, r.next)
		r.next++
	}
}

// addBad notes a row that is wrong.
func (r *Reader) addBad(e *fault.DataError) {
	inFile := r.e.inFile(e)
	if row := int64(inFile.Row); row < r.e.First+r.e.Rows {
		r.wrong[row] = true
		r.bad = append(r.bad, Bad{File: r.e.File, Row: row, Line: int64(inFile.Line), Offset: -1, Column: inFile.Column, Reason: inFile.Err.Error()})
	}
}

// inFile returns the error with the row and line of the file instead of those of the text that was
// read.
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

// locate is moved for any error.
func (e Element) locate(err error) error {
	if wrong, ok := err.(*fault.DataError); ok {
		return e.inFile(wrong)
	}
	return err
}

func (e Element) changed() error {
	return fault.Data(e.File, "it does not have %d rows from row %d on any more: want a file that stays as it is while a job reads it", e.Rows, e.First)
}

// Rows returns the number of rows passed so far, right or wrong.
func (r *Reader) Rows() int64 { return r.next - r.e.First }

// Bytes returns the bytes of the values read so far, as float64.
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
