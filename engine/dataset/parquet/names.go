package parquet

import "github.com/parquet-go/parquet-go/format"

// textColumn reads ids or labels.
type textColumn struct {
	c       *column
	f       *file
	texts   *chunks[string] // either
	numbers *chunks[uint64] // or
	buffer  []uint64
	missing []bool
}

func (r *reader) texts(c *column) *textColumn {
	t := &textColumn{c: c, f: r.f}
	if c.kind == format.ByteArray {
		t.texts = &chunks[string]{f: r.f, c: c, begin: c.texts}
	} else {
		t.numbers = &chunks[uint64]{f: r.f, c: c, begin: c.numbers}
	}
	return t
}

// read returns the texts of the next n rows, nil for no column.
func (t *textColumn) read(n int) ([]string, error) {
	if t == nil {
		return nil, nil
	}
	const entry = 16 // bytes of a text beside its letters
	held := int64(n) * entry
	if err := t.f.held.take(held); err != nil {
		return nil, err
	}
	defer func() { t.f.held.give(held) }() // from here on they are the caller's
	out := make([]string, n)
	row := t.row()
	for i := 0; i < n; {
		part := out[i:min(n, i+64)]
		if err := t.fill(part); err != nil {
			return nil, err
		}
		for _, s := range part {
			held += int64(len(s))
			if err := t.f.held.take(int64(len(s))); err != nil {
				held -= int64(len(s))
				return nil, err
			}
			if s == "" {
				e := columnError(t.c.name, "the cell is empty: want a %s", t.c.name)
				e.Row = row + i
				if err := t.f.problem(e, "give the row one"); err != nil {
					return nil, err
				}
			}
			i++
		}
	}
	return out, nil
}

// skip passes over n rows.
func (t *textColumn) skip(n int) error {
	switch {
	case t == nil:
		return nil
	case t.texts != nil:
		return t.texts.skip(n, make([]string, min(64, n)))
	}
	return t.numbers.skip(n, make([]uint64, min(64, n)))
}

// row returns the number of the next row.
func (t *textColumn) row() int {
	if t.texts != nil {
		return t.texts.row
	}
	return t.numbers.row
}

// fill reads texts, "" for what is missing.
func (t *textColumn) fill(out []string) error {
	if t.texts != nil {
		return t.texts.read(out, func(int, int) error { return nil })
	}
	t.buffer, t.missing = append(t.buffer[:0], make([]uint64, len(out))...), append(t.missing[:0], make([]bool, len(out))...)
	first := t.numbers.row
	if err := t.numbers.read(t.buffer, func(row, _ int) error { t.missing[row-first] = true; return nil }); err != nil {
		return err
	}
	for i, bits := range t.buffer {
		if !t.missing[i] {
			out[i] = t.c.text(bits)
		}
	}
	return nil
}
