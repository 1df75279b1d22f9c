package parquet

// textColumn reads ids or labels.
type textColumn struct{ *chunks[string] }

func (r *reader) texts(c *column) *textColumn {
	return &textColumn{&chunks[string]{f: r.f, c: c, begin: c.texts}}
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
	row := t.row
	for i := 0; i < n; {
		part := out[i:min(n, i+64)]
		if err := t.chunks.read(part, func(int, int) error { return nil }); err != nil {
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
	if t == nil {
		return nil
	}
	return t.chunks.skip(n, make([]string, min(64, n)))
}
