package peers

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

//go:embed peers.py
var script string

// install names the packages that the script needs.
const install = "Debian: apt-get install python3-sklearn libopenblas0-pthread"

// Process is a Python interpreter that does the work of a [Case] on request. It is not safe
// for concurrent use.
type Process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr strings.Builder
	about  string
	cores  []string // of OpenBLAS
}

// Start starts the interpreter at that path ("python3") with the given number of BLAS threads. If
// it cannot be started, the error is a *fault.ParamError; the message names the packages to
// install, also if NumPy or SciPy is missing. OpenBLAS has the best core for this processor, unless
// the environment chooses one. The end of ctx ends the process.
func Start(ctx context.Context, python string, threads int) (*Process, error) {
	p, err := start(ctx, python, threadVariables(threads))
	if err != nil {
		return nil, err
	}
	if better := measure.BestCore(p.cores...); better != nil {
		if err := p.Close(); err != nil {
			return nil, err
		}
		return start(ctx, python, append(better, threadVariables(threads)...))
	}
	return p, nil
}

func start(ctx context.Context, python string, env []string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, python, "-c", script)}
	p.cmd.Env = append(p.cmd.Environ(), env...)
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, &fault.ParamError{Param: "python", Value: python, Want: "a Python interpreter (" +
			install + "): " + err.Error()}
	}
	p.in, p.out = in, bufio.NewScanner(out)
	var a answer
	if err := p.ask(request{About: true}, &a); err != nil {
		_ = p.Close() // what it wrote says more
		return nil, fmt.Errorf("starting the peers: %w (%s)", err, install)
	}
	p.about, p.cores = a.About, a.Cores
	return p, nil
}

// threadVariables returns the environment variables that set the number of threads of every BLAS
// that NumPy may have been built with.
func threadVariables(threads int) []string {
	var env []string
	for _, name := range []string{"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
		"BLIS_NUM_THREADS"} {
		env = append(env, name+"="+strconv.Itoa(threads))
	}
	return env
}

// About returns the versions of the peers, and the BLAS libraries that they have loaded with their
// cores.
func (p *Process) About() string { return p.about }

type request struct {
	Prepare   string `json:"prepare,omitempty"`
	N         int    `json:"n,omitempty"`
	D         int    `json:"d,omitempty"`
	Calls     int    `json:"calls,omitempty"`
	About     bool   `json:"about,omitempty"`
	Learn     string `json:"learn,omitempty"`
	Folder    string `json:"folder,omitempty"`
	Embedding string `json:"places,omitempty"`
}

type answer struct {
	Check   float64  `json:"check"`
	Seconds float64  `json:"seconds"`
	About   string   `json:"about"`
	Cores   []string `json:"cores"`
	Error   string   `json:"error"`
}

// prepare sets the case for the next calls, and returns the sum over its result.
func (p *Process) prepare(name string, n, d int) (check float64, err error) {
	var a answer
	err = p.ask(request{Prepare: strings.ReplaceAll(name, "-", "_"), N: n, D: d}, &a)
	return a.Check, err
}

// learn sets the method for the next calls, which fit it to the data of a folder.
func (p *Process) learn(name, folder string) error {
	return p.ask(request{Learn: strings.ReplaceAll(name, "-", "_"), Folder: folder}, &answer{})
}

// coordinates returns the coordinates of the points in the metric that was learned last.
func (p *Process) coordinates(folder string) (blas.Matrix, error) {
	path := filepath.Join(folder, "places.npy")
	if err := p.ask(request{Embedding: path}, &answer{}); err != nil {
		return blas.Matrix{}, err
	}
	d, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		return blas.Matrix{}, err
	}
	x, ok := d.Points.(*points.Dense)
	if !ok {
		return blas.Matrix{}, fmt.Errorf("coordinates are %T: want vectors of numbers", d.Points)
	}
	return blas.MatrixOf(x.N, x.D, x.Data), nil
}

// time runs the prepared case.
func (p *Process) time(calls int) (time.Duration, error) {
	var a answer
	err := p.ask(request{Calls: calls}, &a)
	return time.Duration(a.Seconds * float64(time.Second)), err
}

// ask sends one request and reads its answer.
func (p *Process) ask(r request, a *answer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return p.died(err)
	}
	if !p.out.Scan() {
		return p.died(p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), a); err != nil {
		return fmt.Errorf("the peers answered %q: %w", p.out.Text(), err)
	}
	if a.Error != "" {
		return missing(a.Error)
	}
	return nil
}

// missing returns the error of the other side; if a package is missing, it says how to install it.
func missing(text string) error {
	how := install
	switch {
	case !strings.HasPrefix(text, "ModuleNotFoundError"):
		return errors.New(text)
	case strings.Contains(text, "metric_learn"):
		how = "pip install metric-learn, or PYTHONPATH"
	case strings.Contains(text, "active_semi_clustering"):
		how = "pip install active-semi-supervised-clustering, or PYTHONPATH"
	}
	return fmt.Errorf("%s (%s)", text, how)
}

// died returns the error of a process that stopped answering: the last line that it wrote.
func (p *Process) died(err error) error {
	_ = p.cmd.Wait() // what it wrote says more than its exit code
	lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return errors.New(last)
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Close ends the process.
func (p *Process) Close() error {
	err := p.in.Close()
	if p.cmd.ProcessState == nil { // not waited for yet
		err = errors.Join(err, p.cmd.Wait())
	}
	return err
}
