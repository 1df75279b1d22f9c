package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
)

// TestCampaign runs a small campaign on the command of this source.
func TestCampaign(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no shell, and no signals between processes")
	}
	p, err := clitest.Build("mustlink", "../../cmd/mustlink", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var out, list bytes.Buffer
	args := []string{"-quick", "-patience", "5m", "-bin", "default=" + p.Path}
	if err := run(args, &out, &list); err != nil {
		t.Errorf("%v\n%s", err, list.String())
	}
	t.Log("\n" + out.String())
	want := []string{"files", "parameters", "kills", "storm", "outputs", "memory", "relations"}
	if _, err := exec.LookPath("strace"); err == nil {
		want = slices.Insert(want, 3, "faults")
	}
	lines := clitest.Lines(out.String())
	if len(lines) != 2+len(want) {
		t.Fatalf("got %q: want a line for each of %q", lines, want)
	}
	for k, part := range want {
		if !strings.HasPrefix(lines[2+k], "| "+part+" | default | ") {
			t.Errorf("got %q: want the part %s", lines[2+k], part)
		}
	}
}

// TestClassify: every class has its signs.
func TestClassify(t *testing.T) {
	const idle = 20 << 20
	for _, c := range []struct {
		o    ended
		want class
	}{
		{ended{stderr: "mustlink: warning: odd\n"}, done},
		{ended{code: 2, stderr: "mustlink: warning: odd\nmustlink: x.csv: want y\n"}, refused},
		{ended{code: 2, stderr: "\n  f0  1\nDo 1 and 0 belong together? [y/n/s/q] \nmustlink: x.csv: want y\n"}, refused},
		{ended{code: 2, stderr: "mustlink: unknown command \"pairs\"\n"}, skipped},
		{ended{code: 1, stderr: "mustlink: short buffer\n"}, untyped},
		{ended{code: 2, stderr: ""}, untyped},
		{ended{code: 2, stderr: "mustlink: x.csv: want y\nmustlink: more\n"}, untyped},
		{ended{code: 2, stderr: "mustlink: x.csv: want y\nmore\n"}, untyped},
		{ended{code: 2, stderr: "mustlink: the letter \x1b[31m\n"}, untyped},
		{ended{code: 2, stderr: "mustlink: the letter \xff\n"}, untyped},
		{ended{code: 2, stderr: "panic: index out of range\n\ngoroutine 1 [running]:\n"}, trace},
		{ended{code: -1}, trace},
		{ended{code: -1, late: true}, hang},
		{ended{peak: idle + 2*memoryLimit + 1}, peak},
		{ended{peak: idle + 2*memoryLimit}, done},
	} {
		if got := classify(c.o, idle); got != c.want {
			t.Errorf("%+v is %s: want %s", c.o, names[got], names[c.want])
		}
	}
}

// TestClassifyCall: the class of a call follows from its code and message.
func TestClassifyCall(t *testing.T) {
	for _, c := range []struct {
		o    ended
		want class
	}{
		{ended{stdout: "0 \n"}, done}, {ended{stdout: "2 points is NULL\n"}, refused},
		{ended{stdout: "2 \n"}, untyped}, {ended{stdout: "10 index out of range\n"}, untyped},
		{ended{stdout: ""}, untyped}, {ended{code: -1}, trace},
		{ended{stdout: "0 \n", stderr: "fatal error: x\n"}, trace}, {ended{late: true}, hang},
	} {
		if got := classifyCall(c.o); got != c.want {
			t.Errorf("%+v is %s: want %s", c.o, names[got], names[c.want])
		}
	}
}

// TestAfterKill: a signal ends a program with its code and one line, or before it could listen.
func TestAfterKill(t *testing.T) {
	for _, c := range []struct {
		o      ended
		signal syscall.Signal
		want   class
	}{
		{ended{}, syscall.SIGTERM, done}, {ended{code: -1}, syscall.SIGKILL, refused},
		{ended{code: -1}, syscall.SIGTERM, refused},
		{ended{code: 143, stderr: "mustlink: interrupted\n"}, syscall.SIGTERM, refused},
		{ended{code: 143}, syscall.SIGTERM, untyped},
		{ended{code: 1, stderr: "mustlink: context canceled\n"}, syscall.SIGTERM, untyped},
		{ended{code: 2, stderr: "goroutine 1 [running]:\n"}, syscall.SIGTERM, trace},
		{ended{code: -1, late: true}, syscall.SIGTERM, hang},
	} {
		if got := c.o.afterKill(c.signal); got != c.want {
			t.Errorf("%+v after %v is %s: want %s", c.o, c.signal, names[got], names[c.want])
		}
	}
}

// TestDamage: a kill must leave the old outputs or the new ones, without other files.
func TestDamage(t *testing.T) {
	v := &victim{line: "embed", outputs: []string{"e.csv"}, whole: map[string]string{"e.csv": "0\n1\n"}}
	for _, c := range []struct {
		content, left string
		signal        syscall.Signal
		good          bool
	}{
		{old, "", syscall.SIGTERM, true}, {"0\n1\n", "", syscall.SIGTERM, true},
		{"0\n", "", syscall.SIGTERM, false}, {"", "", syscall.SIGKILL, false},
		{old, ".e.csv.tmp-mustlink-1", syscall.SIGTERM, false},
	} {
		dir := t.TempDir()
		if err := v.reset(dir); err != nil {
			t.Fatal(err)
		}
		clitest.Write(t, filepath.Join(dir, "out"), "e.csv", c.content)
		if c.left != "" {
			clitest.Write(t, filepath.Join(dir, "out"), c.left, "")
		}
		if finding, err := v.damage(program{}, dir, c.signal); err != nil || (finding == "") != c.good {
			t.Errorf("%+v: %q, %v", c, finding, err)
		}
	}
}

// TestCheckCoordinates: coordinates must be finite, and tell rows apart.
func TestCheckCoordinates(t *testing.T) {
	for text, good := range map[string]bool{
		"0,1\n1,2\n3,4\n3,5\n": true, "0\n1\nNaN\n2\n": false, "0\n1\n+Inf\n2\n": false,
		"0\n1\n1\n1\n": false, "0\n1e-200\n2e-200\n0\n": false,
		"0,1,2\n1,0,0\n0,1,0\n0,0,1\n": false, "0\n1\n2\n4\n": true,
	} {
		if got := checkCoordinates(text); (got == "") != good {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestHostileCalls: every function of the header is called, with NULL for each of its pointers.
func TestHostileCalls(t *testing.T) {
	header, err := read("../../cmd/libmustlink/mustlink.h")
	if err != nil {
		t.Fatal(err)
	}
	calls, err := hostileCalls(header)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(calls, "\n")
	for _, f := range regexp.MustCompile(`(?m)^\w.*?(mustlink_\w+)\(`).FindAllStringSubmatch(header, -1) {
		if !strings.Contains(all, f[1]+"(") && !strings.HasPrefix(f[0], "typedef") {
			t.Errorf("%s is not called", f[1])
		}
	}
	for _, call := range []string{
		`code = mustlink_embed(engine, model, NULL, &control, &matrix);`,
		`code = mustlink_embed(0, 0, 0, 0, 0);`,
		`code = mustlink_embed(engine, 12345678, &points, &control, &matrix);`,
		`matrix.data = NULL; code = mustlink_embed(engine, model, &points, &control, &matrix);`,
		`links.bound = NULL; code = mustlink_update(engine, model, "{}", &points, &links, &control, &made);`,
		`points.columns = -1; code = mustlink_remarks(model, &points, text, sizeof text, &size);`,
	} {
		if !strings.Contains(all, call) {
			t.Errorf("there is no call %s", call)
		}
	}
	if _, err := hostileCalls("int mustlink_new(const char *unheard);\n"); err == nil {
		t.Error("an argument that the table lacks is no error")
	}
}

// TestMutate: a file depends on the seed and its number alone, and nearly every one differs from
// the sound one.
func TestMutate(t *testing.T) {
	same := 0
	for i, s := range written() {
		for k := range 20 {
			first, again := mutate(rand.New(rand.NewPCG(1, uint64(k))), s),
				mutate(rand.New(rand.NewPCG(1, uint64(k))), s)
			if !bytes.Equal(first, again) {
				t.Errorf("%s, number %d: two files of one seed differ", s.name, i)
			}
			if bytes.Equal(first, s.text) {
				same++
			}
		}
	}
	if same > 30 {
		t.Errorf("%d of 300 files are as they were", same)
	}
}

// TestFakeProgram: a campaign finds a program that panics, one that says nothing, and one that
// writes more than a line.
func TestFakeProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no shell")
	}
	for text, want := range map[string]class{
		"echo 'panic: x' >&2; exit 2": trace, "exit 2": untyped,
		"printf 'mustlink: a\\nmustlink: b\\n' >&2; exit 2": untyped, "kill -SEGV $$": trace,
		"exit 0": done,
	} {
		path := filepath.Join(t.TempDir(), "mustlink")
		if err := os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\n%s\n", text), 0o755); err != nil {
			t.Fatal(err)
		}
		o, err := program{path: path}.run(t.TempDir(), "")
		if got := classify(o, 1<<30); err != nil || got != want {
			t.Errorf("%s: %s, %v: want %s", text, names[got], err, names[want])
		}
	}
}
