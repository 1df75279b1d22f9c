package shard

import (
	"errors"
	"io"
	"os"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// Labels returns the labels of all rows of an element. In text it ignores all other columns. A
// missing label is an error.
func (e Element) Labels(o Options) ([]string, error) {
	if dataset.FormatOf(e.File) != "csv" {
		return e.dataLabels(o)
	}
	stream, end, err := e.openLabels()
	if err != nil {
		return nil, err
	}
	defer end()
	skip := e.Skip
	if e.Bytes == 0 {
		skip = e.First
	}
	labels := make([]string, 0, e.Rows)
	for err == nil && int64(stream.Done()) < skip+e.Rows {
		before := int64(stream.Done())
		var part dataset.LabelRows
		part, err = stream.Next(int(min(DefaultRows, skip+e.Rows-before)))
		labels = append(labels, part.Labels[min(int64(len(part.Labels)), max(0, skip-before)):]...)
	}
	if err == nil && e.closed() {
		if _, err = stream.Next(1); err == nil {
			err = io.EOF
		} else if err == io.EOF {
			err = nil
		}
	}
	if errors.Is(err, io.EOF) {
		err = e.changed()
	}
	if err != nil {
		return nil, e.locate(err)
	}
	return labels, nil
}

// openLabels opens a stream of the labels in text.
func (e Element) openLabels() (stream *dataset.LabelStream, end func(), err error) {
	if e.Bytes == 0 {
		if stream, err = dataset.OpenLabels(dataset.Input{Name: e.File}, dataset.ReadOptions{}); err != nil {
			return nil, nil, err
		}
		return stream, func() { _ = stream.Close() }, nil
	}
	f, err := os.Open(e.File)
	if err != nil {
		return nil, nil, err
	}
	stream, err = dataset.OpenLabels(dataset.Input{Name: e.File, Stream: e.text(f)}, dataset.ReadOptions{})
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return stream, func() { f.Close() }, nil
}

// dataLabels returns the labels of an element of another format.
func (e Element) dataLabels(o Options) ([]string, error) {
	o.IgnoreLabels = false
	block, err := e.Labeled(o)
	if err != nil {
		return nil, err
	}
	return block.Labels, nil
}

// Labeled reads all rows of an element at once. Bad rows are errors, and so are rows without
// labels.
func (e Element) Labeled(o Options) (Block, error) {
	block, bad, err := e.Whole(o)
	switch {
	case err != nil:
		return Block{}, err
	case len(bad) > 0:
		return Block{}, bad[0].Err()
	case block.Labels == nil:
		return Block{}, fault.Data(e.File, "it has no labels: want a column label")
	}
	return block, nil
}

// Pair is one run of rows in two sets.
type Pair struct{ A, B Element }

// Align divides two sets with the same number of rows so that each element of one has its
// counterpart in the other.
func Align(a, b *Set) ([]Pair, error) {
	if a.Rows != b.Rows {
		return nil, fault.Data(b.Files[0], "the files of its pattern have %d rows: want %d, as those of %s",
			b.Rows, a.Rows, a.Files[0])
	}
	var pairs []Pair
	for i, j, start := 0, 0, int64(0); start < a.Rows; {
		x, y := a.Elements[i], b.Elements[j]
		end := min(x.Start+x.Rows, y.Start+y.Rows)
		pairs = append(pairs, Pair{x.Part(start, end-start), y.Part(start, end-start)})
		if start = end; end == x.Start+x.Rows {
			i++
		}
		if end == y.Start+y.Rows {
			j++
		}
	}
	for i := range pairs {
		for _, e := range []*Element{&pairs[i].A, &pairs[i].B} {
			e.Index, e.Count = int64(i), int64(len(pairs))
		}
	}
	return pairs, nil
}
