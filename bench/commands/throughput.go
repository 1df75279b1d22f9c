package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/bench/fittimes"
	"github.com/mustlink/mustlink/bench/throughput"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// throughputReport is the output of `mustlink-bench throughput`.
type throughputReport struct {
	Setup fittimes.Setup `json:"setup"`
	*throughput.Report
}

// throughputPart is the part of the page about performance that this command fills.
const throughputPart = "bench-throughput"

// throughputFlags are the flags of `mustlink-bench throughput`.
type throughputFlags struct {
	throughput.Options
	csv       session.ByteSize
	program   string
	out, page string
}

// pageFlag defines the flag of a page to fill.
func pageFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "page", "",
		"the page, a `FILE` .md, in which to replace the part about this, with the picture in the folder "+pictures+" next to it")
}

func newThroughput(a *app) *cobra.Command {
	var t throughputFlags
	cmd := &cobra.Command{
		Use:   "throughput",
		Short: "count fits, embedded rows and bytes of CSV per second",
		Long: `Count per second:

  krca    fits of krca without embedding, from links to factor (150 x 4, 50 must-links), by number of
          goroutines; again with Go's default garbage collection (GOGC=100), as in a program that links
          the library; and again with GOGC=100 and the latest 1000 models kept, as in a service that
          keeps the models of its tenants
  kbeta   fits of kbeta (500 x 16), through algorithms/batch, by number of goroutines
  embed   rows of a .npy file through the embed command (kbeta, 500 landmarks, d = 784), with reading and writing
  single  the same with --precision single and, in turn, without it (extension=nystrom)
  csv     parsed bytes of CSV, on one core
  stream  rows of a .npy file through a pipe and the embed command (d = 10), once, with its maximum memory

The files are in a new folder for temporary files (in TMPDIR): 6.3 kB for each of --rows.`,
		Example: `  mustlink-bench throughput
  mustlink-bench throughput --case krca --goroutines 1,2
  mustlink-bench throughput --case stream --stream-rows 100000000`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runThroughput(cmd, &t) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&t.Cases, "case", nil,
		"`CASES` to measure, of "+strings.Join(throughput.Cases(), ", ")+" (default all)")
	f.IntSliceVar(&t.Goroutines, "goroutines", []int{1, 2, 4, 8},
		"increasing `NUMBERS` of goroutines that fit, from 1")
	f.IntVar(&t.Rounds, "rounds", 5, "`NUMBER` of rounds of each measurement")
	f.IntVar(&t.Rows, "rows", 60_000, "`NUMBER` of rows of the embedded file")
	f.IntVar(&t.StreamRows, "stream-rows", 1_000_000, "`NUMBER` of rows of the stream")
	t.csv = 64_000_000
	f.Var(&t.csv, "csv-size", "approximate `SIZE` of the CSV files")
	f.DurationVar(&t.MinTime, "min-time", 0, "minimum `TIME` of the fits of a round (default 1s)")
	f.StringVar(&t.program, "mustlink", "",
		"the `EXECUTABLE` of mustlink that embeds (default the one next to this program or in PATH)")
	f.IntVar(&t.Threads, "threads", 0, "`NUMBER` of threads of embedding; 0: all processors")
	f.StringVarP(&t.out, "output", "o", session.Stream,
		"the `FILE` to write, .md or .json; for fits also .png, .svg or .pdf")
	pageFlag(f, &t.page)
	usage.CompleteWith(cmd, "case", throughput.Cases()...)
	return cmd
}

// check finds mistakes before anything is measured.
func (t *throughputFlags) check(check *session.Checks) error {
	check.AtLeast("--rounds", t.Rounds, 1)
	check.AtLeast("--rows", t.Rows, 1)
	check.AtLeast("--stream-rows", t.StreamRows, 1)
	check.AtLeast("--csv-size", int(t.csv), 1)
	check.AtLeast("--threads", t.Threads, 0)
	check.Refuse(t.MinTime < 0, "--min-time is %v: want a time > 0, such as 1s", t.MinTime)
	check.Ending("-o, --output", t.out, pictureEndings()...)
	checkPage(check, t.page, throughputPart)
	check.Output("-o, --output", t.out)
	return check.Err
}

func (a *app) runThroughput(cmd *cobra.Command, t *throughputFlags) error {
	if err := t.check(a.Check(cmd)); err != nil {
		return err
	}
	var err error
	if t.Timer, err = os.Executable(); err != nil {
		return err
	}
	if t.Program, err = findProgram(t.program, filepath.Dir(t.Timer)); err != nil {
		return err
	}
	t.CSVBytes = int(t.csv)
	var build fittimes.Build
	found, err := working(a, func(eng *engine.Engine, bar *session.Progress) (*throughput.Report, error) {
		build = buildOf(eng)
		t.Drop = a.DropBallast
		t.Open = func(workers int) (*engine.Engine, error) { return a.EngineOf(workers, 1) }
		t.Progress = bar.Step
		return throughput.Run(cmd.Context(), t.Options)
	})
	if err != nil {
		return usage.RenameParams(err, "case", "--case", "goroutines", "--goroutines", "program",
			"--mustlink")
	}
	r := throughputReport{fittimes.Setup{Machine: machine(), Builds: []fittimes.Build{build},
		Threads: found.Threads, Rounds: found.Rounds}, found}
	var panels []view.Panel
	if len(found.Fits) > 0 {
		panels = found.Panels()
	}
	return product{numbers: r, text: r.Setup.Markdown() + found.Markdown(), panels: drawn(panels),
		across: 2}.writeWith(a, t.page, throughputPart, t.out)
}

// findProgram returns the path of the executable of mustlink: the given one, or the one in the
// folder or in PATH. If none is given or found, it returns "".
func findProgram(given, folder string) (string, error) {
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", &fault.ParamError{Param: "--mustlink", Value: given,
				Want: "an executable of mustlink (make build builds it)"}
		}
		return path, nil
	}
	if path, err := exec.LookPath(filepath.Join(folder, "mustlink")); err == nil {
		return path, nil
	}
	path, _ := exec.LookPath("mustlink") // the cases that need it report that it is missing
	return path, nil
}
