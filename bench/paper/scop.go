package paper

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// families is labeled sequences of the largest superfamilies of a file.
type families struct {
	x     *points.Sequences
	class []int
}

// loadFamilies reads a FASTA file with the class as the second word of each header, and keeps the
// classes with the most members; of classes with equal numbers, the first by name.
func loadFamilies(path string, largest int) (*families, error) {
	d, err := dataset.Read(path, dataset.ReadOptions{HeaderLabels: true})
	if err != nil {
		return nil, err
	}
	x, ok := d.Points.(*points.Sequences)
	if !ok {
		return nil, fault.Data(path, "no sequences: want FASTA")
	}
	size := map[string]int{}
	for _, l := range d.Labels {
		size[l]++
	}
	if len(size) < largest {
		return nil, fault.Data(path, "%d classes: want at least %d", len(size), largest)
	}
	var names []string
	for l := range size {
		names = append(names, l)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(size[b]-size[a], cmp.Compare(a, b)) })
	number := map[string]int{}
	for c, l := range names[:largest] {
		number[l] = c
	}
	f := &families{}
	var rows []int
	for i, l := range d.Labels {
		if c, ok := number[l]; ok {
			rows, f.class = append(rows, i), append(f.class, c)
		}
	}
	f.x = x.Select(rows).(*points.Sequences)
	return f, nil
}

// draw returns n of the sequences without replacement, or all of them if there are no more.
func (f *families) draw(n int, r *rand.Rand) *families {
	if n >= f.x.Len() {
		return f
	}
	rows := r.Perm(f.x.Len())[:n]
	slices.Sort(rows)
	out := &families{x: f.x.Select(rows).(*points.Sequences)}
	for _, i := range rows {
		out.class = append(out.class, f.class[i])
	}
	return out
}

// feedback returns the retrieval problem of a kernel on the sequences.
func (f *families) feedback(ctx context.Context, eng *engine.Engine, text string,
	epsRel float64) (*feedback, error) {
	k, err := resolved(ctx, eng, text, f.x)
	if err != nil {
		return nil, err
	}
	gram, err := k.Gram(ctx, eng, f.x)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", text, err)
	}
	return &feedback{gram: gram, class: f.class, epsRel: epsRel}, nil
}
