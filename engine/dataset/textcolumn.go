package dataset

import (
	"hash/maphash"

	"github.com/mustlink/mustlink/engine/points"
)

// textColumn collects the cells of one column of text.
type textColumn struct {
	at     int     // index of the column in the file
	forced bool    // only an empty cell is missing
	codes  []int32 // of the rows of the block
	levels []string
	gaps   []string // the texts that mean a missing cell
	slots  []slot   // a hash table of levels and gaps; the number is a power of two
	seed   maphash.Seed
	bytes  int64 // approximate memory of everything but codes
}

// slot is a text in a hash table: that of levels[code-1], or of gaps[-code-1]; 0 is an empty slot.
type slot struct {
	hash uint32
	code int32
}

func newTextColumn(at int, forced bool) *textColumn {
	return &textColumn{at: at, forced: forced, slots: make([]slot, 16), seed: maphash.MakeSeed()}
}

// push appends a cell, which has no white space around it.
func (x *textColumn) push(cell []byte) {
	hash := uint32(maphash.Bytes(x.seed, cell))
	mask := uint32(len(x.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		switch s := x.slots[at]; {
		case s.code == 0:
			x.slots[at] = slot{hash, x.learn(string(cell))}
			x.codes = append(x.codes, max(-1, x.slots[at].code-1))
			x.widen()
			return
		case s.hash == hash && x.text(s) == string(cell):
			x.codes = append(x.codes, max(-1, s.code-1))
			return
		}
	}
}

func (x *textColumn) text(s slot) string {
	if s.code < 0 {
		return x.gaps[-s.code-1]
	}
	return x.levels[s.code-1]
}

// learn adds a text and returns its code in a slot.
func (x *textColumn) learn(cell string) int32 {
	const entry = 16 + 2*2*8 // bytes of a level and of its slot, in growing lists
	x.bytes += entry + int64(len(cell))
	if cell == "" || !x.forced && IsMissing(cell) {
		x.gaps = append(x.gaps, cell)
		return int32(-len(x.gaps))
	}
	x.levels = append(x.levels, cell)
	return int32(len(x.levels))
}

// widen doubles the hash table when it is half full.
func (x *textColumn) widen() {
	if 2*(len(x.levels)+len(x.gaps)) <= len(x.slots) {
		return
	}
	wide := make([]slot, 2*len(x.slots))
	mask := uint32(len(wide) - 1)
	for _, s := range x.slots {
		if s.code == 0 {
			continue
		}
		at := s.hash & mask
		for wide[at].code != 0 {
			at = (at + 1) & mask
		}
		wide[at] = s
	}
	x.slots = wide
}

// take returns the column of the rows so far and begins the next block, which has the same levels
// and perhaps more.
func (x *textColumn) take(name string) points.Column {
	c := points.Column{Name: name, Codes: x.codes, Levels: x.levels[:len(x.levels):len(x.levels)]}
	x.codes = nil
	const limit = 1 << 12 // texts that are kept from block to block: there may be as many as rows
	if len(x.levels)+len(x.gaps) > limit {
		*x = *newTextColumn(x.at, x.forced)
	}
	return c
}
