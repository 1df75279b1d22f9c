package fittimes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"time"

	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/engine/fault"
)

// Build describes how a program was built.
type Build struct {
	Name    string `json:"name"` // "default", "netlib" or "purego"
	Version string `json:"version"`
	Go      string `json:"go"`
	Backend string `json:"backend"`        // as it describes itself
	Core    string `json:"core,omitempty"` // of OpenBLAS
}

// Process is another build of the program that fits on request. It is not safe for concurrent use.
type Process struct {
	About Build

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
}

// request is a line that a process reads: a case, or no case to ask for its build.
type request struct {
	Case  *Case `json:"case,omitempty"`
	Calls int   `json:"calls,omitempty"`
}

// answer is a line that a process writes.
type answer struct {
	Nanoseconds int64  `json:"nanoseconds,omitempty"`
	About       *Build `json:"about,omitempty"`
	Error       string `json:"error,omitempty"`
}

// Start starts the executable at path as a server that fits with the given number of threads. If it
// cannot be started, or is not such a program, the error is a *fault.ParamError. OpenBLAS has the
// best core for this processor, unless the environment chooses one. The end of ctx ends the
// process.
func Start(ctx context.Context, path string, threads int) (*Process, error) {
	p, err := start(ctx, path, threads, nil)
	if err != nil {
		return nil, err
	}
	if better := measure.BestCore(p.About.Core); better != nil {
		if err := p.Close(); err != nil {
			return nil, err
		}
		return start(ctx, path, threads, better)
	}
	return p, nil
}

func start(ctx context.Context, path string, threads int, env []string) (*Process, error) {
	n := strconv.Itoa(threads)
	p := &Process{cmd: exec.CommandContext(ctx, path, "serve", "--workers", n, "--blas-threads", n)}
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
	wrong := func(err error) error {
		return &fault.ParamError{Param: "builds", Value: path,
			Want: fmt.Sprintf("executables of mustlink-bench of this version (%v)", err)}
	}
	if err := p.cmd.Start(); err != nil {
		return nil, wrong(err)
	}
	p.in, p.out = in, bufio.NewScanner(out)
	a, err := p.ask(request{})
	if err == nil && a.About == nil {
		err = errors.New("the program does not report its build")
	}
	if err != nil {
		_ = p.Close() // what it wrote says more
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, wrong(err)
	}
	p.About = *a.About
	return p, nil
}

// Time implements [Fitter]. The context is that of Start.
func (p *Process) Time(_ context.Context, c Case, calls int) (time.Duration, error) {
	a, err := p.ask(request{&c, calls})
	return time.Duration(a.Nanoseconds), err
}

// ask sends a request and reads its answer.
func (p *Process) ask(r request) (answer, error) {
	var a answer
	line, err := json.Marshal(r)
	if err != nil {
		return a, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return a, p.died(err)
	}
	if !p.out.Scan() {
		return a, p.died(p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), &a); err != nil {
		return a, fmt.Errorf("the answer of %s is %q: %w", p.cmd.Path, p.out.Text(), err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// died returns the error of a process that does not answer: the last line that it wrote.
func (p *Process) died(err error) error {
	_ = p.in.Close()
	_ = p.cmd.Wait() // what it wrote says more than its exit code
	lines := bytes.Split(bytes.TrimSpace(p.stderr.Bytes()), []byte("\n"))
	if last := lines[len(lines)-1]; len(last) > 0 {
		return fmt.Errorf("%s: %s", p.cmd.Path, last)
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: %w", p.cmd.Path, err)
}

// Close ends the process.
func (p *Process) Close() error {
	err := p.in.Close()
	if p.cmd.ProcessState == nil { // not waited for yet
		err = errors.Join(err, p.cmd.Wait())
	}
	return err
}

// Serve answers the requests of a [Process] until there are no more.
func Serve(ctx context.Context, about Build, f Fitter, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var r request
		a := answer{}
		switch err := json.Unmarshal(lines.Bytes(), &r); {
		case err != nil:
			return fault.Data("standard input", "%w: want requests of mustlink-bench methods", err)
		case r.Case == nil:
			a.About = &about
		case r.Calls < 1:
			a.Error = fmt.Sprintf("%d calls: want a number >= 1", r.Calls)
		default:
			d, err := f.Time(ctx, *r.Case, r.Calls)
			if a.Nanoseconds = int64(d); err != nil {
				a.Error = err.Error()
			}
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}
