package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// faultErrors are the errors that system calls on files get, two of each call.
var faultErrors = []struct{ call, code string }{
	{"openat", "EMFILE"}, {"openat", "EIO"}, {"read", "EIO"}, {"read", "ESTALE"},
	{"pread64", "EIO"}, {"pread64", "ESTALE"}, {"write", "EIO"}, {"write", "ENOSPC"},
	{"pwrite64", "EIO"}, {"pwrite64", "ENOSPC"}, {"ftruncate", "EIO"},
	{"fchmod", "EIO"}, {"fchmod", "EPERM"}, {"fsync", "EIO"}, {"fsync", "ENOSPC"},
	{"renameat", "EIO"}, {"renameat", "EACCES"},
}

// noMessage finds the failure of a write of the message itself, in another thread.
var noMessage = regexp.MustCompile(`write\(2<.*INJECTED`)

// runFaults makes every system call on a file of every command that writes fail once in turn, with
// strace, which counts the calls of each thread. Calls on other files, such as those of Go's
// runtime, are not counted as runs. Afterwards every output is the old file or the new one, whole;
// the new one if the exit code is 0.
func runFaults(c *campaign, p program, t *tally) error {
	if _, err := exec.LookPath("strace"); err != nil {
		return nil // the table has no such row then
	}
	list := victims()
	if c.commands > 0 {
		list = list[:c.commands]
	}
	for _, v := range list { // small tables: the number of runs counts here
		v.line = strings.NewReplacer("long.csv", "data.csv", "wide.csv", "data.csv", "middle.csv", "data.csv",
			"wide.mlk", "krca.mlk", "--pairs 3000", "--pairs 30").Replace(v.line)
	}
	jobs := &campaign{jobs: c.jobs}
	return jobs.each(len(list), func(dir string) error { return preparePlace(c, p, dir) },
		func(dir string, i int) error {
			v := list[i]
			if o, err := v.undisturbed(p, dir); err != nil || o.code != 0 {
				if err == nil && classify(o, 1<<62) == skipped {
					t.add(c.list, skipped, v.line, o)
					return nil
				}
				return fmt.Errorf("%s: code %d, %s, %w", v.line, o.code, o.stderr, err)
			}
			calls, err := v.calls(p, dir)
			if err != nil {
				return err
			}
			for _, f := range faultErrors {
				numbers := slices.Sorted(maps.Keys(calls[f.call]))
				for _, n := range numbers[:min(len(numbers), c.faults)] {
					inject := fmt.Sprintf("%s:error=%s:when=%d", f.call, f.code, n)
					result, o, hit, err := v.fail(p, dir, inject)
					if err != nil {
						return err
					}
					if strings.Contains(hit, dir) && !elsewhere(hit, dir) {
						t.add(c.list, result, fmt.Sprintf("%s of mustlink %s\n\t%s", inject, v.line, hit), o)
					}
				}
			}
			return nil
		})
}

// calls returns which calls of a kind are on files of the folder, by their numbers in their
// threads.
func (v *victim) calls(p program, dir string) (map[string]map[int]bool, error) {
	if err := v.reset(dir); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	found, counts := map[string]map[int]bool{}, map[[2]string]int{}
	for _, f := range faultErrors {
		found[f.call] = map[int]bool{}
	}
	log := filepath.Join(dir, "strace.txt")
	kinds := strings.Join(slices.Sorted(maps.Keys(found)), ",")
	cmd := exec.CommandContext(ctx, "strace", append([]string{"-f", "--seccomp-bpf", "-y", "-o", log, "-e",
		"trace=" + kinds, p.path}, strings.Fields(v.line)...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(v.stdin)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("strace of mustlink %s: %w", v.line, err)
	}
	text, err := read(log)
	for line := range strings.Lines(text) {
		words := callLine.FindStringSubmatch(line)
		if words == nil {
			continue
		}
		counts[[2]string{words[1], words[2]}]++
		if strings.Contains(line, dir) && !elsewhere(line, dir) && found[words[2]] != nil {
			found[words[2]][counts[[2]string{words[1], words[2]}]] = true
		}
	}
	return found, err
}

// callLine finds the thread and the name of a call that begins.
var callLine = regexp.MustCompile(`^(\d+) +(\w+)\(`)

// elsewhere reports whether a call opens a file by an absolute path outside of dir, as the loader
// and Go's runtime do.
func elsewhere(call, dir string) bool {
	_, path, _ := strings.Cut(call, ", \"")
	return strings.Contains(call, "openat(") && strings.HasPrefix(path, "/") && !strings.HasPrefix(path, dir)
}

// fail runs the command with a fault, and returns the first call that failed, "" for none.
func (v *victim) fail(p program, dir, inject string) (result class, o ended, hit string, err error) {
	if err = v.reset(dir); err != nil {
		return wrong, o, "", err
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	log := filepath.Join(dir, "strace.txt")
	call, _, _ := strings.Cut(inject, ":")
	args := []string{"-f", "--seccomp-bpf", "-y", "-o", log, "-e", "trace=" + call, "-e",
		"inject=" + inject, p.path}
	cmd := exec.CommandContext(ctx, "strace", append(args, strings.Fields(v.line)...)...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(v.stdin), &stderr
	_ = cmd.Run() // its state says how it ended
	o = ended{code: cmd.ProcessState.ExitCode(), late: ctx.Err() != nil, stderr: stderr.String()}
	text, err := read(log)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "(INJECTED)") && (hit == "" || strings.Contains(line, dir)) {
			hit = strings.ReplaceAll(strings.TrimSpace(line), "AT_FDCWD<"+dir+">", dir)
		}
	}
	if err != nil || hit == "" {
		return wrong, o, hit, err
	}
	switch {
	case o.late:
		return hang, o, hit, nil
	case o.code < 0 || traced(o.stderr):
		return trace, o, hit, nil
	case o.code > 2 || o.code > 0 && !oneLine(o.stderr) && !noMessage.MatchString(text):
		return untyped, o, hit, nil
	}
	finding, err := v.damage(p, dir, syscall.SIGTERM)
	if err == nil && finding == "" && o.code == 0 {
		finding, err = v.notWritten(dir)
	}
	if finding != "" {
		o.stderr += finding
		return wrong, o, hit, err
	}
	return min(class(o.code), refused), o, hit, err
}

// notWritten returns which output is still the old one, "" for none.
func (v *victim) notWritten(dir string) (string, error) {
	for _, name := range v.outputs {
		text, err := os.ReadFile(filepath.Join(dir, "out", name))
		if err != nil || string(text) == old && v.whole[name] != old { // demo keeps files that are there
			return name + " is the old file after exit code 0", err
		}
	}
	return "", nil
}
