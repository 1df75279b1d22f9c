package throughput

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/fittimes"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/bench/system"
	"github.com/mustlink/mustlink/engine/dataset"
)

// Flow is the throughput of the embed command.
type Flow struct {
	Name          string         `json:"name"`
	What          string         `json:"what"`
	Rows          int            `json:"rows"`
	Bytes         int64          `json:"bytes"` // read
	RowsPerSecond measure.Spread `json:"rows_per_second"`
	// Peak is the maximum memory of the command in RAM, 0 if it is not known.
	Peak int64 `json:"peak_bytes"`
}

// Command is the report of `mustlink-bench time` about a command.
type Command struct {
	Seconds float64 `json:"seconds"`
	Peak    int64   `json:"peak_bytes"`
}

// embed measures the embed command, from file to file or on a stream.
func (o *Options) embed(ctx context.Context, name, folder string) ([]Flow, error) {
	const what = "kbeta of 500 landmarks, d = 784, .npy to .npy, file to file"
	switch name {
	case streamCase:
		f, err := o.stream(ctx, folder)
		return []Flow{f}, err
	case singleCase:
		return o.files(ctx, name, folder, map[string]string{"landmarks": "500", "extension": "nystrom"},
			[]way{
				{what + ", extension=nystrom", nil},
				{what + ", extension=nystrom, single precision", []string{"--precision", "single"}},
			})
	}
	return o.files(ctx, name, folder, landmarks, []way{{what, nil}})
}

// landmarks are the parameters of kbeta.
var landmarks = map[string]string{"landmarks": "500"}

// way is one way to embed a file, given by its flags.
type way struct {
	what  string
	flags []string
}

// files embeds a file in all ways, in turn.
func (o *Options) files(ctx context.Context, name, folder string, params map[string]string,
	ways []way) ([]Flow, error) {
	const features = 784
	model, points := filepath.Join(folder, "embed.mlk"), filepath.Join(folder, "points.npy")
	defer os.Remove(points)
	if err := o.model(ctx, model, features, params); err != nil {
		return nil, err
	}
	if err := writeNPY(ctx, points, o.Rows, features); err != nil {
		return nil, err
	}
	flows, seconds := make([]Flow, len(ways)), make([][]float64, len(ways))
	for range o.Rounds {
		for k, w := range ways {
			args := append([]string{"embed", model, "-i", points, "-o", filepath.Join(folder, "places.npy")},
				w.flags...)
			c, err := o.timed(ctx, folder, nil, args...)
			if err != nil {
				return nil, err
			}
			seconds[k], flows[k].Peak = append(seconds[k], c.Seconds), max(flows[k].Peak, c.Peak)
		}
	}
	for k, w := range ways {
		f := &flows[k]
		f.Name, f.What, f.Rows, f.Bytes = name, w.what, o.Rows, int64(o.Rows)*features*8
		f.RowsPerSecond = rate(float64(o.Rows), measure.SpreadOf(seconds[k]))
	}
	return flows, nil
}

// model fits kbeta to 2000 points and writes it.
func (o *Options) model(ctx context.Context, path string, features int, params map[string]string) error {
	c := fittimes.Case{Points: 2000, Features: features, Links: 500}
	x, set, err := c.Problem()
	if err != nil {
		return err
	}
	learner, err := system.Learner(kbetaCase, params, 1)
	if err != nil {
		return err
	}
	eng, err := o.Open(o.Threads)
	if err != nil {
		return err
	}
	m, err := learner.Fit(ctx, eng, x, set)
	if err != nil {
		return err
	}
	file, err := catalog.Encode(catalog.NewFitted(eng, m, nil))
	if err != nil {
		return err
	}
	return dataset.Atomic(path, func(w io.Writer) error {
		_, err := file.WriteTo(w)
		return err
	})
}

// writeNPY writes a file of normally distributed numbers.
func writeNPY(ctx context.Context, path string, rows, cols int) error {
	rng := rand.New(rand.NewPCG(2, uint64(cols)))
	values, left := make([]float64, block*cols), rows
	next := func() (dataset.Rows, error) {
		n := min(left, block)
		if n == 0 {
			return dataset.Rows{}, io.EOF
		}
		left -= n
		part := values[:n*cols]
		for i := range part {
			part[i] = rng.NormFloat64()
		}
		return dataset.Rows{Data: part}, ctx.Err()
	}
	return dataset.WriteRows(path, rows, cols, next, dataset.WriteOptions{})
}

// stream sends rows through a pipe, once; the embedding goes to the null device.
func (o *Options) stream(ctx context.Context, folder string) (Flow, error) {
	f := Flow{Name: streamCase, What: "kbeta of 500 landmarks, d = 10, .npy from a pipe, result discarded",
		Rows: o.StreamRows, Bytes: int64(o.StreamRows) * columns * 8}
	model := filepath.Join(folder, "stream.mlk")
	if err := o.model(ctx, model, columns, landmarks); err != nil {
		return f, err
	}
	feed := func(w io.Writer) error { return sendNPY(ctx, w, o.StreamRows) }
	c, err := o.timed(ctx, folder, feed, "embed", model, "-i", "-", "--format", "npy", "-o", "-")
	if err != nil {
		return f, err
	}
	f.RowsPerSecond, f.Peak = rate(float64(o.StreamRows), measure.SpreadOf([]float64{c.Seconds})), c.Peak
	return f, nil
}

// sendNPY writes a .npy file of rows, repeating a block of normally distributed numbers.
func sendNPY(ctx context.Context, w io.Writer, rows int) error {
	const alignment = 64
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns)
	for (10+len(header)+1)%alignment != 0 {
		header += " "
	}
	preamble := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)+1), byte((len(header)+1)>>8))
	if _, err := w.Write(append(append(preamble, header...), '\n')); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(3, 1))
	var part []byte
	for range block * columns {
		part = binary.LittleEndian.AppendUint64(part, math.Float64bits(rng.NormFloat64()))
	}
	for left := rows; left > 0; left -= block {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := w.Write(part[:min(left, block)*columns*8]); err != nil {
			return err
		}
	}
	return nil
}

// timed runs a command of the program and returns its time, from its start to its end, and its
// memory. A small process, the timer, starts it, because the memory of a parent counts as that of
// its child.
func (o *Options) timed(ctx context.Context, folder string, feed func(io.Writer) error,
	command ...string) (c Command, err error) {
	report := filepath.Join(folder, "time.json")
	threads := strconv.Itoa(o.Threads)
	args := append([]string{"time", "-o", report, "--", o.Program}, command...)
	cmd := exec.CommandContext(ctx, o.Timer,
		append(args, "--quiet", "--workers", threads, "--blas-threads", threads)...)
	measure.Interruptible(cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	var in io.WriteCloser
	if feed != nil {
		if in, err = cmd.StdinPipe(); err != nil {
			return c, err
		}
	}
	if err := cmd.Start(); err != nil {
		return c, err
	}
	var fed error
	if feed != nil {
		fed = feed(in)
		_ = in.Close() // the command reports the missing rows
	}
	if err := cmd.Wait(); err != nil {
		return c, fmt.Errorf("%v: %w: %s", cmd.Args[1:], err, bytes.TrimSpace(stderr.Bytes()))
	}
	if fed != nil {
		return c, fmt.Errorf("writing to %v: %w", cmd.Args[1:], fed)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return c, err
	}
	err = json.Unmarshal(text, &c)
	return c, err
}
