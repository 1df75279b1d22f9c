package selection

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"gonum.org/v1/gonum/stat/distuv"
)

// incumbent returns the index of the incumbent among the candidates, -1 without one.
func (o *Options) incumbent() int {
	if o.Incumbent == nil {
		return -1
	}
	for i, c := range o.Candidates {
		if c.String() == o.Incumbent.String() {
			return i
		}
	}
	return -1
}

// checkIncumbent returns an error for an incumbent that is not a candidate, and for an invalid
// margin.
func (o *Options) checkIncumbent() error {
	if o.Incumbent != nil && o.incumbent() < 0 {
		return fault.Param("incumbent", o.Incumbent.String(), "one of the candidates")
	}
	if !(o.Margin >= 0) || math.IsInf(o.Margin, 1) {
		return fault.Param("margin", o.Margin, "a finite number >= 0 of standard errors")
	}
	return nil
}

// stay returns the candidates that a round of halving keeps, the best first: the best third of
// those that challenge the incumbent, and the incumbent.
func (s *search) stay(order []int) []int {
	at := s.o.incumbent()
	held := slices.Contains(order, at)
	if held {
		order = slices.DeleteFunc(order, func(i int) bool { return i == at })
	}
	left := order[:third(len(order))]
	if held {
		left = append(left, at)
	}
	return left
}

// third returns the number of candidates that a round of halving keeps of some. Few candidates stay
// to the end: one fold is not enough to choose between them, and their fits cost little.
func third(count int) int { return max((count+keep-1)/keep, min(count, fewest)) }

// chance is the share of selections among candidates without effect in which one is called better.
const chance = 0.05

// choose computes how far the trials are ahead of the points without learning and of the incumbent,
// and selects one: the incumbent unless another trial is ahead of it by more than the margin, among
// those that are clearly better than the points without learning; or else these points.
//
// The more candidates, the more errors it takes to be clear: a normal quantile of 1 - chance/count
// (Bonferroni), which holds whatever the correlation of the candidates.
func (s *search) choose(r *Result) {
	at := s.o.incumbent()
	if at >= 0 && s.trials[at].Error != "" {
		at = -1
	}
	if r.Raw != nil {
		r.Needed = distuv.UnitNormal.Quantile(1 - chance/float64(len(r.Trials)))
	}
	var clear []*Trial // of candidates with all folds, the best first
	for k := range r.Trials {
		t := &r.Trials[k]
		if t.Error != "" {
			continue
		}
		if r.Raw != nil {
			gain, err := verdict.Combine(s.weighted(minus(t.figures, r.Raw.figures)))
			t.Gain, t.GainError = &gain, &err
		}
		if len(t.Scores) == s.parts() && (r.Raw == nil || *t.Gain > r.Needed**t.GainError) {
			clear = append(clear, t)
		}
		if at >= 0 && len(t.Scores) == len(s.trials[at].Scores) &&
			t.Candidate.String() != s.trials[at].Candidate.String() {
			v := s.ahead(t.figures, s.trials[at].figures)
			t.Ahead = &v
		}
	}
	r.Best = Candidate{Method: Raw}
	if len(clear) > 0 {
		r.Best = s.defend(clear, at).Candidate
	}
	if r.Raw != nil {
		s.crossFit(r)
	}
}

// defend returns the incumbent if it is among the trials and none is ahead of it by more than the
// margin, otherwise the best trial that is.
func (s *search) defend(trials []*Trial, incumbent int) *Trial {
	at := -1
	if incumbent >= 0 {
		name := s.trials[incumbent].Candidate.String()
		at = slices.IndexFunc(trials, func(t *Trial) bool { return t.Candidate.String() == name })
	}
	if at < 0 {
		return trials[0]
	}
	for _, t := range trials {
		if t.Ahead != nil && *t.Ahead > s.o.Margin {
			return t
		}
	}
	return trials[at]
}

// crossFit computes what the choice gained on folds that it was not made by: for every fold, that
// of the candidate whose gain on the other folds is largest, 0 if none has any; only candidates
// that were scored on all folds take part. It also makes the verdict.
func (s *search) crossFit(r *Result) {
	var all []*Trial
	for k := range r.Trials {
		if t := &r.Trials[k]; t.Error == "" && len(t.Scores) == s.parts() {
			all = append(all, t)
		}
	}
	cross := make([]verdict.Statistic, s.parts())
	for f := range cross {
		best := 0.0
		for _, t := range all {
			gains := minus(t.figures, r.Raw.figures)
			others := slices.Delete(s.weighted(gains), f, f+1)
			if mean, _ := verdict.Combine(others); mean > best {
				best, cross[f] = mean, gains[f]
			}
		}
	}
	r.Gain, r.GainError = verdict.Combine(s.weighted(cross))
	if s.o.Criterion != Ranking {
		return
	}
	v := &verdict.Verdict{Raw: r.Raw.Mean, AUC: r.Raw.Mean, Found: verdict.Similar, Fits: s.parts(),
		Parts: s.o.Folds, Candidates: len(r.Trials)}
	v.Must, v.Cannot, v.Rows = verdict.Count(s.folds)
	v.Alone = v.Cannot == 0
	chosen := r.Raw
	if r.Best.Method != Raw {
		v.Found, v.Gain, v.GainError = verdict.Better, r.Gain, r.GainError
		v.AUC += v.Gain
		chosen = &r.Trials[slices.IndexFunc(r.Trials, func(t Trial) bool {
			return t.Candidate.String() == r.Best.String()
		})]
	}
	_, v.Error = verdict.Level(s.weighted(chosen.figures))
	r.judged = v
}

// minus returns the figures less those of another metric on the same folds.
func minus(a, b []verdict.Statistic) []verdict.Statistic {
	out := make([]verdict.Statistic, len(a))
	for f := range a {
		out[f] = a[f].Minus(b[f])
	}
	return out
}

// maxAhead bounds the result of ahead, since JSON has no infinity.
const maxAhead = 1e6

// ahead returns the mean of a - b over the same k >= 2 folds, in standard errors. Figures without
// parts have the error of k folds that share training points: (1/k + 1/(k - 1))^1/2 standard
// deviations (Nadeau and Bengio 2003, Inference for the generalization error).
func (s *search) ahead(a, b []verdict.Statistic) float64 {
	d := minus(a, b)
	mean, err := verdict.Combine(s.weighted(d))
	if d[0].Rows == nil {
		values := make([]float64, len(d))
		for f := range d {
			values[f] = d[f].Value
		}
		k := float64(len(d))
		_, sd := spread(values)
		err = sd * math.Sqrt(1/k+1/(k-1))
	}
	if mean == 0 {
		return 0
	}
	return max(-maxAhead, min(maxAhead, mean/err))
}

// store keeps the scores of finished fits as JSON lines. Each line names its run, so that several
// runs can share a file. A nil *store keeps nothing.
type store struct {
	run   string
	path  string
	found map[string]verdict.Statistic

	mu     sync.Mutex
	file   *os.File
	broken error // error of the first failed write
}

// entry is a line of the file.
type entry struct {
	Run       string    `json:"run"` // fingerprint of points, links and options
	Candidate string    `json:"candidate"`
	Fold      int       `json:"fold"`
	Score     float64   `json:"score"`
	Rows      []float64 `json:"rows,omitempty"` // the parts of its error, as in a verdict.Statistic
	Links     []float64 `json:"links,omitempty"`
}

// storeError is the error of an unwritable state file, which ends the run.
type storeError struct{ err error }

func (e *storeError) Error() string { return "state file: " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// openStore reads a state file, if it exists, and opens it for writing. A file that is not a state
// file is a *fault.DataError.
func openStore(path string, x points.Points, set *links.Set, o *Options) (*store, error) {
	if path == "" {
		return nil, nil
	}
	s := &store{run: fingerprint(x, set, o), path: path, found: map[string]verdict.Statistic{}}
	whole, err := s.read()
	if err != nil {
		return nil, err
	}
	if s.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return nil, fault.Data(path, "opening the state file: %w", err)
	}
	if err := s.file.Truncate(whole); err != nil { // removes a line that a crash has cut short
		return nil, errors.Join(fault.Data(path, "opening the state file: %w", err), s.file.Close())
	}
	if _, err := s.file.Seek(whole, 0); err != nil {
		return nil, errors.Join(fault.Data(path, "opening the state file: %w", err), s.file.Close())
	}
	return s, nil
}

// read reads the entries of this run and returns the total length of the complete lines.
func (s *store) read() (whole int64, err error) {
	// a pipe would wait for its other end
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() {
		return 0, fault.Data(s.path, "it is a folder, a pipe or a device: want a state file, or a new file")
	}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fault.Data(s.path, "reading the state file: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for number := 1; lines.Scan(); number++ {
		var e entry
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		end := whole + int64(len(lines.Bytes())) + 1
		if err := d.Decode(&e); err != nil || e.Run == "" || end > int64(len(text)) {
			if end > int64(len(text)) && bytes.HasPrefix(lines.Bytes(), []byte(`{"run":`)) {
				return whole, nil // a crash has cut this line short
			}
			return 0, &fault.DataError{File: s.path, Line: number, Row: -1,
				Err: errors.New("not a line of a state file: want one finished fit per line in JSON, or a " +
					"new file")}
		}
		if e.Run == s.run {
			s.found[key(e.Candidate, e.Fold)] = verdict.Statistic{Value: e.Score, Rows: e.Rows,
				Links: e.Links}
		}
		whole = end
	}
	return whole, nil
}

// scoring is the number of the rules by which fits are scored. A new number keeps scores of other
// rules in a state file from being used.
const scoring = 3

// fingerprint identifies everything that a score depends on, apart from candidate and fold.
func fingerprint(x points.Points, set *links.Set, o *Options) string {
	h := sha256.New()
	fmt.Fprintln(h, scoring, dataset.Fingerprint(x), set.N(), o.Criterion, o.Folds, o.Clusters, o.Seed,
		o.Labels)
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		fmt.Fprintln(h, len(list))
		for _, l := range list {
			fmt.Fprintln(h, l)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func key(candidate string, fold int) string { return fmt.Sprintf("%d %s", fold, candidate) }

func (s *store) find(c Candidate, fold int) (verdict.Statistic, bool) {
	if s == nil {
		return verdict.Statistic{}, false
	}
	v, ok := s.found[key(c.String(), fold)]
	return v, ok
}

func (s *store) add(c Candidate, fold int, v verdict.Statistic) error {
	if s == nil {
		return nil
	}
	line, err := json.Marshal(entry{s.run, c.String(), fold, v.Value, v.Rows, v.Links})
	if err != nil {
		return &storeError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A failed write may leave a part of a line: nothing must follow it.
	if s.broken == nil {
		if _, err := s.file.Write(append(line, '\n')); err != nil {
			s.broken = &storeError{err}
		}
	}
	return s.broken
}

func (s *store) close() error {
	if s == nil {
		return nil
	}
	if err := errors.Join(s.file.Sync(), s.file.Close()); err != nil {
		return &storeError{err}
	}
	return nil
}
