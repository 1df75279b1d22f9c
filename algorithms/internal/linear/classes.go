package linear

import (
	"cmp"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Classes derives classes from links: the must-link components of linked rows, and the
// pairs of components that a cannot-link separates.
//
// Classes are the must-link components of the linked rows. Two classes that a cannot-link joins are
// rivals.
type Classes struct {
	Rows    []int   // linked rows, ascending
	Of      []int   // Of[p] is the class of Rows[p]
	Members [][]int // positions in Rows of each class
	rivals  [][]int // rivals of each class, ascending
}

// NewClasses returns the classes of a set of links.
func NewClasses(set *links.Set) *Classes {
	c, component := &Classes{}, set.Components()
	for _, l := range set.Cannot() {
		c.Rows = append(c.Rows, l.I, l.J)
	}
	for _, rows := range set.Chunklets() {
		c.Rows = append(c.Rows, rows...)
	}
	slices.Sort(c.Rows)
	c.Rows = slices.Compact(c.Rows)
	number := map[int]int{}
	for position, i := range c.Rows {
		k, ok := number[component[i]]
		if !ok {
			k = len(c.Members)
			number[component[i]] = k
			c.Members, c.rivals = append(c.Members, nil), append(c.rivals, nil)
		}
		c.Of = append(c.Of, k)
		c.Members[k] = append(c.Members[k], position)
	}
	for _, l := range set.Cannot() {
		a, b := number[component[l.I]], number[component[l.J]]
		if a != b { // a cannot-link within a component contradicts its must-links and is ignored
			c.rivals[a], c.rivals[b] = append(c.rivals[a], b), append(c.rivals[b], a)
		}
	}
	for k := range c.rivals {
		slices.Sort(c.rivals[k])
		c.rivals[k] = slices.Compact(c.rivals[k])
	}
	return c
}

// Apart reports whether two positions belong to rival classes.
func (c *Classes) Apart(a, b int) bool {
	if c.Of[a] == c.Of[b] {
		return false
	}
	if r := c.rivals[c.Of[a]]; len(r) < len(c.Members)-1 {
		_, ok := slices.BinarySearch(r, c.Of[b])
		return ok
	}
	return true
}

// Rivals returns the rivals of a class, ascending. They are shared: do not change them.
func (c *Classes) Rivals(class int) []int { return c.rivals[class] }

// NumTriplets returns the number of triplets of rows i and j of one class and k of a rival.
func (c *Classes) NumTriplets() (count float64) {
	for k, members := range c.Members {
		count += float64(len(members)) * float64(len(members)-1) * float64(c.numRivals(k))
	}
	return count
}

// RivalMembers returns the positions in Rows of all members of the rivals of a class.
func (c *Classes) RivalMembers(class int) (positions []int) {
	for _, r := range c.rivals[class] {
		positions = append(positions, c.Members[r]...)
	}
	return positions
}

// numRivals returns the number of members of the rivals of a class.
func (c *Classes) numRivals(class int) (count int) {
	for _, r := range c.rivals[class] {
		count += len(c.Members[r])
	}
	return count
}

// Triplets returns the triplets of [Classes.NumTriplets], or a random sample of limit of them if
// there are more. A number that overflows is a *fault.DataError.
func (c *Classes) Triplets(limit int, seed uint64) ([]links.Triplet, error) {
	if c.NumTriplets() > math.MaxInt/2 {
		return nil, fault.Data("",
			"the number of triplets of the links of %d rows overflows: want fewer links", len(c.Rows))
	}
	// counts: triplets by the class of i
	total, rivals, counts := 0, make([]int, len(c.Members)), make([]int, len(c.Members))
	for k, members := range c.Members {
		rivals[k] = c.numRivals(k)
		counts[k] = len(members) * (len(members) - 1) * rivals[k]
		total += counts[k]
	}
	list := make([]links.Triplet, 0, min(total, limit))
	class, first := 0, 0 // first is the number of the first triplet of the class
	for _, at := range sampling.Some(total, limit, seed) {
		for ; at-first >= counts[class]; class++ {
			first += counts[class]
		}
		members, pair, k := c.Members[class], (at-first)/rivals[class], (at-first)%rivals[class]
		i, j := pair/(len(members)-1), pair%(len(members)-1)
		if j >= i {
			j++
		}
		list = append(list, links.Triplet{I: c.Rows[members[i]], J: c.Rows[members[j]],
			K: c.Rows[c.rival(class, k)]})
	}
	return list, nil
}

// rival returns the position of member k among the members of all rivals of a class.
func (c *Classes) rival(class, k int) int {
	for _, r := range c.rivals[class] {
		if k < len(c.Members[r]) {
			return c.Members[r][k]
		}
		k -= len(c.Members[r])
	}
	panic("classes: index of a rival member out of range")
}

// LocalDiscriminant computes Fisher's linear discriminants: directions in which two groups of
// points differ.
//
// LocalDiscriminant writes the discriminant, 1 x q, between two groups of rows of z: the rows of
// own and those of others that are nearest to row center, up to size of each. Its length is 1, or 0
// if the means are equal.
func LocalDiscriminant(eng *engine.Engine, z, out blas.Matrix, center int, own, others []int,
	size int) error {
	own, others = nearest(eng, z, center, own, size), nearest(eng, z, center, others, size)
	rows, s := z.Select(slices.Concat(own, others)), blas.NewMatrix(z.Cols, z.Cols)
	copy(out.Row(0), Center(rows.View(0, len(own), 0, z.Cols)))
	eng.Backend().Kernels().Axpy(-1, Center(rows.View(len(own), rows.Rows, 0, z.Cols)), out.Row(0))
	eng.Backend().Syrk(true, 1/float64(rows.Rows), rows, 0, s)
	return Discriminants(eng, s, out)
}

// nearest returns the rows of a list that are nearest to row center, up to size.
func nearest(eng *engine.Engine, z blas.Matrix, center int, list []int, size int) []int {
	distance := make(map[int]float64, len(list))
	for _, row := range list {
		distance[row] = eng.Backend().Kernels().SquaredDistance(z.Row(center), z.Row(row))
	}
	sorted := slices.SortedFunc(slices.Values(list), func(a, b int) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
	})
	return sorted[:min(size, len(sorted))]
}

// Discriminants multiplies the rows of differences, n x q, by the inverse of the within-group
// scatter s (lower triangle), with a ridge of a tenth of its mean diagonal plus 1e-6, and
// normalizes them. Rows of zeros remain zero. It overwrites s.
func Discriminants(eng *engine.Engine, s, differences blas.Matrix) error {
	trace := s.Trace()
	const ridge, least = 0.1, 1e-6
	for c := range s.Rows {
		s.Set(c, c, s.At(c, c)+ridge*trace/float64(s.Rows)+least)
	}
	err := eng.Backend().Cholesky(s)
	if err == nil {
		eng.Backend().Trsm(false, true, s, differences)
		eng.Backend().Trsm(false, false, s, differences)
		UnitRows(eng, differences)
	}
	return err
}

// UnitRows scales the rows to length 1, except rows of zeros.
func UnitRows(eng *engine.Engine, m blas.Matrix) {
	k := eng.Backend().Kernels()
	for r := range m.Rows {
		if row := m.Row(r); slices.Max(row) > 0 || slices.Min(row) < 0 {
			k.Scale(1/max(slices.Max(row), -slices.Min(row)), row)
			k.Scale(1/math.Sqrt(k.Dot(row, row)), row)
		}
	}
}
