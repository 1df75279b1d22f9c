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
	"os"
	"sync"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

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
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() { // a pipe would wait for its other end
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
			return 0, &fault.DataError{File: s.path, Line: number, Row: -1, Err: errors.New("not a line of a state file: want one finished fit per line in JSON, or a new file")}
		}
		if e.Run == s.run {
			s.found[key(e.Candidate, e.Fold)] = verdict.Statistic{Value: e.Score, Rows: e.Rows, Links: e.Links}
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
	fmt.Fprintln(h, scoring, dataset.Fingerprint(x), set.N(), o.Criterion, o.Folds, o.Clusters, o.Seed, o.Labels)
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
