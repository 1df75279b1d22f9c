package dataset

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// GenerateOptions describes a synthetic set.
type GenerateOptions struct {
	N     int     // number of points, exactly
	Noise float64 // standard deviation of the normal noise in each coordinate, 0 for the generator's default
	Seed  uint64
}

// generator is one kind of synthetic set in the plane. at returns a point of part i%parts without
// noise. Parts are visited in turn, so classes differ by at most one in size, and class 0 comes
// first.
type generator struct {
	name  string
	noise float64
	parts int
	class func(part int) int
	at    func(part int, rng *rand.Rand) (x, y float64)
}

func generators() []generator {
	same := func(part int) int { return part }
	return []generator{
		{"xor", 0.25, 4, func(part int) int { return part % 2 }, xorPoint},
		{"rings", 0.1, 2, same, ringPoint},
		{"double-spiral", 0.1, 2, same, spiralPoint},
		{"chessboard", 0.02, 16, func(part int) int { return (part/4 + part%4) % 2 }, chessPoint},
		{"moons", 0.1, 2, same, moonPoint},
		{"blobs", 0.7, 3, same, blobPoint},
	}
}

// Generators returns the names that [Generate] accepts.
func Generators() []string {
	var names []string
	for _, g := range generators() {
		names = append(names, g.name)
	}
	return names
}

// Generate returns o.N points in the plane with their classes as labels "0", "1" ...:
//
//	xor            four blobs at (+-1, +-1), class = sign of the product; noise 0.25
//	rings          two circles of radius 1 and 2; noise 0.1
//	double-spiral  two arms of 1.5 turns each, 1 apart; noise 0.1
//	chessboard     uniform on a board of 4 x 4 squares of side 1, class = color; noise 0.02
//	moons          two interleaved half circles of radius 1; noise 0.1
//	blobs          three blobs at the corners of a triangle of side 4; noise 0.7
//
// The result depends only on name and o. An unknown name, N < 2 and a noise that is negative or not
// finite are a *fault.ParamError.
func Generate(name string, o GenerateOptions) (*Data, error) {
	for _, g := range generators() {
		if g.name == name {
			return g.generate(o)
		}
	}
	return nil, fault.Unknown("generator", name, Generators())
}

func (g generator) generate(o GenerateOptions) (*Data, error) {
	noise := o.Noise
	switch {
	case o.N < 2:
		return nil, fault.Param("number of points", o.N, "at least 2")
	case !(noise >= 0) || math.IsInf(noise, 0):
		return nil, fault.Param("noise", noise, "a finite number > 0, or 0 for the default")
	case noise == 0:
		noise = g.noise
	}
	rng := rand.New(rand.NewPCG(o.Seed, streamGenerate))
	data := make([]float64, 0, 2*o.N)
	labels := make([]string, o.N)
	for i := range o.N {
		part := i % g.parts
		x, y := g.at(part, rng)
		// The conversions prevent the compiler from using fused operations, so that all machines
		// agree.
		data = append(data, x+float64(noise*rng.NormFloat64()), y+float64(noise*rng.NormFloat64()))
		labels[i] = strconv.Itoa(g.class(part))
	}
	p, err := points.NewDense(o.N, 2, data)
	if err != nil {
		return nil, err
	}
	return &Data{Points: p, Features: []string{"x", "y"}, Labels: labels, Name: g.name}, nil
}

// xorPoint alternates between the diagonals: parts 0 and 2 have x y > 0.
func xorPoint(part int, _ *rand.Rand) (x, y float64) {
	corners := [4][2]float64{{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}
	return corners[part][0], corners[part][1]
}

func ringPoint(part int, rng *rand.Rand) (x, y float64) {
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	r := float64(1 + part)
	return r * cos, r * sin
}

// spiralPoint returns a point of the Archimedean spiral r = angle/pi or of its mirror image through
// the origin: along a ray the arms alternate at a distance of 1. The square root makes the density
// even along the arm.
func spiralPoint(part int, rng *rand.Rand) (x, y float64) {
	const turns = 1.5
	angle := 2 * math.Pi * turns * math.Sqrt(rng.Float64())
	sin, cos := math.Sincos(angle)
	r := angle / math.Pi * float64(1-2*part)
	return r * cos, r * sin
}

func chessPoint(part int, rng *rand.Rand) (x, y float64) {
	return float64(part/4) + rng.Float64(), float64(part%4) + rng.Float64()
}

func moonPoint(part int, rng *rand.Rand) (x, y float64) {
	sin, cos := math.Sincos(math.Pi * rng.Float64())
	if part == 0 {
		return cos, sin
	}
	return 1 - cos, 0.5 - sin
}

func blobPoint(part int, _ *rand.Rand) (x, y float64) {
	corners := [3][2]float64{{0, 0}, {4, 0}, {2, 2 * math.Sqrt(3)}}
	return corners[part][0], corners[part][1]
}

// The streams of random numbers: with separate streams, two uses of one seed get different numbers.
const (
	streamSplit    = 0x73706c6974
	streamGenerate = 0x67656e6572617465
)

// Split divides the rows 0..n-1 at random into a first part of round(fraction*n) rows, but at least
// one and at most n-1, and a second part with the rest. Both are ascending.
//
// With labels (one per row) the split is stratified: each class contributes its share to the first
// part, rounded up or down so that the total is the same; the largest remainders are rounded up,
// ties in the order of first appearance. A fraction outside (0, 1) and n < 2 are errors of package
// fault. The result depends only on the arguments.
func Split(n int, fraction float64, labels []string, seed uint64) (first, second []int, err error) {
	switch {
	case !(0 < fraction && fraction < 1):
		return nil, nil, fault.Param("fraction", fraction, "a number between 0 and 1")
	case n < 2:
		return nil, nil, fault.Shape("number of rows to split", n, "at least 2")
	case labels != nil && len(labels) != n:
		return nil, nil, fault.Shape("number of labels", len(labels), "one for each row")
	}
	total := min(max(int(math.Round(fraction*float64(n))), 1), n-1)
	classes := classRows(n, labels)
	rng := rand.New(rand.NewPCG(seed, streamSplit))
	for k, take := range shares(classes, n, total) {
		rows := classes[k]
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		first, second = append(first, rows[:take]...), append(second, rows[take:]...)
	}
	slices.Sort(first)
	slices.Sort(second)
	return first, second, nil
}

// classRows returns the rows of each class in the order of first appearance; without
// labels there is one class.
func classRows(n int, labels []string) [][]int {
	number := make(map[string]int)
	var classes [][]int
	for i := range n {
		var label string
		if labels != nil {
			label = labels[i]
		}
		k, ok := number[label]
		if !ok {
			k = len(classes)
			number[label] = k
			classes = append(classes, nil)
		}
		classes[k] = append(classes[k], i)
	}
	return classes
}

// shares divides total among the classes in proportion to their sizes by the method of
// largest remainders, in whole numbers so that nothing depends on rounding.
func shares(classes [][]int, n, total int) []int {
	take := make([]int, len(classes))
	order := make([]int, len(classes))
	left := total
	for k, rows := range classes {
		take[k] = len(rows) * total / n
		left -= take[k]
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(classes[b])*total%n, len(classes[a])*total%n)
	})
	for _, k := range order[:left] {
		take[k]++
	}
	return take
}
