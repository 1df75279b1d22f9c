package catalog

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

func kbetaMethod() Method {
	d := kbeta.DefaultParams()
	m := Method{
		Name:            kbeta.Method,
		Summary:         "scalable kernel metric learning: re-weights the spectrum of a kernel on landmarks",
		Paper:           "Yeung, Chang & Dai, A scalable kernel-based semi-supervised metric learning algorithm with out-of-sample generalization ability, Neural Computation 20, 2008",
		DefaultKernel:   kbeta.DefaultKernel,
		UsesCannotLinks: true,
		Pairwise:        true,
		Parameters: []Parameter{
			{"landmarks", strconv.Itoa(d.Landmarks), "points that carry the metric, those of must-links included; 0: all points; @FILE: their row numbers, one a line"},
			{"rule", d.Rule, "how other landmarks are chosen: uniform, kmeans++, farthest or leverage"},
			{"neighbors", strconv.Itoa(d.Neighbors), "landmarks that reconstruct a point, >= 1"},
			{"iterations", strconv.Itoa(d.Iterations), "iterations of the places of points that are no landmarks, 1 to 1000; the paper's tables use 3"},
			{"rank", "root", "most directions that are kept: root for the square root of the landmarks, 0 for no cap"},
			{"rank_tol", text(d.RankTol), "eigenvalue, relative to the largest, up to which a direction is dropped, >= 0, < 1"},
			{"reg_d", text(d.RegD), "added to the spread of must-links in every direction, relative to the mean, >= 0"},
			{"reg_g", text(d.RegG), "added to local Gram matrices, relative to their traces, >= 0"},
			{"dims", strconv.Itoa(d.Dims), "columns of the embedding, of the largest weights; 0: all"},
			{"cannot", text(d.Cannot), "part of cannot-links, 0 (none, the paper's) to 1"},
			{"extension", string(d.Extension), "lle or nystrom: how points that are no landmarks get their places"},
		},
		decode: func(f *model.File) (algorithms.Model, error) { return decoded(kbeta.Decode(f)) },
	}
	m.New = func(c Config) (algorithms.Learner, error) { return newKBeta(m, c) }
	return m
}

func newKBeta(m Method, c Config) (algorithms.Learner, error) {
	l := kbeta.Learner{Params: kbeta.DefaultParams(), Seed: c.Seed, Progress: c.Progress}
	p := &l.Params
	err := setters{
		"landmarks": func(text string) (err error) {
			if path, isFile := strings.CutPrefix(text, "@"); isFile {
				p.LandmarkRows, err = readRows(path)
				return err
			}
			return count("landmarks", &p.Landmarks)(text)
		},
		"rule":       func(text string) error { p.Rule = text; return nil },
		"neighbors":  count("neighbors", &p.Neighbors),
		"iterations": count("iterations", &p.Iterations),
		"rank": func(text string) error {
			if text == "root" {
				p.Rank = kbeta.RankRoot
				return nil
			}
			return count("rank", &p.Rank)(text)
		},
		"rank_tol":  number("rank_tol", &p.RankTol),
		"reg_d":     number("reg_d", &p.RegD),
		"reg_g":     number("reg_g", &p.RegG),
		"dims":      count("dims", &p.Dims),
		"cannot":    number("cannot", &p.Cannot),
		"extension": func(text string) error { p.Extension = kbeta.Extension(text); return nil },
	}.apply(m, c.Params)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if l.Kernel, err = c.kernel(); err != nil {
		return nil, err
	}
	return l, nil
}

// readRows reads row numbers, one a line; empty lines and lines that begin with # do not count.
func readRows(path string) ([]int, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &fault.ParamError{Param: "landmarks", Value: "@" + path, Want: "a file that can be read (" + err.Error() + ")"}
	}
	defer f.Close()
	rows, lines := []int{}, bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 {
			return nil, &fault.DataError{File: path, Line: line, Row: -1, Err: fmt.Errorf("%q: want a row number >= 0", text)}
		}
		rows = append(rows, v)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Data(path, "%w", err)
	}
	if len(rows) == 0 {
		return nil, fault.Data(path, "it has no row numbers: want those of the landmarks, one a line")
	}
	return rows, nil
}
