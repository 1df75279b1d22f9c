package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

func newBench(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure the time and memory of jobs on this machine",
		Args:  cobra.ArbitraryArgs,
		RunE:  usage.UnknownCommand,
	}
	cmd.AddCommand(newBenchEmbed(a), newBenchKMeans(a), newBenchFit(a), newBenchCosts(a))
	return cmd
}

// benchFlags describe the problem to measure.
type benchFlags struct {
	rows, features, landmarks, rounds int
	seed                              uint64
	dir                               string // first the user's, then a new one inside it
	self, mustlink                    string // paths of the programs
}

// addRows adds the flags for the size of the data.
func (b *benchFlags) addRows(cmd *cobra.Command, rows, features int) {
	cmd.Flags().IntVar(&b.rows, "rows", rows, "number of rows")
	cmd.Flags().IntVar(&b.features, "features", features, "number of features")
}

// addModel adds the flag for the size of the model.
func (b *benchFlags) addModel(cmd *cobra.Command) {
	cmd.Flags().IntVar(&b.landmarks, "landmarks", 500, "landmarks of the kbeta model")
}

// addSeed adds the last flags of every measurement: the seed, whose help text names what it fixes,
// and the folder.
func (b *benchFlags) addSeed(cmd *cobra.Command, fixes string) {
	f := cmd.Flags()
	f.Uint64Var(&b.seed, "seed", 1, "number that fixes "+fixes)
	f.StringVar(&b.dir, "dir", "",
		"the `FOLDER` for rows and results, which are removed at the end (default: the folder for "+
			"temporary files)")
}

// addRounds adds the flags of measurements that are repeated.
func (b *benchFlags) addRounds(cmd *cobra.Command, rows int) {
	b.addRows(cmd, rows, 100)
	b.addModel(cmd)
	cmd.Flags().IntVar(&b.rounds, "rounds", 3, "number of repetitions")
	b.addSeed(cmd, "the rows")
}

// addMustlink adds the flag for the program mustlink, which this program is compared with.
func (b *benchFlags) addMustlink(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.mustlink, "mustlink", "mustlink", "the `PROGRAM` mustlink, of the same build")
}

// measure checks the flags, finds the programs to measure (this one and perhaps mustlink), makes a
// folder for files, and runs the measurement.
func (b *benchFlags) measure(check *session.Checks, run func(ctx context.Context) error) (err error) {
	check.AtLeast("--rows", b.rows, 1)
	check.AtLeast("--features", b.features, 1)
	check.AtLeast("--landmarks", b.landmarks, 2)
	check.AtLeast("--rounds", b.rounds, 1)
	if check.Err != nil {
		return check.Err
	}
	if check.Cmd.Flags().Lookup("mustlink") != nil {
		path, err := exec.LookPath(b.mustlink)
		if err != nil {
			return usage.Errorf("--mustlink is %q: want the program mustlink (%v)", b.mustlink, err)
		}
		b.mustlink = path
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(b.dir, name+"-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	return run(check.Cmd.Context())
}

// at returns the path of a file in the measurement's folder.
func (b *benchFlags) at(file string) string { return filepath.Join(b.dir, file) }

// parts is the number of files for rows that are written to several files.
const parts = 16

// part returns the path of one of several files of rows.
func (b *benchFlags) part(p int) string { return b.at(fmt.Sprintf("part-%02d.npy", p)) }

// write writes rows of normally distributed numbers.
func (b *benchFlags) write(ctx context.Context, path string, rows int) error {
	return b.writeMore(ctx, rand.New(rand.NewPCG(b.seed, 1)), path, rows)
}

// writeMore writes rows of the next normally distributed numbers, a block at a time.
func (b *benchFlags) writeMore(ctx context.Context, rng *rand.Rand, path string, rows int) error {
	const most = 1 << 13
	left := rows
	next := func() (dataset.Rows, error) {
		if left == 0 {
			return dataset.Rows{}, io.EOF
		}
		n := min(most, left)
		left -= n
		return dataset.Rows{Data: normal(rng, n*b.features)}, ctx.Err()
	}
	return dataset.WriteRows(path, rows, b.features, next, dataset.WriteOptions{})
}

func normal(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// fit writes a kbeta model of such rows. The sign of the first feature is the class of a row.
func (b *benchFlags) fit(ctx context.Context, eng *engine.Engine, path string) (*mustlink.Model, error) {
	n := 4 * b.landmarks
	x := &points.Dense{N: n, D: b.features, Data: normal(rand.New(rand.NewPCG(b.seed, 2)), n*b.features)}
	labels := make([]string, n)
	for i := range labels {
		labels[i] = fmt.Sprint(x.Data[i*x.D] > 0)
	}
	set, err := links.SampleByCount(labels, 200, 0, b.seed)
	if err != nil {
		return nil, err
	}
	m, err := mustlink.Fit(ctx, mustlink.FromData(&dataset.Data{Points: x}), set, mustlink.Method("kbeta"),
		mustlink.Param("landmarks", fmt.Sprint(b.landmarks)),
		mustlink.Unprepared(), mustlink.Seed(b.seed), mustlink.Engine(eng))
	if err != nil {
		return nil, err
	}
	return m, m.Save(path)
}

// runProgram runs a program. It returns the output and the peak memory, 0 where the system does not
// report it.
func runProgram(ctx context.Context, program string, args ...string) ([]byte, int64, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s %v: %w\n%s", program, args, err, stderr.Bytes())
	}
	return stdout.Bytes(), peakMemory(cmd.ProcessState), nil
}

// runJSON is [runProgram] for a command that prints its report as JSON.
func runJSON(ctx context.Context, report any, program string, args ...string) (memory int64, err error) {
	out, memory, err := runProgram(ctx, program, append(args, "--json")...)
	if err != nil {
		return 0, err
	}
	return memory, json.Unmarshal(out, report)
}
