package prepare

import (
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/mustlink/mustlink/engine/points"
)

// Limits of what a preparation stores.
const (
	maxLevels = 10000   // columns of a category
	maxPooled = 1 << 16 // texts in a pool that differ from texts that the fit never had
)

// category makes a column of zeros and ones of each frequent text.
type category struct {
	levels  []string // sorted
	missing bool     // a missing cell has a column, after those of the levels
	pool    bool     // the rarer texts have one, the last
	// pooled are the hashes of the texts in the pool, sorted; empty if they are too many.
	pooled []uint64
	// missingPooled: missing cells are in the pool.
	missingPooled bool
}

// Places of texts without a column of their own.
const (
	placeUnset   = -3 // not looked up yet
	placeUnknown = -2 // zeros, or the pool
	placeNone    = -1 // zeros
)

func (c *category) size() int {
	n := len(c.levels)
	if c.missing {
		n++
	}
	if c.pool {
		n++
	}
	return n
}

// newCategory chooses the levels of a column by how often they occur. As many as the limit are
// pooled too, as in scikit-learn, so that the pool has something in it. Missing cells are a level
// like others, after all texts; of levels as frequent as each other the last ones stay.
func newCategory(texts []string, counts []int, missing, limit int) *category {
	order := make([]int, len(texts), len(texts)+1)
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(texts[a], texts[b]) })
	if missing > 0 {
		order = append(order, -1)
	}
	frequency := func(k int) int {
		if k < 0 {
			return missing
		}
		return counts[k]
	}
	c := &category{}
	rank := make([]int, len(order)) // positions in order, the rarest first
	for i := range rank {
		rank[i] = i
	}
	rare := make([]bool, len(order))
	if len(order) >= limit {
		slices.SortStableFunc(rank, func(a, b int) int { return cmp.Compare(frequency(order[a]), frequency(order[b])) })
		for _, i := range rank[:len(order)-limit+1] {
			rare[i] = true
		}
		c.pool = true
	}
	for i, k := range order {
		switch {
		case k < 0 && rare[i]:
			c.missingPooled = true
		case k < 0:
			c.missing = true
		case rare[i]:
			c.pooled = append(c.pooled, hash(texts[k]))
		default:
			c.levels = append(c.levels, texts[k])
		}
	}
	slices.Sort(c.pooled)
	if c.pooled = slices.Compact(c.pooled); len(c.pooled) > maxPooled {
		c.pooled = nil
	}
	return c
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// knows reports whether a text has a column of its own, or is listed in the pool.
func (c *category) knows(text string) bool {
	_, level := slices.BinarySearch(c.levels, text)
	_, pooled := slices.BinarySearch(c.pooled, hash(text))
	return level || pooled
}

// place returns the column of a text, or one of the places.
func (c *category) place(text string) int32 {
	if k, found := slices.BinarySearch(c.levels, text); found {
		return int32(k)
	}
	if c.pool {
		if _, found := slices.BinarySearch(c.pooled, hash(text)); found || len(c.pooled) == 0 && !c.missingPooled {
			return int32(c.size() - 1)
		}
	}
	return placeUnknown
}

// missingPlace returns the column of a missing cell, or one of the places.
func (c *category) missingPlace() int32 {
	switch {
	case c.missing:
		return int32(len(c.levels))
	case c.missingPooled:
		return int32(c.size() - 1)
	}
	return placeUnknown
}

// columns returns the column of every text of a column that occurs, and that of missing cells.
func (c *category) columns(codes []int32, levels []string) (columns []int32, missing int32) {
	columns = make([]int32, len(levels))
	for k := range columns {
		columns[k] = placeUnset
	}
	for _, code := range codes {
		if code >= 0 && columns[code] == placeUnset {
			columns[code] = c.place(levels[code])
		}
	}
	return columns, c.missingPlace()
}

// bind returns what writes the rows of a column.
func (c *category) bind(x *points.Column) writer {
	columns, missing := c.columns(x.Codes, x.Levels)
	column := func(place int32) int32 {
		switch {
		case place >= 0:
			return place
		case c.pool:
			return int32(c.size() - 1)
		}
		return placeNone
	}
	for k := range columns {
		columns[k] = column(columns[k])
	}
	missing = column(missing)
	return func(out []float64, stride, lo, hi int) {
		for i, code := range x.Codes[lo:hi] {
			place := missing
			if code >= 0 {
				place = columns[code]
			}
			if place >= 0 {
				out[i*stride+int(place)] = 1
			}
		}
	}
}

// unknown returns the number of cells that the fit had nothing like.
func (c *category) unknown(x *points.Column) int {
	columns, missing := c.columns(x.Codes, x.Levels)
	n := 0
	for _, code := range x.Codes {
		if code < 0 && missing == placeUnknown || code >= 0 && columns[code] == placeUnknown {
			n++
		}
	}
	return n
}

// names returns the names of the columns.
func (c *category) names(dst []string, column string) []string {
	for _, text := range c.levels {
		if text == other || text == gap {
			text = `"` + text + `"`
		}
		dst = append(dst, column+"="+text)
	}
	if c.missing {
		dst = append(dst, column+"="+gap)
	}
	if c.pool {
		dst = append(dst, column+"="+other)
	}
	return dst
}

// Names of columns that do not stand for one text.
const (
	other = "(other)"
	gap   = "(missing)"
)
