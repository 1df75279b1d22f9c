package arrow

import "github.com/mustlink/mustlink/engine/fault"

// readDictionaries reads the dictionaries of the columns that are used.
func (r *reader) readDictionaries() error {
	need := make(map[int64][]*column)
	for _, c := range r.used() {
		if c.dictionary != nil {
			need[c.id] = append(need[c.id], c)
		}
	}
	if len(need) == 0 {
		return nil
	}
	seen := make(map[int64]bool)
	for i, at := range r.f.dictionaries {
		b, err := r.f.batch(at, dictionaryBatch, i)
		if err != nil {
			return err
		}
		for _, c := range need[b.id] {
			if seen[b.id] && !b.more {
				return fault.Data("", "the dictionary of column %s changes: want one, as the format demands", c.name)
			}
			if err := c.learn(b); err != nil {
				return err
			}
		}
		seen[b.id] = true
		b.close()
	}
	return nil
}

// learn appends the values of a batch to those of the dictionary.
func (c *column) learn(b *batch) error {
	v, err := b.values(c.dictionary, 0, b.rows)
	if err != nil {
		return err
	}
	b.borrowed = 0 // the values stay
	if v.gaps != nil || c.words.gaps != nil {
		before := max(len(c.words.texts), len(c.words.numbers))
		if c.words.gaps == nil {
			c.words.gaps = make([]bool, before)
		}
		if v.gaps == nil {
			v.gaps = make([]bool, b.rows)
		}
		c.words.gaps = append(c.words.gaps, v.gaps...)
	}
	c.words.texts = append(c.words.texts, v.texts...)
	c.words.numbers = append(c.words.numbers, v.numbers...)
	return nil
}
