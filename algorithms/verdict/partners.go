package verdict

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/quickselect"
	"github.com/mustlink/mustlink/engine"
)

// Partners says how often the partner of a held-out row, the other end of its must-link, is among
// its nearest rows: of use where there are many classes, of which the AUC of pairs shows little.
type Partners struct {
	Nearest int `json:"nearest"` // number of nearest rows of the fit that count
	// Hits is the share of must-links whose partner is among them, less that of other held-out rows
	// in the place of the held-out end; Raw is that without learning.
	Hits      float64 `json:"hits"`
	Raw       float64 `json:"raw"`
	Gain      float64 `json:"gain"`       // Hits - Raw
	GainError float64 `json:"gain_error"` // its standard error
}

const (
	manyClasses = 0.8   // AUC of raw distances from which there may be many classes
	mostRows    = 4_000 // of the fit, in which partners are searched: more say nothing new
)

// gallery returns the rows of the fit in which partners are searched: all, or of many those with
// links and some others. It also returns the number of nearest rows that count.
func (f *Fold) gallery(seed uint64) (rows []int, nearest int) {
	rows = f.kept
	if len(rows) > mostRows {
		in := map[int]bool{}
		for _, t := range f.ends {
			in[t] = true
		}
		r := rand.New(rand.NewPCG(seed, streamFolds+2))
		for _, at := range r.Perm(len(f.kept)) {
			if len(in) >= mostRows {
				break
			}
			in[f.kept[at]] = true
		}
		rows = make([]int, 0, len(in))
		for i := range in {
			rows = append(rows, i)
		}
		slices.Sort(rows)
	}
	return rows, max(10, len(rows)/100)
}

// hits returns the share of must-links whose partner in the gallery is among the nearest rows of
// the held-out end, less that of the other rows of the reference in its place: 0 on average if the
// features say nothing about the links.
func (f *Fold) hits(ctx context.Context, eng *engine.Engine, between Metric, gallery []int,
	nearest int) (Statistic, error) {
	position := make([]int, len(f.Rows)) // 1 + position in the sample
	for a, i := range f.sample {
		position[i] = a + 1
	}
	wanted := make([][]int, len(f.Rows)) // must-links of each row
	for k, i := range f.row[:f.Must] {
		wanted[i] = append(wanted[i], k)
	}
	partners := slices.Compact(slices.Sorted(slices.Values(f.end[:f.Must]))) // the ends of must-links
	own, reference := make([]float64, f.Must), make([][]float64, len(f.sample))
	err := eng.Each(ctx, len(f.Rows), 1, func(i int) {
		if position[i] == 0 && len(wanted[i]) == 0 {
			return
		}
		near := newNearest(f.Rows[i], between, gallery, nearest)
		for _, k := range wanted[i] {
			own[k] = near.hit(f.ends[f.end[k]])
		}
		if a := position[i] - 1; a >= 0 {
			reference[a] = make([]float64, len(f.ends))
			for _, t := range partners {
				reference[a][t] = near.hit(f.ends[t])
			}
		}
	})
	if err != nil {
		return Statistic{}, err
	}
	s, m := f.newStatistic(), float64(f.Must)
	for k, hit := range own {
		expected, others := 0.0, 0
		for a, i := range f.sample {
			if i != f.row[k] {
				expected += reference[a][f.end[k]]
				others++
			}
		}
		s.Links[k] = hit - expected/float64(max(1, others))
		s.Value += s.Links[k] / m
	}
	for k := range own {
		s.Links[k] = (s.Links[k] - s.Value) / m
		s.Rows[f.row[k]] += s.Links[k]
	}
	return s, nil
}

// nearest tells which rows of a gallery are near a row.
type nearest struct {
	row      int
	between  Metric
	farthest float64 // the distance of the last rank that counts
	at       bool    // whether rows at that distance count; they share the mean of their ranks
}

func newNearest(row int, between Metric, gallery []int, rank int) nearest {
	keys := make([]quickselect.Key, len(gallery))
	for k, i := range gallery {
		keys[k] = quickselect.Key{Value: between(row, i), Row: int32(i)}
	}
	rank = min(rank, len(keys))
	quickselect.First(keys, rank)
	n := nearest{row: row, between: between}
	for _, k := range keys[:rank] {
		n.farthest = max(n.farthest, k.Value)
	}
	below, equal := 0.0, 0.0
	for _, k := range keys {
		switch {
		case k.Value < n.farthest:
			below++
		case k.Value == n.farthest:
			equal++
		}
	}
	n.at = below+(equal+1)/2 <= float64(rank)
	return n
}

// hit is 1 for a row of the gallery among the nearest, otherwise 0.
func (n nearest) hit(i int) float64 {
	v := n.between(n.row, i)
	if v < n.farthest || n.at && v == n.farthest {
		return 1
	}
	return 0
}
