package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/bench/micro"
	"github.com/mustlink/mustlink/bench/peers"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// speedFlags are the flags that the commands for speed share.
type speedFlags struct {
	cases   []string
	threads []int
	rounds  int
}

func (s *speedFlags) add(f *pflag.FlagSet, cases []string) {
	f.StringSliceVar(&s.cases, "case", nil,
		"`CASES` to measure, of "+strings.Join(cases, ", ")+" (default all)")
	f.IntSliceVar(&s.threads, "threads", []int{1, 2}, "`NUMBERS` of threads to measure with")
	f.IntVar(&s.rounds, "rounds", 7, "`NUMBER` of rounds of each contender")
}

func (s *speedFlags) check() error {
	if s.rounds < 1 {
		return &fault.ParamError{Param: "--rounds", Value: s.rounds, Want: "a number >= 1"}
	}
	for _, n := range s.threads {
		if n < 1 {
			return &fault.ParamError{Param: "--threads", Value: n, Want: "numbers >= 1"}
		}
	}
	return nil
}

// speedReport is the output of the commands for speed.
type speedReport struct {
	Version string   `json:"version"`
	Go      string   `json:"go"`
	Machine string   `json:"machine"`
	Backend []string `json:"backends"`
	Advice  []string `json:"advice,omitempty"` // what would make backends faster
	Peers   string   `json:"peers,omitempty"`
	SIMD    string   `json:"simd"`
	Rounds  int      `json:"rounds"`
	Peak    float64  `json:"peak_gflops,omitempty"` // of one core, measured in this run
	// GB/s by number of threads, measured in this run
	Write        map[int]float64       `json:"write_gbytes,omitempty"`
	Measurements []measure.Measurement `json:"figures"`
	Scores       []peers.Score         `json:"objectives,omitempty"` // of methods that both sides fit
}

func (a *app) speedReport(rounds int) (speedReport, error) {
	level, err := a.SIMD()
	return speedReport{
		Version: catalog.Version(),
		Go:      runtime.Version(),
		Machine: machine(),
		SIMD:    level.String(),
		Rounds:  rounds,
		Write:   map[int]float64{},
	}, err
}

// add adds a backend of ours, once.
func (r *speedReport) add(b blas.Backend) {
	if d := b.Describe(); !slices.Contains(r.Backend, d) {
		r.Backend = append(r.Backend, d)
	}
	if advice := blas.Advice(b); advice != "" && !slices.Contains(r.Advice, advice) {
		r.Advice = append(r.Advice, advice)
	}
}

func newMicro(a *app) *cobra.Command {
	var (
		s       speedFlags
		sizes   []int
		against []string
	)
	cmd := &cobra.Command{
		Use:   "micro",
		Short: "time single operations against another backend",
		Long: `Time single operations (products, solves, factorizations, exponentials) of the native
backend and of other backends of this build, in turn. Print the median time, the rate, its share of
the limit, and how many times faster native is (other time / native time of the same round, median
and extremes). The limit is the peak rate of multiply-adds on registers plus, for kernel matrices, the
time to write them, both measured in the run. For kernel matrices, several workers are compared with
one.

MUSTLINK_SIMD chooses the level of the native kernels. The output says if OpenBLAS runs kernels of an
older processor than this one, and what to set.`,
		Example: `  mustlink-bench micro
  mustlink-bench micro --case gemm --sizes 64,2048 --threads 1
  MUSTLINK_SIMD=avx2 OPENBLAS_CORETYPE=Haswell mustlink-bench micro`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			return a.runMicro(cmd.Context(), s, micro.Options{
				Cases: s.cases, Sizes: sizes, Threads: s.threads, SIMD: a.Getenv(session.SIMDVariable),
				Against: against,
			})
		},
	}
	f := cmd.Flags()
	s.add(f, micro.Cases())
	f.IntSliceVar(&sizes, "sizes", nil, "orders of the matrices (default each operation's own)")
	f.StringSliceVar(&against, "against", nil,
		"`BACKENDS` to compare with, of gonum, native and, in the netlib build, netlib (default the "+
			"fastest other backend)")
	usage.CompleteWith(cmd, "case", micro.Cases()...)
	usage.CompleteWith(cmd, "against", backends.Names()...)
	return cmd
}

func (a *app) runMicro(ctx context.Context, s speedFlags, o micro.Options) error {
	works, err := micro.Works(o)
	if err != nil {
		return rivalError(usage.RenameParams(err, "size", "--sizes"))
	}
	r, err := a.speedReport(s.rounds)
	if err != nil {
		return err
	}
	for _, name := range append([]string{"native"}, o.Rivals()...) {
		b, err := backends.Open(backends.Options{Name: name, SIMD: o.SIMD})
		if err != nil {
			return rivalError(err)
		}
		r.add(b)
	}
	bar := a.Progress()
	defer bar.Done()
	r.Measurements, err = measure.Run(ctx, works,
		measure.Options{Rounds: s.rounds, Progress: func(done, total int, w measure.Work) {
			showWork(bar, done, total, w)
		}})
	if err != nil {
		return err
	}
	for _, f := range r.Measurements {
		switch f.Name {
		case micro.Peak:
			r.Peak = f.Entries[0].GFlops
		case micro.Write:
			r.Write[f.Threads] = f.Bytes / f.Entries[0].Seconds.Median / 1e9
		}
	}
	bar.Done()
	return a.Print(r, func(w io.Writer) { r.text(w) })
}

// rivalError names the flag of a backend that this build lacks.
func rivalError(err error) error {
	if e, ok := errors.AsType[*backends.OptionError](err); ok && e.Option == "backend" {
		named := *e
		named.Option = "--against"
		return &named
	}
	return session.EnvironmentError(err)
}

// showWork shows the next measurement on the progress bar.
func showWork(bar *session.Progress, done, total int, w measure.Work) {
	bar.Step(done, total, fmt.Sprintf("%s %s, %s", w.Name, w.Size, fault.Count(w.Threads, "thread")))
}

func newPeers(a *app) *cobra.Command {
	var (
		s      speedFlags
		python string
		sets   []string
	)
	cmd := &cobra.Command{
		Use:   "peers",
		Short: "time the same work here and in NumPy, SciPy, scikit-learn and metric-learn",
		Long: `Time the same work in this program and in NumPy, SciPy and scikit-learn, in turn, in one
run. Both sides first compute each case once, and the sums over their results must agree.

The cases rca, mmc, mmc-diagonal, lmnn and nca run only if --case names them. They compare our fits
to the sets of MUSTLINK_DATA with fits of metric-learn with its defaults; mpck compares with
MPCK-means of active-semi-supervised-clustering. The interpreter must find both packages, for
instance by PYTHONPATH. The output has the objectives of both results, computed by one function.

Python with the three packages must be installed; on Debian: apt-get install
python3-sklearn libopenblas0-pthread. The output names the BLAS library that NumPy has loaded, and
its core: without libopenblas0-pthread it is the slow reference BLAS. NumPy's OpenBLAS has the best
core for this processor, unless OPENBLAS_CORETYPE chooses one.`,
		Example: `  mustlink-bench peers
  mustlink-bench peers --case rbf --threads 2 --json
  MUSTLINK_DATA=DIR PYTHONPATH=metric-learn mustlink-bench peers --case rca,mmc --rounds 3`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			return a.runPeers(cmd.Context(), s, python, sets)
		},
	}
	f := cmd.Flags()
	s.add(f, slices.Concat(peers.Names(), peers.ContestNames()))
	f.StringSliceVar(&sets, "sets", nil,
		"data `SETS` of rca to mpck, of "+strings.Join(peers.Sets(), ", ")+" (default all)")
	usage.CompleteWith(cmd, "sets", peers.Sets()...)
	f.StringVar(&python, "python", "python3", "`PROGRAM` that is the Python interpreter")
	usage.CompleteWith(cmd, "case", slices.Concat(peers.Names(), peers.ContestNames())...)
	return cmd
}

func (a *app) runPeers(ctx context.Context, s speedFlags, python string, sets []string) error {
	cases, contests, err := peers.Select(s.cases, a.Getenv(dataVariable))
	if err != nil {
		return err
	}
	if contests, err = peers.On(contests, sets); err != nil {
		return usage.RenameParams(err, "set", "--sets")
	}
	r, err := a.speedReport(s.rounds)
	if err != nil {
		return err
	}
	bar := a.Progress()
	defer bar.Done()
	for _, threads := range s.threads {
		if err := a.comparePeers(ctx, &r, bar, cases, contests, python, threads); err != nil {
			return err
		}
	}
	bar.Done()
	return a.Print(r, func(w io.Writer) { r.text(w) })
}

// comparePeers measures all cases with a given number of threads.
func (a *app) comparePeers(ctx context.Context, r *speedReport, bar *session.Progress, cases []peers.Case,
	contests []peers.Contest, python string, threads int) (err error) {
	subject, err := a.speedSubject(threads)
	if err != nil {
		return err
	}
	p, err := peers.Start(ctx, python, threads)
	if err != nil {
		return usage.RenameParams(err, "python", "--python")
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r.Peers = p.About()
	r.add(subject.Engine.Backend())
	for i, c := range cases {
		showWork(bar, i, len(cases), measure.Work{Name: c.Name, Size: c.Size(), Threads: threads})
		f, err := c.Run(ctx, subject, p, threads, measure.Options{Rounds: r.Rounds})
		if err != nil {
			return err
		}
		r.Measurements = append(r.Measurements, f)
	}
	for i, c := range contests {
		showWork(bar, i, len(contests), measure.Work{Name: c.Name, Size: c.Set, Threads: threads})
		f, score, err := c.Run(ctx, subject, p, threads, r.Rounds)
		if err != nil {
			return err
		}
		r.Measurements, r.Scores = append(r.Measurements, f), append(r.Scores, score)
	}
	return nil
}

// speedSubject returns our side with a given number of threads, on the backend of the environment.
func (a *app) speedSubject(threads int) (peers.Subject, error) {
	eng, err := a.EngineOf(threads, threads)
	if err != nil {
		return peers.Subject{}, err
	}
	level, err := a.SIMD()
	if err != nil {
		return peers.Subject{}, err
	}
	table, err := asm.Select(level)
	if err != nil {
		return peers.Subject{}, session.EnvironmentError(err)
	}
	return peers.Subject{Engine: eng, Table: table, Data: a.Getenv(dataVariable)}, nil
}

func (r speedReport) text(w io.Writer) {
	fmt.Fprintf(w, "version\t%s, %s, %s\n", r.Version, r.Go, r.Machine)
	for _, b := range r.Backend {
		fmt.Fprintf(w, "backend\t%s\n", b)
	}
	for _, advice := range r.Advice {
		fmt.Fprintf(w, "advice\t%s\n", advice)
	}
	if r.Peers != "" {
		fmt.Fprintf(w, "peers\t%s\n", r.Peers)
	}
	fmt.Fprintf(w, "SIMD\t%s\n", r.SIMD)
	fmt.Fprintf(w, "rounds\t%d (medians; ratio: the other's time / ours, of the same round)\n\n", r.Rounds)
	fmt.Fprintln(w, "work\tsize\tthreads\twho\tseconds\tGF/s\tof limit\tratio\tfrom\tto")
	for _, f := range r.Measurements {
		for _, e := range f.Entries {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.4g\t%s\t%s\t%.2f\t%.2f\t%.2f\n", f.Name, f.Size, f.Threads,
				e.Name,
				e.Seconds.Median, rate(f, e), unlessZero(r.limit(f)/e.Seconds.Median, 2),
				e.Ratio.Median, e.Ratio.Min, e.Ratio.Max)
		}
	}
	r.objectives(w)
}

// objectives prints the objectives of the methods that both sides fit.
func (r speedReport) objectives(w io.Writer) {
	if len(r.Scores) == 0 {
		return
	}
	fmt.Fprintln(w, "\nobjective\tset\tmustlink\tpeer\tbetter is\ts to the peer's\tratio")
	for _, s := range r.Scores {
		better := "lower"
		if s.Higher {
			better = "higher"
		}
		fmt.Fprintf(w, "%s\t%s\t%.8g\t%.8g\t%s\t%s\t%s\n", s.Name, s.Set, s.Ours, s.Theirs, better,
			unlessZero(s.Reached, 4), unlessZero(s.Ratio, 4))
	}
}

// limit returns the time of the work at the peak rate of multiply-adds plus, for work that writes
// to memory, the time at the peak rate of writing, both as measured in this run. It is 0 if a rate
// is not known.
func (r speedReport) limit(f measure.Measurement) float64 {
	seconds := f.Flops / (1e9 * r.Peak * float64(f.Threads))
	if f.Bytes > 0 {
		seconds += f.Bytes / (1e9 * r.Write[f.Threads])
	}
	if !(seconds < 1e300) {
		return 0
	}
	return seconds
}

// rate returns GF/s, or GB/s for work without flops.
func rate(f measure.Measurement, e measure.Entry) string {
	if f.Flops == 0 && f.Bytes > 0 {
		return unlessZero(f.Bytes/e.Seconds.Median/1e9, 1) + " GB/s"
	}
	return unlessZero(e.GFlops, 1)
}

// unlessZero returns v with the given number of decimals, or "-" for a missing value.
func unlessZero(v float64, decimals int) string {
	if !(v > 0) || v > 1e300 {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
