package apply

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/mustlink/mustlink/algorithms/blocking"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/algorithms/pairmodel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/similarity"
	"github.com/mustlink/mustlink/internal/usage"
)

// candidates are the pairs that may match, and what they are compared by.
type candidates struct {
	compare   []string
	blocks    []string
	rules     []blocking.Rule
	neighbors int
	most      int

	texts    *points.Mixed // columns of texts
	y        blas.Matrix   // coordinates of the records in the learned metric, no columns without a model
	distance float64       // up to which pairs were searched, 0 if not
	pairs    [][2]int32    // ascending
	second   int           // the first record of the second file, 0 without one
	files    []int         // of which an entity has one record at most; -1 for any number
}

// parse reads the rules of blocks.
func (c *candidates) parse() error {
	for _, text := range c.blocks {
		rule, err := blocking.Parse(text)
		if err != nil {
			return usage.RenameParams(err, "key", "--block")
		}
		c.rules = append(c.rules, rule)
	}
	return nil
}

// text returns a column of texts.
func (c *candidates) text(name string) (*points.Column, error) {
	k := slices.Index(c.texts.Names(), name)
	if k < 0 {
		return nil, fault.Unknown("column", name, c.texts.Names())
	}
	return &c.texts.Columns[k], nil
}

// apart returns the learned distance of two records.
func (c *candidates) apart(i, j int) float64 {
	return math.Sqrt(points.SquaredDistance(c.y.Row(i), c.y.Row(j)))
}

// find finds the candidates, without those within a file of which an entity has one record.
func (c *candidates) find(ctx context.Context, m *metric.Metric, n int) error {
	err := c.findAll(ctx, m, n)
	if c.files != nil {
		c.pairs = slices.DeleteFunc(c.pairs, func(p [2]int32) bool {
			return c.files[p[0]] >= 0 && c.files[p[0]] == c.files[p[1]]
		})
	}
	return err
}

// findAll finds pairs by keys, and by neighbors or all up to a distance of the calibration.
func (c *candidates) findAll(ctx context.Context, m *metric.Metric, n int) error {
	if len(c.rules) > 0 {
		var err error
		if c.pairs, err = blocking.Pairs(ctx, m.Eng, c.rules, c.text, c.most); err != nil {
			return usage.RenameParams(err, "key", "--block")
		}
		if c.neighbors == 0 {
			return nil
		}
	}
	o := neighbors.PairOptions{Neighbors: c.neighbors, Most: c.most}
	const far = 1e100 // any distance
	threshold := far
	calibrated := m.Calibration()
	switch {
	case c.neighbors > 0:
	case calibrated != nil && len(c.compare) == 0:
		var err error
		if threshold, err = likely(calibrated); err != nil {
			return err
		}
		c.distance = threshold
	default:
		const usual = 10
		o.Neighbors = usual
	}
	found, err := neighbors.Pairs(ctx, m.Eng, c.y, threshold, o)
	if err != nil {
		return usage.RenameParams(err, "threshold", "the distance of the calibration")
	}
	for _, p := range found {
		c.pairs = append(c.pairs, [2]int32{p.I, p.J})
	}
	slices.SortFunc(c.pairs, blocking.Compare)
	c.pairs = slices.Compact(c.pairs)
	return nil
}

// likely returns the distance up to which pairs are candidates: that of the farthest must-link, or
// the largest one up to twice that of a probability of 1/2 at which the probability is above 0.1.
func likely(c *calibration.Calibration) (float64, error) {
	const steps, least = 1000, 0.1
	even, err := c.Even()
	if err != nil {
		return 0, err
	}
	last, err := c.ThresholdForRecall(1)
	k := sort.Search(steps, func(k int) bool {
		return c.Probability(even.Distance*(1+float64(k+1)/steps)) < least
	})
	return min(last.Distance, even.Distance*(1+float64(k)/steps)), err
}

// pairsModel says how well the pair model knows held-out links.
type pairsModel struct {
	AUC    float64 `json:"auc"`
	Alone  float64 `json:"auc_of_distance,omitempty"` // of the learned distance alone
	Must   int     `json:"must_links"`
	Cannot int     `json:"cannot_links"`
	Share  float64 `json:"share"` // of candidates that match, estimated
}

func (p *pairsModel) String() string {
	alone := ""
	if p.Alone > 0 {
		alone = fmt.Sprintf(" (learned distance alone %.3f)", p.Alone)
	}
	return fmt.Sprintf("AUC %.3f%s; rests on %d must-links and %d cannot-links; %.3g of the candidates match",
		p.AUC, alone, p.Must, p.Cannot, p.Share)
}

// model returns the probability of a pair: that of the calibration, or of a pair model that learns
// from the links which are candidates.
func (c *candidates) model(ctx context.Context, m *metric.Metric, l *links.Set, linked bool,
	r *entitiesReport, seed uint64) (func(i, j int) float64, error) {
	must, cannot := c.among(l.Must()), c.among(l.Cannot())
	if len(l.Must()) > 0 {
		r.Found = &foundLinks{len(must), len(l.Must())}
	}
	if len(c.compare) == 0 && m.Calibration() != nil {
		return c.calibrated(m), nil
	}
	if !linked {
		return nil, fault.Data("", "the model is not calibrated: want a model of mustlink calibrate, or -c LINKS, from "+
			"which the probability of a distance is learned")
	}
	columns := make([]*similarity.Column, len(c.compare))
	for k, name := range c.compare {
		column, err := c.text(name)
		if err != nil {
			return nil, err
		}
		if columns[k], err = similarity.NewColumn(m.Eng, column); err != nil {
			return nil, err
		}
	}
	measured := min(c.y.Cols, 1)
	width := measured + similarity.Features*len(columns)
	features := func(i, j int, to []float64) {
		if measured > 0 {
			to[0] = c.apart(i, j)
		}
		for k, column := range columns {
			column.Compare(i, j, to[measured+similarity.Features*k:])
		}
	}
	list := slices.Concat(must, cannot)
	if err := m.Eng.Check("features of the links", 2*engine.MatrixBytes(len(list), width),
		"use fewer links"); err != nil {
		return nil, err
	}
	x, part := blas.NewMatrix(len(list), width), l.Components()
	kinds, groups := make([]bool, len(list)), make([]int, len(list))
	for k, link := range list {
		features(link.I, link.J, x.Row(k))
		kinds[k], groups[k] = k < len(must), part[link.I]
	}
	fitted, err := pairmodel.Fit(ctx, m.Eng, x, kinds, groups, seed)
	if err != nil {
		return nil, err
	}
	odds, err := c.sample(ctx, m.Eng, fitted, features, width)
	if err != nil {
		return nil, err
	}
	r.Pairs = &pairsModel{AUC: fitted.AUC, Must: fitted.Must, Cannot: fitted.Cannot}
	if measured > 0 {
		r.Pairs.Alone = fitted.Alone
	}
	fitted, r.Pairs.Share = fitted.WithShareOf(odds)
	return func(i, j int) float64 {
		memory := make([]float64, 2*width)
		features(i, j, memory[:width])
		return pairmodel.Probability(fitted.LogOdds(memory[:width], memory[width:]))
	}, nil
}

// sample returns the log odds of up to 100,000 candidates, evenly among all.
func (c *candidates) sample(ctx context.Context, eng *engine.Engine, m *pairmodel.Model,
	features func(i, j int, to []float64), width int) ([]float64, error) {
	const most = 100_000
	odds := make([]float64, min(most, len(c.pairs)))
	err := eng.For(ctx, len(odds), 1024, func(lo, hi int) error {
		memory := make([]float64, 2*width)
		for k := lo; k < hi; k++ {
			p := c.pairs[k*len(c.pairs)/len(odds)]
			features(int(p[0]), int(p[1]), memory[:width])
			odds[k] = m.LogOdds(memory[:width], memory[width:])
		}
		return nil
	})
	return odds, err
}

// among returns the links that are candidates.
func (c *candidates) among(list []links.Link) (out []links.Link) {
	for _, l := range list {
		p := [2]int32{int32(min(l.I, l.J)), int32(max(l.I, l.J))}
		if _, found := slices.BinarySearchFunc(c.pairs, p, blocking.Compare); found {
			out = append(out, l)
		}
	}
	return out
}

// calibrated returns the probabilities of the calibration. Where all pairs up to a distance were
// found, their number bounds the probabilities, as for mustlink pairs.
func (c *candidates) calibrated(m *metric.Metric) func(i, j int) float64 {
	calibrated := m.Calibration()
	if c.distance == 0 || len(c.rules) > 0 {
		return func(i, j int) float64 { return calibrated.Probability(c.apart(i, j)) }
	}
	distances := make([]float64, len(c.pairs))
	for k, p := range c.pairs {
		distances[k] = c.apart(int(p[0]), int(p[1]))
	}
	slices.Sort(distances)
	two := func(rows int) float64 { return float64(rows) * float64(rows-1) / 2 }
	all := two(c.y.Rows)
	if c.second > 0 {
		if all -= two(c.second); c.files[c.second] >= 0 {
			all -= two(c.y.Rows - c.second)
		}
	}
	found := calibrated.OfFound(c.distance, distances, all, true)
	if found.Doubt != "" {
		m.Warnf("%s; probabilities are lowered to that (want --share of all pairs, or 'mustlink calibrate --near')",
			found.Doubt)
	}
	return func(i, j int) float64 {
		d := c.apart(i, j)
		if k := sort.SearchFloat64s(distances, d); k < len(distances) {
			return found.Probabilities[k]
		}
		if len(distances) > 0 {
			return min(calibrated.Probability(d), found.Probabilities[len(distances)-1])
		}
		return calibrated.Probability(d)
	}
}
