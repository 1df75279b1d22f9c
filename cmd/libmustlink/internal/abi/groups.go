package abi

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
)

// Groups are groups of rows that a call found.
type Groups struct {
	Count     int `json:"groups"`
	Rows      int `json:"rows"`
	Merges    int `json:"merges"`
	Forbidden int `json:"forbidden"`

	found *mustlink.Groups
}

// Distinct has the layout of mustlink_distinct.
type Distinct struct {
	Name   unsafe.Pointer // char, or NULL
	Keys   unsafe.Pointer
	Width  float64
	Values unsafe.Pointer
}

// distinct returns columns of a number of rows, without copies of their values.
func distinct(columns []Distinct, rows int) (list []mustlink.Distinct, err error) {
	for k := range columns {
		one, err := columns[k].of(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (d *Distinct) of(rows int) (mustlink.Distinct, error) {
	out := mustlink.Distinct{Width: d.Width}
	if d.Name != nil {
		out.Name = textAt(d.Name)
	}
	switch {
	case rows > 0 && (d.Keys == nil) == (d.Values == nil):
		return out, argument("distinct column %q: want either keys or values", out.Name)
	case rows > 0 && (d.Width != 0) != (d.Values != nil):
		return out, fault.Param(fmt.Sprintf("width of the column %q", out.Name), d.Width,
			"0 for keys, a number > 0 for values")
	case d.Values != nil:
		out.Values = list[float64](d.Values, int64(rows))
	case d.Keys != nil:
		for _, key := range list[int64](d.Keys, int64(rows)) {
			out.Keys = append(out.Keys, int(key))
		}
	}
	return out, nil
}

// FindGroups implements mustlink_groups_find.
func FindGroups(m *mustlink.Model, options string, p *Points, l *Links, columns []Distinct,
	c *Control) (*Groups, error) {
	var o struct {
		Linkage   string  `json:"linkage"`
		Threshold float64 `json:"threshold"`
		Precision float64 `json:"precision"`
		Count     int     `json:"count"`
		MinSize   int     `json:"min_size"`
		Neighbors int     `json:"neighbors"`
		Recall    float64 `json:"recall"`
	}
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	table, set, err := p.linked(m, l)
	if err != nil {
		return nil, err
	}
	g := mustlink.GroupOptions{Links: set, Linkage: mustlink.Linkage(o.Linkage), Threshold: o.Threshold,
		Precision: o.Precision, Count: o.Count, MinSize: o.MinSize, Neighbors: o.Neighbors, Recall: o.Recall}
	if g.Distinct, err = distinct(columns, table.Rows()); err != nil {
		return nil, err
	}
	out := &Groups{Rows: table.Rows()}
	return out, c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		if out.found, err = m.Groups(ctx, table, g); err == nil {
			components := 0
			for _, c := range out.found.Start {
				components = max(components, c+1)
			}
			out.Count, out.Forbidden = len(out.found.Sizes), len(out.found.Forbidden)
			out.Merges = out.Rows - components + len(out.found.Merges)
		}
		return err
	})
}

// Copy implements mustlink_groups_copy.
func (g *Groups) Copy(label, child, height, forbidden unsafe.Pointer) error {
	if label == nil && g.Rows > 0 {
		return argument("the output for labels is NULL: want a pointer")
	}
	for i, k := range g.found.Labels {
		list[int64](label, int64(g.Rows))[i] = int64(k)
	}
	if child != nil || height != nil {
		g.tree(func(k, a, b int, at float64) {
			if child != nil {
				to := list[int64](child, 2*int64(g.Merges))
				to[2*k], to[2*k+1] = int64(a), int64(b)
			}
			if height != nil {
				list[float64](height, int64(g.Merges))[k] = at
			}
		})
	}
	if forbidden != nil {
		to := list[int64](forbidden, 3*int64(g.Forbidden))
		for k, f := range g.found.Forbidden {
			to[3*k], to[3*k+1], to[3*k+2] = int64(f.I), int64(f.J), int64(f.Column)
		}
	}
	return nil
}

// tree calls yield with every merge, those of must-links first: node i is row i, and merge k makes
// node Rows + k.
func (g *Groups) tree(yield func(k, a, b int, height float64)) {
	var node []int // of each component, then of each merge
	k := 0
	for i, c := range g.found.Start {
		if c == len(node) {
			node = append(node, i)
			continue
		}
		yield(k, min(node[c], i), max(node[c], i), 0)
		node[c] = g.Rows + k
		k++
	}
	for _, m := range g.found.Merges {
		yield(k, min(node[m.A], node[m.B]), max(node[m.A], node[m.B]), m.Height)
		node = append(node, g.Rows+k)
		k++
	}
}
