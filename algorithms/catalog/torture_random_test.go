package catalog_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// variants are parameters that select the algorithms of a method other than the default.
var variants = map[string][]map[string]string{
	"krca": {{"form": "spectral"}, {"form": "cholesky"}, {"dims": "2"}, {"landmarks": "3"},
		{"eps_rel": "1e-12"}},
	"kbeta": {{"extension": "nystrom"}, {"cannot": "0.5"}, {"landmarks": "4"},
		{"rank": "0", "rank_tol": "0"}, {"iterations": "3", "rule": "kmeans++", "landmarks": "6"},
		{"rule": "leverage", "landmarks": "6"}},
	"npkl": {{"loss": "hl"}, {"loss": "shl"}, {"graph": "dense"}, {"plan": "reduced"},
		{"plain": "true", "rank": "2"}, {"metric": "cosine"}},
	"lleratio": {{"mode": "linear"}, {"mode": "full"}, {"orthogonality": "coefficient"}, {"reg_g": "0"},
		{"alpha": "0"}},
	"gml": {{"prior": "spectral"}, {"prior": "datadep"}, {"prior": "spectral", "basis": "lle"},
		{"prior": "spectral", "basis": "isomap"},
		{"prior": "spectral", "laplacian": "normalized", "extension": "nystrom"}, {"gamma": "1e6"}},
	"rca":  {{"dims": "1"}, {"eps_rel": "1e-12"}},
	"xrca": {{"dims": "1"}, {"eps_rel": "1e-12"}},
	"dca":  {{"dims": "1"}, {"eps_rel": "1e-12"}},
	"itml": {{"prior": "covariance"}, {"gamma": "1e6"}, {"dims": "1"}},
	"mmc":  {{"diagonal": "true"}, {"eps_rel": "0"}, {"diagonal": "true", "eps_rel": "0"}},
	"lmnn": {{"rank": "0"}, {"dims": "1"}, {"mu": "0.999"}},
	"nca":  {{"dims": "1"}, {"contractions": "0"}},
	"lfda": {{"dims": "1"}, {"metric": "plain"}, {"metric": "orthonormalized"}, {"eps_rel": "1e-12"},
		{"neighbors": "1"}},
	"sdml": {{"prior": "covariance"}, {"sparsity": "0"}, {"prior": "covariance", "sparsity": "0"},
		{"balance": "3"}, {"balance": "3", "sparsity": "10"}},
	"mlkr": {{"dims": "1"}, {"starts": "1"}},
	"llma": {{"lambda": "0"}, {"anchors": "2"}},
	"spectral": {{"kind": "regularized"}, {"kind": "eigenmaps"}, {"kind": "alignment"}, {"kind": "order"},
		{"basis": "lle"}, {"basis": "isomap"}, {"normalized": "true"}},
	"kpca":       {{"dims": "1"}, {"rank_tol": "0"}},
	"klein":      {{"neighbors": "1"}, {"dims": "1"}},
	"cmvu":       {{"graph": "eps:2"}, {"rank": "2"}},
	"npk":        {{"graph": "dense"}, {"heat": "true"}},
	"simplenpkl": {{"loss": "linear"}, {"graph": "dense"}},
	"sdplr":      {{"loss": "sl"}, {"loss": "shl"}, {"graph": "dense"}, {"rank": "2"}},
}

// kernels are the kernels to try with a method that takes kernels, apart from its default.
var kernels = []string{"rbf:sigma=median", "rbf:sigma=knn10", "rbf:sigma=1e-3", "rbf:sigma=1e5",
	"poly:degree=3", "linear", "cosine", "exp:width=mean", "cauchy:width=mean",
	"rbf:sigma=mean@cosine", "sigmoid"}

// drawConfig draws parameters and kernel of a method; few neighbors for few points.
func drawConfig(rng *rand.Rand, m catalog.Method, p ordeal) catalog.Config {
	c := catalog.Config{Seed: rng.Uint64(), Params: map[string]string{}}
	if list := variants[m.Name]; len(list) > 0 && rng.IntN(2) == 0 {
		maps.Copy(c.Params, list[rng.IntN(len(list))])
	}
	for _, q := range m.Parameters {
		if q.Name == "neighbors" && rng.IntN(3) > 0 {
			c.Params[q.Name] = fmt.Sprint(1 + rng.IntN(max(1, min(8, p.x.Len()-1))))
		}
	}
	_, sequences := p.x.(*points.Sequences)
	if (m.DefaultKernel != "" || m.Linear) && !sequences && rng.IntN(3) == 0 && c.Params["metric"] == "" {
		c.Kernel = kernels[rng.IntN(len(kernels))]
	}
	if slices.Contains([]string{"itml", "dca"}, m.Name) && rng.IntN(3) == 0 && c.Params["prior"] == "" {
		c.Kernel = "rbf:sigma=median"
	}
	return c
}

// draw draws an input: where points lie, what is done to them, of what kind they are, and links.
func draw(rng *rand.Rand) ordeal {
	n, d := []int{1, 2, 3, 4, 6, 9, 13, 16, 20, 24, 31}[rng.IntN(11)], []int{1, 1, 2, 3, 5, 9}[rng.IntN(6)]
	var name []string
	say := func(format string, args ...any) { name = append(name, fmt.Sprintf(format, args...)) }
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	where := []string{"normal", "lattice", "line", "simplex", "blobs", "one place",
		"heavy tails"}[rng.IntN(7)]
	say("%d x %d %s", n, d, where)
	for i := range n {
		for j := range d {
			v := rng.NormFloat64()
			switch where {
			case "lattice":
				v = float64(rng.IntN(3))
			case "line":
				v = float64(i * (j + 1))
			case "simplex":
				v = float64(b2i(i%d == j))
			case "blobs":
				v = v*1e-3 + float64(i%3*(j+1))
			case "one place":
				v = float64(j) / 3
			case "heavy tails":
				v = 1 / v
			}
			x.Data[i*d+j] = v
		}
	}
	for range max(0, rng.IntN(5)-2) {
		say("%s", spoil(rng, x))
	}
	p := ordeal{set: drawLinks(rng, n, say)}
	p.x = drawKind(rng, x, say)
	p.name = strings.Join(name, ", ")
	return p
}

// spoil makes points awkward in one way, and says in which.
func spoil(rng *rand.Rand, x *points.Dense) string {
	size := func() float64 {
		if rng.IntN(4) > 0 { // one that can be calculated with, mostly
			return math.Pow(10, float64(rng.IntN(141)-70))
		}
		return math.Pow(10, float64(rng.IntN(601)-300))
	}
	i, j := rng.IntN(x.N), rng.IntN(x.D)
	switch rng.IntN(9) {
	case 0:
		s := size()
		each(func(_, _ int, v float64) float64 { return v * s })(x)
		return fmt.Sprintf("times %g", s)
	case 1:
		s := size()
		each(func(_, c int, v float64) float64 {
			if c == j {
				return v * s
			}
			return v
		})(x)
		return fmt.Sprintf("column %d times %g", j, s)
	case 2:
		s := math.Pow(10, float64(rng.IntN(20)))
		each(func(_, _ int, v float64) float64 { return v + s })(x)
		return fmt.Sprintf("moved by %g", s)
	case 3:
		x.Row(i)[j] = 1e12
		return fmt.Sprintf("row %d at 1e12", i)
	case 4:
		for k := range x.N / 2 {
			copy(x.Row(2*k+1), x.Row(2*k))
		}
		return "pairs of equal points"
	case 5:
		for k := range x.N / 2 {
			copy(x.Row(2*k+1), x.Row(2*k))
			x.Row(2*k + 1)[j] = math.Nextafter(x.Row(2 * k)[j], math.Inf(1))
		}
		return "pairs of nearly equal points"
	case 6:
		each(func(r, c int, v float64) float64 {
			if c == j {
				return 5e-324 * float64(r%3)
			}
			return v
		})(x)
		return "a column of denormals"
	case 7:
		for k := range x.N {
			x.Row(k)[j] = x.Row(k)[0] + 1e-9*x.Row(k)[j]
		}
		return "nearly collinear columns"
	}
	each(func(_, c int, v float64) float64 {
		if c >= j {
			return 7
		}
		return v
	})(x)
	return "constant columns"
}

// drawLinks draws links of a random pattern.
func drawLinks(rng *rand.Rand, n int, say func(string, ...any)) *links.Set {
	chosen := map[[2]int]links.Sign{}
	add := func(i, j int, s links.Sign) {
		if pair := [2]int{min(i, j), max(i, j)}; i != j && chosen[pair] == 0 {
			chosen[pair] = s
		}
	}
	style := []string{"by class", "by class", "by class", "by class", "by chance", "all pairs",
		"one component", "must-links", "cannot-links", "a link"}[rng.IntN(10)]
	class := func(i int) links.Sign { return links.Sign(1 - 2*(i%2)) }
	for range 2 * n {
		i, j := rng.IntN(n), rng.IntN(n)
		switch style {
		case "by class":
			add(i, j, class(i)*class(j))
		case "by chance":
			add(i, j, links.Sign(1-2*rng.IntN(2)))
		case "must-links":
			add(i, j, links.Must)
		case "cannot-links":
			add(i, j, links.Cannot)
		}
	}
	switch style {
	case "all pairs":
		for i := range n {
			for j := range i {
				add(i, j, class(i)*class(j))
			}
		}
	case "one component":
		for i := 1; i < n; i++ {
			add(i-1, i, links.Must)
		}
		add(0, n-1, links.Cannot)
	case "a link":
		add(0, n-1, links.Sign(1-2*rng.IntN(2)))
	}
	var list []links.Link
	for _, pair := range slices.SortedFunc(maps.Keys(chosen), func(a, b [2]int) int {
		return slices.Compare(a[:], b[:])
	}) {
		list = append(list, links.NewLink(pair[0], pair[1], chosen[pair]))
	}
	if rng.IntN(6) == 0 {
		for k := range list {
			list[k].Weight = math.Pow(10, float64(rng.IntN(21)-10))
		}
		say("weighted links")
	}
	say("%d links: %s", len(list), style)
	set, err := links.New(n, list)
	if err != nil {
		panic(err) // the pairs are different ones
	}
	return set
}

// drawKind returns the points as vectors, mostly, or as sparse ones, a Gram matrix or sequences.
func drawKind(rng *rand.Rand, x *points.Dense, say func(string, ...any)) points.Points {
	switch rng.IntN(12) {
	case 0:
		say("sparse")
		p := &points.CSR{N: x.N, D: x.D, Start: []int{0}}
		for i := range x.N {
			for j, v := range x.Row(i) {
				if v != 0 && (i+j)%3 > 0 {
					p.Col, p.Val = append(p.Col, int32(j)), append(p.Val, v)
				}
			}
			p.Start = append(p.Start, len(p.Col))
		}
		return p
	case 1:
		shift := []float64{0, 1, -1e-3, 1e-15}[rng.IntN(4)]
		say("Gram matrix + %g I", shift)
		data := make([]float64, x.N*x.N)
		for i := range x.N {
			for j := range x.N {
				for c, v := range x.Row(min(i, j)) {
					data[i*x.N+j] += v * x.Row(max(i, j))[c]
				}
			}
			data[i*x.N+i] *= 1 + shift
		}
		if p, err := points.NewGram(x.N, x.N, data, nil, nil); err == nil {
			return p
		}
		say("which is none")
	case 2:
		say("sequences")
		start, letters := []int{0}, []byte(nil)
		for range x.N {
			for range rng.IntN(12) {
				letters = append(letters, "ACGT-"[rng.IntN(5)])
			}
			start = append(start, len(letters))
		}
		p, err := points.NewSequences("ACGT", start, letters)
		if err != nil {
			panic(err)
		}
		return p
	}
	return x
}
