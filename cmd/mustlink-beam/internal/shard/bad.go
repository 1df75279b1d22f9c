package shard

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// Bad is a bad row, which was left out.
type Bad struct {
	File   string
	Row    int64  // row number in the file
	Line   int64  // line of a text file, otherwise 0
	Offset int64  // of its first byte in an uncompressed text file, otherwise -1
	Column string // "" when the whole row is bad
	Reason string
}

// Err returns the reason as an error.
func (b Bad) Err() error {
	return &fault.DataError{File: b.File, Line: int(b.Line), Row: int(b.Row), Column: b.Column,
		Err: errors.New(b.Reason)}
}

// Bad returns the bad rows so far, in their order.
func (r *Reader) Bad() ([]Bad, error) {
	bad := slices.SortedFunc(slices.Values(r.bad), func(a, b Bad) int { return cmp.Compare(a.Row, b.Row) })
	if r.e.Bytes == 0 || len(bad) == 0 {
		return bad, nil
	}
	text := newRecords(io.NewSectionReader(r.file, r.e.Offset, r.e.Bytes))
	row := r.e.First - r.e.Skip
	for i := 0; i < len(bad); {
		before := text.offset
		rows, err := text.next()
		if err != nil && err != io.EOF {
			return nil, text.explain(r.e.File, err)
		}
		for ; i < len(bad) && (bad[i].Row < row+int64(rows) || err == io.EOF); i++ {
			bad[i].Offset = r.e.Offset + before
		}
		row += int64(rows)
	}
	return bad, nil
}

// BadColumns are the columns of a file that lists bad rows.
var BadColumns = []string{"file", "row", "offset", "column", "reason"}

// record returns the fields of a bad row, in the order of BadColumns.
func (b Bad) record() []string {
	offset := ""
	if b.Offset >= 0 {
		offset = strconv.FormatInt(b.Offset, 10)
	}
	return []string{b.File, strconv.FormatInt(b.Row, 10), offset, b.Column, b.Reason}
}
