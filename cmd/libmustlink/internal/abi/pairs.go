package abi

import (
	"context"
	"fmt"
	"strconv"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Pairs are pairs of rows that a call found.
type Pairs struct {
	Count      int                    `json:"pairs"`
	Threshold  *float64               `json:"threshold"`
	Calibrated *calibration.Threshold `json:"calibrated"` // null without a calibration
	Classes    int                    `json:"classes"`    // of a suggestion, that are apart so far
	Notices    []string               `json:"notices"`
	Entities   *FoundEntities         `json:"entities,omitempty"` // of mustlink_entities_find

	found       []mustlink.Pair // of a suggestion without distances
	probability []float64       // nil without a calibration
}

// Copy implements mustlink_pairs_copy.
func (p *Pairs) Copy(pair, distance, probability unsafe.Pointer) error {
	if pair == nil && p.Count > 0 {
		return argument("the output for pairs is NULL: want a pointer")
	}
	to := list[int64](pair, 2*int64(p.Count))
	for k, of := range p.found {
		to[2*k], to[2*k+1] = int64(of.I), int64(of.J)
		if distance != nil && p.Threshold != nil {
			list[float64](distance, int64(p.Count))[k] = of.Distance
		}
	}
	if probability != nil {
		copy(list[float64](probability, int64(p.Count)), p.probability)
	}
	return nil
}

// labeled learns from pairs: labels imply each of them.
var labeled = func() (m catalog.Method) { m.Pairwise = true; return m }()

// Calibrate implements mustlink_calibrate.
func Calibrate(m *mustlink.Model, options string, p *Points, l *Links,
	c *Control) (calibrated *mustlink.Model, err error) {
	var o struct {
		Share float64 `json:"share"`
		Near  bool    `json:"near"`
	}
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	if o.Near && o.Share != 0 {
		return nil, fault.Param("near", true, "one of near and share")
	}
	table, set, err := p.linked(m, l)
	if err != nil {
		return nil, err
	}
	err = c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		calibrated, err = m.Calibrate(ctx, table, set)
		return err
	})
	if err != nil {
		return nil, err
	}
	record := calibrated.Record()
	if record.Calibration, err = record.Calibration.WithShare(o.Share); o.Near && err == nil {
		record.Calibration = record.Calibration.OfNearPairs()
	}
	return calibrated, err
}

// linked returns the table of points and its links.
func (p *Points) linked(m *mustlink.Model, l *Links) (*mustlink.Table, *links.Set, error) {
	table, err := p.table(false, fills(m), nil)
	if err != nil {
		return nil, nil, err
	}
	set, err := l.set(table.Rows(), labeled)
	return table, set, err
}

// FindPairs implements mustlink_pairs_find.
func FindPairs(m *mustlink.Model, options string, p *Points, c *Control) (*Pairs, error) {
	var o struct {
		Threshold *float64 `json:"threshold"`
		Precision float64  `json:"precision"`
		Recall    float64  `json:"recall"`
		Share     float64  `json:"share"`
		Neighbors int      `json:"neighbors"`
		Most      int      `json:"max_pairs"`
	}
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	if o.Precision != 0 && o.Recall != 0 || (o.Threshold == nil) == (o.Precision+o.Recall == 0) {
		return nil, fault.Data("", "options: want one of threshold, precision and recall")
	}
	if o.Threshold == nil {
		o.Threshold = new(float64)
	}
	by, threshold, err := calibration.Choose(m.Calibration(), o.Share, o.Precision, o.Recall, *o.Threshold)
	if err != nil {
		return nil, err
	}
	table, err := p.table(false, fills(m), nil)
	if err != nil {
		return nil, err
	}
	out := &Pairs{Threshold: &threshold, Notices: []string{}}
	return out, c.run(func(ctx context.Context, progress algorithms.ProgressFunc) error {
		find := func(threshold float64) ([]mustlink.Pair, error) {
			return m.Pairs(ctx, table, threshold, mustlink.PairOptions{Neighbors: o.Neighbors, Most: o.Most,
				Progress: progress})
		}
		pairs, err := find(threshold)
		if err != nil {
			return err
		}
		if by != nil {
			found, err := by.Matches(threshold, o.Precision, table.Rows(), o.Neighbors == 0,
				neighbors.Distances(pairs), func(threshold float64) ([]float64, error) {
					more, err := find(threshold)
					return neighbors.Distances(more), err
				})
			if err != nil {
				return err
			}
			if found.Doubt != "" {
				out.Notices = append(out.Notices, found.Doubt+"; precision and probability are lowered to that "+
					"(want share of all pairs of rows, or a calibration with near)")
			}
			pairs, out.Threshold, out.Calibrated = pairs[:found.Pairs], &found.Distance, &found.Threshold
			out.probability = found.Probabilities
		}
		out.Count, out.found = len(pairs), pairs
		return nil
	})
}

// SuggestPairs implements mustlink_pairs_suggest.
func SuggestPairs(e *engine.Engine, m *mustlink.Model, options string, p *Points, l *Links,
	c *Control) (*Pairs, error) {
	o := struct {
		Count   int     `json:"count"`
		Classes int     `json:"classes"`
		Near    float64 `json:"near"`
		Seed    uint64  `json:"seed"`
	}{Count: 10, Seed: 1}
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	switch {
	case o.Count < 1:
		return nil, fault.Param("count", o.Count, "a number >= 1")
	case o.Near < 0:
		return nil, fault.Param("near", o.Near, "a distance > 0")
	case o.Near > 0 && o.Classes != 0:
		return nil, fault.Param("near", o.Near, "one of near and classes")
	}
	table, set, err := p.linked(m, l)
	if err != nil {
		return nil, err
	}
	if err := set.Consistent(); err != nil {
		return nil, err
	}
	out := &Pairs{Notices: []string{}}
	return out, c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		few := fmt.Sprintf("there are only %%d pairs up to the distance %g", o.Near)
		if o.Near > 0 {
			found, err := m.Pairs(ctx, table, o.Near, mustlink.PairOptions{})
			if err != nil {
				return err
			}
			for _, rows := range neighbors.Draw(found, set, o.Count, o.Seed) {
				out.found = append(out.found, mustlink.Pair{I: int32(rows[0]), J: int32(rows[1])})
			}
		} else {
			few = "only %d pairs can be queried at once: the others depend on the answers, or are known"
			if err := e.Check("queries between "+strconv.Itoa(set.N())+" rows",
				activelearning.Bytes(set.N(), o.Classes), "use a sample of the rows"); err != nil {
				return err
			}
			y, err := m.Coordinates(ctx, table.Data())
			if err != nil {
				return err
			}
			questions, err := activelearning.New(y, set,
				activelearning.Options{Seed: o.Seed, Classes: o.Classes})
			if err != nil {
				return err
			}
			for _, pair := range questions.Batch(o.Count) {
				out.found = append(out.found, mustlink.Pair{I: int32(pair.I), J: int32(pair.J)})
			}
			out.Classes = questions.Classes()
		}
		if out.Count = len(out.found); out.Count < o.Count {
			out.Notices = append(out.Notices, fmt.Sprintf(few, out.Count))
		}
		return nil
	})
}

// Classify implements mustlink_classify.
func Classify(m *mustlink.Model, known *Points, label unsafe.Pointer, fresh *Points, k int64, c *Control,
	out unsafe.Pointer) error {
	train, err := known.table(false, fills(m), nil)
	if err != nil {
		return err
	}
	query, err := fresh.table(false, fills(m), nil)
	switch {
	case err != nil:
		return err
	case train.Rows() > 0 && label == nil || query.Rows() > 0 && out == nil:
		return argument("the labels or the output are NULL: want pointers")
	}
	if train, err = train.WithLabels(labelTexts(list[int64](label, int64(train.Rows())))); err != nil {
		return err
	}
	return c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		found, err := m.Classify(ctx, train, query, int(k))
		for i, text := range found {
			list[int64](out, int64(len(found)))[i], _ = strconv.ParseInt(text, 10, 64)
		}
		return err
	})
}
