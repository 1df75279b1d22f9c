package paper

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// The state file has one line of JSON for each finished trial, in the order of finishing; each line
// is appended by one write. Every line names its run, so one file can have several runs, also of
// other tables and seeds, and a changed definition loses nothing. Only the last line can be cut
// short by a crash; it is removed before the next one is appended.

// record is a line of the state file. Values are exact: JSON numbers have as many digits as the
// float64 needs.
type record struct {
	Run     string  `json:"run"` // fingerprint; the first member, see recordStart
	Trial   int     `json:"trial"`
	Seconds float64 `json:"seconds"`
	Values  Values  `json:"values"`
}

// Values are numbers by row and column. NaN, for a missing value, is null in JSON.
type Values [][]float64

// MarshalJSON writes the rows.
func (r Values) MarshalJSON() ([]byte, error) {
	rows := make([][]*float64, len(r))
	for i, row := range r {
		rows[i] = make([]*float64, len(row))
		for j, v := range row {
			rows[i][j] = unlessNaN(v)
		}
	}
	return json.Marshal(rows)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Values) UnmarshalJSON(text []byte) error {
	var rows [][]*float64
	if err := json.Unmarshal(text, &rows); err != nil {
		return err
	}
	if *r = nil; rows != nil {
		*r = make(Values, len(rows))
	}
	for i, row := range rows {
		(*r)[i] = make([]float64, len(row))
		for j, v := range row {
			(*r)[i][j] = math.NaN()
			if v != nil {
				(*r)[i][j] = *v
			}
		}
	}
	return nil
}

// recordStart begins every line of a state file. A last line that is not whole and does not begin
// with it is not a torn record: the file belongs to another program and must not change.
const recordStart = `{"run":"`

// syncEvery bounds what a power failure can lose; a crash of the process alone loses nothing that
// was written.
const syncEvery = time.Second

// fingerprint identifies what a trial computes: the definition of the table, the seed, and the
// backend and architecture, on which the last bits depend. It does not include the folder of the
// data sets.
func fingerprint(t Table, seed uint64, eng *engine.Engine) (string, error) {
	t.Differences = nil // may be written after the run
	h := sha256.New()
	err := json.NewEncoder(h).Encode(struct {
		Table   Table
		Seed    uint64
		Backend string
		Arch    string
	}{t, seed, eng.Backend().Name(), runtime.GOARCH})
	if err != nil {
		return "", fmt.Errorf("table %q: %w", t.Name, err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// stateFile appends records of one run. A nil *stateFile keeps nothing.
type stateFile struct {
	file   *os.File
	run    string
	synced time.Time
	// broken is the error of the first failed write: part of the line may be in the file, and
	// nothing must follow it.
	broken error
}

// openState opens or creates the state file and returns the records of the run, the first one of
// each trial. For a file that is not a state file, it returns a *fault.DataError and does not
// change the file.
func openState(path, run string) (*stateFile, []record, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fault.Data(path, "reading the state file: %w", err)
	}
	records, whole, err := parseState(text, path, run)
	if err != nil {
		return nil, nil, err
	}
	if whole < len(text) {
		if err := os.Truncate(path, int64(whole)); err != nil {
			return nil, nil, fault.Data(path, "removing the torn last line: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, fault.Data(path, "opening the state file: %w", err)
	}
	return &stateFile{file: f, run: run, synced: time.Now()}, records, nil
}

// parseState returns the records of the run in text, the first one of each trial, and the length of
// the part of text that is whole lines.
func parseState(text []byte, path, run string) (records []record, whole int, err error) {
	seen := make(map[int]bool)
	for line := 1; whole < len(text); line++ {
		content, _, ended := bytes.Cut(text[whole:], []byte("\n"))
		rec, err := parseRecord(content)
		switch {
		case !ended && tornRecord(content):
			return records, whole, nil
		case err != nil || !ended:
			if err == nil {
				err = errors.New("the line does not end")
			}
			return nil, 0, &fault.DataError{File: path, Line: line, Row: -1,
				Err: fmt.Errorf("not a state file of this command: want one finished trial per line in "+
					"JSON, or a new file: %w", err)}
		case rec.Run == run && !seen[rec.Trial]:
			seen[rec.Trial] = true
			records = append(records, rec)
		}
		whole += len(content) + 1
	}
	return records, whole, nil
}

// parseRecord parses a whole line.
func parseRecord(line []byte) (record, error) {
	var rec record
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rec); err != nil {
		return record{}, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return record{}, errors.New("text after the record")
	}
	if rec.Run == "" || rec.Trial < 0 || rec.Values == nil {
		return record{}, errors.New("no run, trial or values in the record")
	}
	return rec, nil
}

// tornRecord reports whether text can be the rest of a record: it begins like one, or is a run of
// zeros, as file systems leave them after a power failure.
func tornRecord(text []byte) bool {
	n := min(len(text), len(recordStart))
	return string(text[:n]) == recordStart[:n] || len(bytes.Trim(text, "\x00")) == 0
}

// append writes the record as one line.
func (s *stateFile) append(rec record) error {
	if s == nil {
		return nil
	}
	if s.broken != nil {
		return s.broken
	}
	rec.Run = s.run
	line, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		s.broken = fmt.Errorf("writing the state file: %w", err)
		return s.broken
	}
	if time.Since(s.synced) >= syncEvery {
		s.synced = time.Now()
		if err := s.file.Sync(); err != nil {
			return fmt.Errorf("writing the state file: %w", err)
		}
	}
	return nil
}

// close makes the file durable and closes it.
func (s *stateFile) close() error {
	if s == nil {
		return nil
	}
	if err := cmp.Or(s.file.Sync(), s.file.Close()); err != nil {
		return fmt.Errorf("closing the state file: %w", err)
	}
	return nil
}
