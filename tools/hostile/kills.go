package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// victim is a command that is killed while it replaces files in the folder out.
type victim struct {
	line    string
	outputs []string
	log     string // a file from which the next run goes on; "" for none
	stdin   string

	took  time.Duration
	whole map[string]string // outputs of a run without a kill
}

// victims are all commands that write. Their inputs are large enough for some of the time to pass
// while they write.
func victims() []*victim {
	one := func(line, output string) *victim { return &victim{line: line, outputs: []string{output}} }
	list := []*victim{
		one("fit -q -m krca -i wide.csv -c links.csv --no-verdict -o out/m.mlk", "m.mlk"),
		{line: "fit -q -m rca -i data.csv -c links.csv --curve out/c.svg -o out/m.mlk",
			outputs: []string{"m.mlk", "c.svg"}},
		one("update -q wide.mlk -i wide.csv -c links.csv -o out/m.mlk", "m.mlk"),
		one("calibrate -q wide.mlk -i wide.csv -c links.csv -o out/m.mlk", "m.mlk"),
		{line: "select -q -i data.csv -c links.csv --methods rca,krca --folds 2 --state out/s.jsonl " +
			"--report out/r.json -o out/m.mlk", outputs: []string{"m.mlk", "r.json"}, log: "s.jsonl"},
		one("gram -q krca.mlk -i middle.csv -o out/g.csv", "g.csv"),
		one("distance -q krca.mlk -i data.csv --pairs links.csv -o out/d.npy", "d.npy"),
		{line: "cluster -q -i long.csv -n 5 --save-centers out/c.npy -o out/l.csv",
			outputs: []string{"c.npy", "l.csv"}},
		one("classify -q krca.mlk --train data.csv -i long.csv -o out/l.csv", "l.csv"),
		one("neighbors -q krca.mlk --train data.csv -i long.csv -k 5 --approximate recall=.9 -o out/n.csv",
			"n.csv"),
		{line: "neighbors -q krca.mlk --train data.csv -i data.csv -k 5 --approximate recall=.9 " +
			"--index out/near.index -o out/n.csv", outputs: []string{"n.csv"}, log: "near.index"},
		one("export -q krca.mlk -o out/m.onnx", "m.onnx"),
		one("export -q rca.mlk -o out/m.json", "m.json"), one("export -q rca.mlk -o out/m.sql", "m.sql"),
		one("pairs -q krca.mlk -i middle.csv --threshold 1 -o out/p.csv", "p.csv"),
		one("suggest -q krca.mlk -i data.csv -n 20 -o out/p.csv", "p.csv"),
		{line: "suggest -q -i data.csv -c out/a.csv --interactive -n 8", log: "a.csv",
			stdin: strings.Repeat("y\nn\n", 4)},
		one("links make -q -i long.csv --pairs 3000 -o out/l.csv", "l.csv"),
		one("links close -q -i data.csv -c links.csv -o out/l.csv", "l.csv"),
		one("report -q krca.mlk -i data.csv -c links.csv -o out/r.html", "r.html"),
		{line: "demo -q xor --points 100 --links 50 --repetitions 1 -o out",
			outputs: []string{"xor.csv", "xor-links.csv"}},
	}
	for _, end := range []string{"csv", "npy", "csv.gz", "parquet", "arrow"} {
		list = append(list, one("embed -q krca.mlk -i long.csv -o out/e."+end, "e."+end))
	}
	for _, end := range []string{"svg", "png", "pdf"} {
		list = append(list, one("plot -q krca.mlk -i data.csv -o out/p."+end, "p."+end))
	}
	return list
}

// old is the content of an output before the kill; that of a log are sound links.
const old = "i,j,link\n0,2,must\n"

// runKills kills commands at random moments, half of them with SIGTERM. Afterwards every output is
// the old file or the new one, whole. SIGTERM leaves no other file; what SIGKILL leaves the next
// run removes.
func runKills(c *campaign, p program, t *tally) error {
	list := victims()
	jobs := &campaign{jobs: c.jobs}
	prepare := func(dir string) error { return preparePlace(c, p, dir) }
	return jobs.each(len(list), prepare, func(dir string, i int) error {
		v := list[i]
		rng := rand.New(rand.NewPCG(c.seed, uint64(i)))
		if o, err := v.undisturbed(p, dir); err != nil || o.code != 0 {
			if err == nil && classify(o, 1<<62) == skipped {
				t.add(c.list, skipped, v.line, o)
				return nil
			}
			return fmt.Errorf("%s: code %d, %s, %w", v.line, o.code, o.stderr, err)
		}
		for k := range (c.kills + i) / len(list) {
			signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[k%2]
			after := time.Duration(rng.Float64() * 1.1 * float64(v.took))
			result, o, err := v.kill(p, dir, signal, after)
			if err != nil {
				return err
			}
			t.add(c.list, result, fmt.Sprintf("%v after %v of mustlink %s", signal, after, v.line), o)
		}
		return nil
	})
}

// preparePlace writes the inputs of all victims into a folder.
func preparePlace(c *campaign, p program, dir string) error {
	err := wellFormed(dir)
	for name, size := range map[string][2]int{"wide.csv": {300, 200}, "middle.csv": {300, 3},
		"long.csv": {20000, 3}} {
		if err == nil {
			err = write(dir, name, table(size[0], size[1], c.seed))
		}
	}
	for _, line := range []string{"fit -q -m krca -i data.csv -c links.csv --no-verdict -o krca.mlk",
		"fit -q -m rca -i data.csv -c links.csv --no-verdict -o rca.mlk",
		"fit -q -m krca -i wide.csv -c links.csv --no-verdict -o wide.mlk"} {
		if err == nil {
			_, err = p.run(dir, "", strings.Fields(line)...)
		}
	}
	return err
}

// undisturbed runs the command to its end, and keeps what it writes.
func (v *victim) undisturbed(p program, dir string) (ended, error) {
	if err := v.reset(dir); err != nil {
		return ended{}, err
	}
	begin := time.Now()
	o, err := p.run(dir, v.stdin, strings.Fields(v.line)...)
	v.took, v.whole = time.Since(begin), map[string]string{}
	for _, name := range v.outputs {
		if err == nil && o.code == 0 {
			v.whole[name], err = read(filepath.Join(dir, "out", name))
		}
	}
	return o, err
}

// reset writes the old outputs into an empty folder. The log of a selection begins without a file.
func (v *victim) reset(dir string) error {
	out := filepath.Join(dir, "out")
	err := errors.Join(os.RemoveAll(out), os.Mkdir(out, 0o755))
	for _, name := range v.outputs {
		err = errors.Join(err, write(out, name, old))
	}
	if strings.HasSuffix(v.log, ".csv") {
		err = errors.Join(err, write(out, v.log, old))
	}
	return err
}

// kill runs the command and sends the signal after some time.
func (v *victim) kill(p program, dir string, signal syscall.Signal,
	after time.Duration) (class, ended, error) {
	if err := v.reset(dir); err != nil {
		return wrong, ended{}, err
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, p.path, strings.Fields(v.line)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(v.stdin), &stderr
	if err := cmd.Start(); err != nil {
		return wrong, ended{}, err
	}
	time.Sleep(after)
	_ = cmd.Process.Signal(signal) // it may have ended
	_ = cmd.Wait()                 // its state says how it ended
	o := ended{code: cmd.ProcessState.ExitCode(), late: ctx.Err() != nil, stderr: stderr.String()}
	result := o.afterKill(signal)
	if result >= untyped {
		return result, o, nil
	}
	finding, err := v.damage(p, dir, signal)
	if err == nil && finding != "" {
		result, o.stderr = wrong, finding
	}
	return result, o, err
}

// afterKill returns the class of a run that got a signal: done if it had ended before, refused if
// the signal ended it as it should.
func (o ended) afterKill(signal syscall.Signal) class {
	const exitSignal = 128
	switch {
	case o.late:
		return hang
	case traced(o.stderr):
		return trace
	case o.code == 0:
		return done
	// SIGTERM may come before the program listens
	case o.code < 0 && (signal == syscall.SIGKILL || o.stderr == ""):
		return refused
	case o.code > exitSignal && oneLine(o.stderr):
		return refused
	}
	return untyped
}

// damage returns what is wrong with the outputs after a kill, "" if nothing is.
func (v *victim) damage(p program, dir string, signal syscall.Signal) (string, error) {
	left, err := v.left(dir)
	if err != nil {
		return "", err
	}
	if signal != syscall.SIGKILL && len(left) > 0 {
		return fmt.Sprintf("it left %q", left), nil
	}
	for _, name := range v.outputs {
		text, err := read(filepath.Join(dir, "out", name))
		switch {
		case err != nil:
			return err.Error(), nil
		// it has times
		case text == old || text == v.whole[name] || strings.HasSuffix(name, ".json") &&
			json.Valid([]byte(text)):
			continue
		case !strings.HasSuffix(name, ".mlk"): // the time of the fit is in a model
			return name + " is neither the old file nor the new one", nil
		}
		if o, err := p.run(dir, "", "inspect", "-q", filepath.Join("out", name)); err != nil || o.code != 0 {
			return name + " is damaged: " + o.stderr, err
		}
	}
	if len(left) == 0 && v.log == "" {
		return "", nil
	}
	if o, err := p.run(dir, v.stdin, strings.Fields(v.line)...); err != nil || o.code != 0 {
		return "the next run fails: " + o.stderr, err
	}
	if left, err = v.left(dir); len(left) > 0 {
		return fmt.Sprintf("the next run leaves %q", left), err
	}
	return "", err
}

// left returns the files in out that are not outputs. demo has more outputs than those that are
// compared.
func (v *victim) left(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "out"))
	var names []string
	for _, e := range entries {
		known := slices.Contains(v.outputs, e.Name()) || e.Name() == v.log
		if !known && (strings.HasPrefix(e.Name(), ".") || !strings.HasPrefix(v.line, "demo")) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
