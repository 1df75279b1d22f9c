package abi

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/links"
)

// FoundEntities says how entities were found, in the information about doubtful pairs.
type FoundEntities struct {
	Entities   int                 `json:"entities"`
	Candidates int                 `json:"candidates"`
	Found      int                 `json:"found"`      // must-links that are candidates
	PairModel  *mustlink.PairModel `json:"pair_model"` // null for the probabilities of a calibration
	Components int                 `json:"components"`
	Exact      int                 `json:"exact"`
	Barred     int                 `json:"barred"`
}

// FindEntities implements mustlink_entities_find.
func FindEntities(m *mustlink.Model, options string, p, texts *Points, l *Links, columns []Distinct,
	c *Control, label, probability unsafe.Pointer) (*Pairs, error) {
	o := struct {
		Blocks    []string `json:"blocks"`
		Compare   []string `json:"compare"`
		Neighbors int      `json:"neighbors"`
		MaxPairs  int      `json:"max_pairs"`
		Decided   [][3]int `json:"decided"`
		Previous  []int    `json:"previous"`
		Next      int      `json:"next"`
		Doubts    int      `json:"doubts"`
		Ask       int      `json:"ask"`
		Seed      uint64   `json:"seed"`
	}{Doubts: 100, Seed: 1}
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	of := mustlink.EntityOptions{Model: m, Blocks: o.Blocks, Neighbors: o.Neighbors, MaxPairs: o.MaxPairs,
		Compare: o.Compare, Previous: o.Previous, Next: o.Next, Seed: o.Seed}
	if p == nil {
		p = texts
	}
	table, set, err := p.linked(m, l)
	if err != nil {
		return nil, err
	}
	if l == nil {
		set = nil
	}
	if texts != nil {
		if of.Texts, err = texts.table(false, true, nil); err != nil {
			return nil, err
		}
	}
	decided := make([]links.Link, len(o.Decided))
	for k, row := range o.Decided {
		decided[k] = links.NewLink(row[0], row[1], links.Sign(row[2]))
	}
	if of.Decided, err = links.New(table.Rows(), decided); err != nil {
		return nil, err
	}
	if of.Distinct, err = distinct(columns, table.Rows()); err != nil {
		return nil, err
	}
	if o.Ask == 0 && label == nil && table.Rows() > 0 {
		return nil, argument("the output for labels is NULL: want a pointer")
	}
	out := &Pairs{Notices: []string{}}
	return out, c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		if o.Ask != 0 {
			rows, candidates, err := mustlink.EntityQuestions(ctx, table, set, of, o.Ask)
			for _, pair := range rows {
				out.found = append(out.found, mustlink.Pair{I: int32(pair[0]), J: int32(pair[1])})
			}
			out.Count, out.Entities = len(rows), &FoundEntities{Candidates: candidates}
			return err
		}
		r, err := mustlink.Entities(ctx, table, set, of)
		if err != nil {
			return err
		}
		for i, number := range r.Numbers {
			list[int64](label, int64(len(r.Numbers)))[i] = int64(number)
		}
		if probability != nil {
			copy(list[float64](probability, int64(len(r.Numbers))), r.Probability)
		}
		for _, q := range r.Doubtful(r.Candidates, max(0, o.Doubts)) {
			out.found = append(out.found, mustlink.Pair{I: q.I, J: q.J})
			out.probability = append(out.probability, q.Probability)
		}
		out.Count = len(out.found)
		out.Entities = &FoundEntities{len(r.Sizes), len(r.Candidates), r.Found, r.Pairs, r.Components,
			r.Exact, r.Barred}
		if r.Doubt != "" {
			out.Notices = append(out.Notices, r.Doubt+"; probabilities are lowered to that")
		}
		if r.Divided > 0 {
			out.Notices = append(out.Notices, fmt.Sprintf("%d pairs above 1/2 are left out, as they connect more "+
				"than 1000 records: want surer links, or columns of distinct values", r.Divided))
		}
		return nil
	})
}
