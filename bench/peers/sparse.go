package peers

import (
	"context"
	"path/filepath"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// The cases that need a data set.
const (
	adult = "knn-adult"
	text  = "gram-text"
)

// ofData reports whether a case needs a data set.
func ofData(name string) bool { return name == adult || name == text }

// firstRows reads the first rows of a data set.
func firstRows(s Subject, what, file string, n int) (points.Points, error) {
	if s.Data == "" {
		return nil, &fault.ParamError{Param: "MUSTLINK_DATA", Value: "",
			Want: "the folder of the data sets, for the case " + what}
	}
	d, err := dataset.Read(filepath.Join(s.Data, file), dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	rows := make([]int, min(n, d.Points.Len()))
	for i := range rows {
		rows[i] = i
	}
	return d.Points.Select(rows), nil
}

func knnAdult(ctx context.Context, s Subject, n, _ int) (func(), func() error, func() float64, error) {
	x, err := firstRows(s, adult, "adult.svm.gz", n)
	if err != nil {
		return nil, nil, nil, err
	}
	return nearest(ctx, s, x)
}

// gramText computes exp(cos - 1), the Gaussian kernel of directions.
func gramText(ctx context.Context, s Subject, n, _ int) (func(), func() error, func() float64, error) {
	x, err := firstRows(s, text, "text-baseball-hockey.svm.gz", n)
	if err != nil {
		return nil, nil, nil, err
	}
	spec, err := kernel.Parse("rbf:sigma=1@cosine")
	if err != nil {
		return nil, nil, nil, err
	}
	k, err := kernel.New(spec)
	if err != nil {
		return nil, nil, nil, err
	}
	var gram blas.Matrix
	return nil, func() error {
		gram, err = k.Gram(ctx, s.Engine, x)
		return err
	}, func() float64 { return sum(gram, false) }, nil
}
