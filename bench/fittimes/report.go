package fittimes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// Setup is what all measurements of a table have in common.
type Setup struct {
	Machine string  `json:"machine"`
	Builds  []Build `json:"builds"`
	Threads int     `json:"threads"`
	Rounds  int     `json:"rounds"`
}

// Report is the result of a run, and the state of a run that has not ended.
type Report struct {
	Setup        Setup         `json:"setup"`
	Growth       []Row         `json:"growth,omitempty"`
	Ratios       []Ratio       `json:"ratios,omitempty"`
	Measurements []Measurement `json:"figures"`
}

// Resume returns the measurements that an earlier run with the same set-up wrote to path, none if
// there is no such file. A file of another set-up or of another program is a *fault.DataError.
func Resume(path string, s Setup) ([]Measurement, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Data(path, "reading the state file: %w", err)
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fault.Data(path, "not a state file of this command: want a state file, or a new file: %w",
			err)
	}
	if !reflect.DeepEqual(r.Setup, s) {
		return nil, fault.Data(path,
			"measured on another machine, by another version or build, or with other --threads or "+
				"--rounds: want a new file")
	}
	return r.Measurements, nil
}

// Save writes the report to path as JSON, either completely or not at all.
func (r Report) Save(path string) error {
	return dataset.Atomic(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	})
}

// Row is the growth of the time of a method.
type Row struct {
	Method  string  `json:"method"`
	Largest Case    `json:"largest"` // of the sweep over points
	Seconds float64 `json:"seconds"` // of its fit
	// Growth is by points, features and links.
	Growth [3]Growth `json:"growth"`
}

// Rows returns the growth of the methods from the measurements of their plan, for the first build.
func Rows(methods []string, s Sizes, measurements []Measurement) ([]Row, error) {
	seconds := map[Case]float64{}
	for _, f := range measurements {
		seconds[f.Case] = f.Entries[0].Seconds.Median
	}
	var rows []Row
	for _, m := range methods {
		own, err := s.of(m)
		if err != nil {
			return nil, err
		}
		row := Row{Method: m}
		for k, sweep := range own.sweeps(m) {
			var sizes, times []float64
			for _, c := range sweep {
				sizes, times = append(sizes, float64(*c.size(k))), append(times, seconds[c])
			}
			if k == 0 {
				row.Largest = sweep[len(sweep)-1]
				row.Seconds = seconds[row.Largest]
			}
			if row.Growth[k], err = Measure(sizes, times); err != nil {
				return nil, fmt.Errorf("%s: %w", m, err)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Markdown returns the set-up as the text above a table.
func (s Setup) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; threads: %d; rounds: %d (medians).\n\n", s.Machine, s.Threads, s.Rounds)
	for _, build := range s.Builds {
		fmt.Fprintf(&b, "- %s: %s, %s, %s\n", build.Name, build.Version, build.Go, build.Backend)
	}
	b.WriteByte('\n')
	return b.String()
}
