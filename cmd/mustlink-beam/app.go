package main

import (
	"fmt"
	"io"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/internal/session"
)

// app is one run of the command: its session and the global flags that mustlink does not have.
type app struct {
	*session.Session
	verbose bool
	runner  string
}

// config returns the configuration that every worker needs, except for the number of rows.
func (a *app) config() job.Config {
	return job.Config{
		Workers: a.Workers, MemoryLimit: int64(a.MemoryLimit),
		Backend: a.Getenv(session.BackendVariable), SIMD: a.Getenv(session.SIMDVariable),
	}
}

// report is the output of a command about its job.
type report struct {
	Command  string      `json:"command"`
	Rows     int64       `json:"rows"`
	Files    int         `json:"files"`
	Elements int         `json:"elements"`
	Output   string      `json:"output,omitempty"`
	BadRows  string      `json:"bad_rows,omitempty"` // the pattern of their files
	Job      *job.Report `json:"job"`
	Results  any         `json:"figures,omitempty"`
}

// print writes a report, as JSON with --json. The function more, nil for none, adds lines of text.
func (a *app) print(r *report, more func(w io.Writer)) error {
	if a.Quiet && !a.JSON && r.Results == nil {
		return nil
	}
	return a.Print(r, func(w io.Writer) {
		if !a.Quiet {
			fmt.Fprintf(w, "%s\t%d rows of %d files in %d elements, on %s in %.1f s\n", r.Command, r.Rows,
				r.Files, r.Elements, r.Job.Runner, r.Job.Seconds)
		}
		if more != nil {
			more(w)
		}
		if n := r.Job.Counters["rows_bad"]; n > 0 {
			fmt.Fprintf(w, "left out\t%d bad rows", n)
			if r.BadRows != "" {
				fmt.Fprintf(w, ", see %s", r.BadRows)
			}
			fmt.Fprintln(w)
		}
		if r.Output != "" && !a.Quiet {
			fmt.Fprintf(w, "output\t%s\n", r.Output)
		}
	})
}
