package prepare

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"

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
	order := points.UpTo(len(texts))
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
	rank := points.UpTo(len(order)) // positions in order, the rarest first
	rare := make([]bool, len(order))
	if len(order) >= limit {
		slices.SortStableFunc(rank, func(a, b int) int {
			return cmp.Compare(frequency(order[a]), frequency(order[b]))
		})
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
		if _, found := slices.BinarySearch(c.pooled, hash(text)); found || len(c.pooled) == 0 &&
			!c.missingPooled {
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
	columns = slices.Repeat([]int32{placeUnset}, len(levels))
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

// booleans are the pairs of texts that mean false and true, in any case.
var booleans = [][2]string{{"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"}, {"off", "on"}}

// isBoolean reports whether a text is one of them.
func isBoolean(text string) bool {
	text = plain(text)
	return slices.ContainsFunc(booleans, func(b [2]string) bool { return text == b[0] || text == b[1] })
}

// plain returns a text as booleans are compared.
func plain(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// findPair returns the pair that texts consist of. If asked, any two texts are a pair, in their
// order.
func findPair(texts []string, asked bool) (pair [2]string, ok bool) {
	var found []string
	for _, text := range texts {
		if text = plain(text); !slices.Contains(found, text) {
			if found = append(found, text); len(found) > 2 {
				return pair, false
			}
		}
	}
	slices.Sort(found)
	for _, b := range booleans {
		have := func(text string) bool { return slices.Contains(found, text) }
		if len(found) == 2 && have(b[0]) && have(b[1]) || asked && len(found) == 1 &&
			(have(b[0]) || have(b[1])) {
			return b, true
		}
	}
	if asked && len(found) == 2 {
		return [2]string{found[0], found[1]}, true
	}
	return pair, false
}

// sortFloats sorts values, none of which is NaN, with as many values of scratch: by 11 bits at a
// time, and not at all by bits in which all agree, as the low ones of whole numbers do. It returns
// the slice that has the result. Cost: O(n), a third of the time of comparisons for a million.
func sortFloats(values, scratch []float64) []float64 {
	const width, size = 11, 1 << 11
	var counts [6][size]int
	for _, v := range values {
		key := sortKey(v)
		for pass := range counts {
			counts[pass][key>>(pass*width)&(size-1)]++
		}
	}
	scratch = scratch[:len(values)]
	for pass := range counts {
		counted := &counts[pass]
		if len(values) == 0 || counted[sortKey(values[0])>>(pass*width)&(size-1)] == len(values) {
			continue
		}
		sum := 0
		for d, c := range counted {
			counted[d] = sum
			sum += c
		}
		for _, v := range values {
			digit := sortKey(v) >> (pass * width) & (size - 1)
			scratch[counted[digit]] = v
			counted[digit]++
		}
		values, scratch = scratch, values
	}
	return values
}

// sortKey returns bits that have the order of the numbers.
func sortKey(v float64) uint64 {
	bits := math.Float64bits(v)
	return bits ^ (uint64(int64(bits)>>63) | 1<<63)
}
