// Package search measures searches for nearest neighbors: the exact one and an index of mustlink,
// and the same work in scikit-learn, hnswlib and FAISS at the same recall.
package search

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
)

//go:embed search.py
var script string

// Options describe the data and the searches.
type Options struct {
	Rows, Queries, Columns int
	Clusters               int
	// Spread is the standard deviation of the centers of the clusters in every column. That of rows
	// in a cluster is 1.
	Spread    float64
	Neighbors int
	Recall    float64
	Seed      uint64
	// Python is an interpreter with the other libraries, "" for none, and Against the names of
	// those to measure.
	Python  string
	Against []string
}

// Libraries are the names of the other libraries.
var Libraries = []string{"sklearn", "hnswlib", "faiss"}

// Result is the time of one way to search.
type Result struct {
	Name   string  `json:"name"`
	Build  float64 `json:"build_seconds"` // of the index
	Search float64 `json:"seconds"`       // of all queries
	// of the processors in the search, which other work on the machine changes less
	CPU     float64 `json:"cpu_seconds"`
	Recall  float64 `json:"recall"`  // share of the exact neighbors
	Setting string  `json:"setting"` // what the recall was reached with
}

// Run draws rows of a mixture of Gaussians and measures all searches, one after the other. Each
// search is timed once, with all queries in one call.
func Run(ctx context.Context, eng *engine.Engine, o Options, done func(Result)) error {
	rows, queries := o.draw()
	r := Result{Name: "exact", Recall: 1}
	var exact []int32
	err := r.time(func() (err error) {
		exact, _, err = neighbors.Search(ctx, eng, queries, rows, o.Neighbors, false)
		return err
	})
	if err != nil {
		return err
	}
	done(r)
	r, err = o.indexed(ctx, eng, rows, queries, exact)
	if err != nil {
		return err
	}
	done(r)
	if o.Python == "" {
		return nil
	}
	return o.peers(ctx, eng.Workers(), rows, queries, exact, done)
}

// time measures a search.
func (r *Result) time(search func() error) error {
	began, before := time.Now(), measure.ProcessorTime()
	err := search()
	r.Search, r.CPU = time.Since(began).Seconds(), measure.ProcessorTime()-before
	return err
}

// draw returns rows and queries of the same mixture.
func (o Options) draw() (rows, queries blas.Matrix) {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	centers := blas.NewMatrix(o.Clusters, o.Columns)
	for i := range centers.Data {
		centers.Data[i] = o.Spread * rng.NormFloat64()
	}
	some := func(n int) blas.Matrix {
		m := blas.NewMatrix(n, o.Columns)
		for i := range n {
			for c, v := range centers.Row(rng.IntN(o.Clusters)) {
				m.Row(i)[c] = v + rng.NormFloat64()
			}
		}
		return m
	}
	return some(o.Rows), some(o.Queries)
}

// indexed measures the index.
func (o Options) indexed(ctx context.Context, eng *engine.Engine, rows, queries blas.Matrix,
	exact []int32) (Result, error) {
	r, began := Result{Name: "index"}, time.Now()
	index, err := neighborindex.Build(ctx, eng, rows, neighborindex.Source{},
		neighborindex.Options{Neighbors: o.Neighbors, Seed: o.Seed})
	if err != nil {
		return r, err
	}
	s, err := index.Open(ctx, eng, rows)
	if err != nil {
		return r, err
	}
	r.Build = time.Since(began).Seconds()
	probes, err := index.Probes(o.Recall)
	if err != nil {
		return r, err
	}
	r.Setting = fmt.Sprintf("%d of %d cells, which had recall %.4f on its own sample", probes, index.Cells(),
		index.Recall(probes).Value)
	var found []int32
	err = r.time(func() (err error) {
		found, _, err = s.Search(ctx, queries, o.Neighbors, probes)
		return err
	})
	if err != nil {
		return r, err
	}
	hits := 0
	for at := 0; at < len(exact); at += o.Neighbors {
		for _, j := range exact[at : at+o.Neighbors] {
			if slices.Contains(found[at:at+o.Neighbors], j) {
				hits++
			}
		}
	}
	r.Recall = float64(hits) / float64(len(exact))
	return r, nil
}

// peers measures other libraries, in a process of Python that gets the data as files.
func (o Options) peers(ctx context.Context, threads int, rows, queries blas.Matrix, exact []int32,
	done func(Result)) error {
	dir, err := os.MkdirTemp("", "mustlink-search-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	truth := blas.NewMatrix(queries.Rows, o.Neighbors)
	for at, j := range exact {
		truth.Data[at] = float64(j)
	}
	for name, m := range map[string]blas.Matrix{"rows": rows, "queries": queries, "exact": truth} {
		if err := dataset.WriteMatrix(filepath.Join(dir, name+".npy"), m.Rows, m.Cols, m.Data, m.Stride, nil,
			dataset.WriteOptions{}); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, o.Python, "-c", script, dir, strconv.Itoa(threads),
		strconv.FormatFloat(o.Recall, 'g', -1, 64), strings.Join(o.Against, ","))
	cmd.Env = append(cmd.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(threads),
		"OPENBLAS_NUM_THREADS="+strconv.Itoa(threads))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the search in Python: %w", err)
	}
	lines := json.NewDecoder(out)
	for {
		var r Result
		if err := lines.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			return errors.Join(fmt.Errorf("the search in Python: %w", err), cmd.Wait())
		}
		done(r)
	}
	return cmd.Wait()
}
