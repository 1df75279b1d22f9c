package filestest

import (
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestWarnings: input that is odd but not an error causes a warning on standard error and exit code
// 0, with --strict exit code 2.
func TestWarnings(t *testing.T) {
	constant := func(dir string) {
		var s strings.Builder
		for i, l := range clitest.Lines(clitest.Blobs(20, 2, false)) {
			first := "5,"
			if i == 0 {
				first = "flat,"
			}
			s.WriteString(first + l + "\n")
		}
		clitest.Write(t, dir, "data.csv", s.String())
	}
	for _, c := range []struct {
		name, links string
		prepare     func(dir string)
		flags       string
		words       []string
	}{
		{"constant column", "i,j,link\n0,2,must\n", constant, " --standardize",
			[]string{`column "flat"`, "constant", "left out"}},
		{"chunklet of size 1", "i,chunklet\n0,a\n2,a\n5,b\n", nil, "", []string{"chunklet", "row 5"}},
		{"contradiction", "i,j,link\n0,2,must\n2,4,must\n4,6,must\n0,6,cannot\n", nil, "",
			[]string{"0-2 (line 2), 2-4 (line 3), 4-6 (line 4)"}},
		{"cannot-links unused", "i,j,link\n0,2,must\n0,1,cannot\n", nil, "",
			[]string{"krca uses must-links only", "1 cannot-link"}},
		{"duplicate", "i,j,link\n0,2,must\n2,0,must\n", nil, "", []string{"links.csv", "repeats"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := commandtest.Workspace(t)
			if c.prepare != nil {
				c.prepare(dir)
			}
			clitest.Write(t, dir, "links.csv", c.links)
			before := clitest.Names(t, dir)
			strict := commandtest.Run(t, dir, commandtest.Fit+c.flags+" --strict")
			if strict.Code != usage.ExitInput || !slices.Equal(before, clitest.Names(t, dir)) {
				t.Errorf("--strict: exit code %d and files %v: want %d and no file", strict.Code,
					clitest.Names(t, dir), usage.ExitInput)
			}
			o := commandtest.RunOK(t, dir, commandtest.Fit+c.flags+" --json")
			for _, w := range append(c.words, "mustlink: warning: ") {
				if !strings.Contains(o.Stderr, w) {
					t.Errorf("no %q in %q", w, o.Stderr)
				}
			}
			if list := clitest.Parse(t,
				o.Stdout)["warnings"].([]any); len(list) != len(clitest.Lines(o.Stderr)) {
				t.Errorf("%d warnings in the JSON, on standard error: %q", len(list), o.Stderr)
			}
			// The fitted models can be used.
			commandtest.RunOK(t, dir, "embed out.mlk -i data.csv -o embedded.csv")
		})
	}
}

// TestCheck: every problem is listed, and the exit code is 2 if there is one.
func TestCheck(t *testing.T) {
	dir := commandtest.Workspace(t)
	o := commandtest.RunOK(t, dir, "check -i data.csv -c links.csv")
	if !strings.Contains(o.Stdout, "20 x 3") || !strings.Contains(o.Stdout, "no problems") {
		t.Errorf("check of sound files prints %q", o.Stdout)
	}
	clitest.Write(t, dir, "against.csv", "i,j,link\n0,1,must\n1,2,must\n0,2,cannot\n")
	o = commandtest.RunOK(t, dir, "check -i data.csv -c against.csv")
	if !strings.Contains(o.Stderr, "cannot-link 0-2 (line 4) contradicts") ||
		!strings.HasSuffix(o.Stdout, "\nno errors, 1 warning\n") {
		t.Errorf("check of links that contradict each other prints %q, and on standard error %q", o.Stdout,
			o.Stderr)
	}
	clitest.Write(t, dir, "bad.csv", "a,b\n1,2\nx,3\n4\n5,\n6,7\n")
	o = commandtest.Run(t, dir, "check -i bad.csv -c links.csv --prepare none")
	if o.Code != usage.ExitInput {
		t.Errorf("exit code %d: want %d", o.Code, usage.ExitInput)
	}
	for _, w := range []string{"line 3", "line 4", "line 5", `column "a"`, `column "b"`} {
		if !strings.Contains(o.Stdout, w) {
			t.Errorf("no %q in %q", w, o.Stdout)
		}
	}
	if !strings.Contains(o.Stderr, "3 problems") {
		t.Errorf("standard error is %q", o.Stderr)
	}
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,0,must\n0,1,must\n1,0,cannot\n0,50,must\n")
	o = commandtest.Run(t, dir, "check -i data.csv -c links.csv --json")
	v := clitest.Parse(t, o.Stdout)
	if problems := v["problems"].([]any); o.Code != usage.ExitInput || v["ok"] != false ||
		len(problems) != 3 {
		t.Errorf("exit code %d, %v", o.Code, v)
	}
}

// TestEmptyClusters: a warning says how many clusters there can be where no more rows differ.
func TestEmptyClusters(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", "x,y\n"+strings.Repeat("1,2\n3,4\n5,9.5\n", 5))
	for _, how := range []string{"kmeans", "kmeans --stream", "kernel", "kernel -k rbf:sigma=1", "minibatch",
		"minibatch --save-centers c.csv"} {
		o := commandtest.RunOK(t, dir, "cluster -i data.csv --prepare none -n 7 -o out.csv --json -a "+how)
		list := clitest.Parse(t, o.Stdout)["warnings"].([]any)
		if want := "4 of the 7 clusters are empty: want at most 3 clusters if no more rows differ"; len(
			list) != 1 || list[0] != want {
			t.Errorf("-a %s: warnings %q: want %q", how, list, want)
		}
		if o := commandtest.RunOK(t, dir,
			"cluster -i data.csv --prepare none -n 3 -o out.csv -a "+how); o.Stderr != "" {
			t.Errorf("-a %s: 3 clusters of 3 different rows: %q", how, o.Stderr)
		}
	}
	o := commandtest.RunOK(t, dir, "cluster -i data.csv --prepare none --centers c.csv -o out.csv")
	if o.Stderr != "" {
		t.Errorf("given centers: %q", o.Stderr)
	}
}

// TestClose: the closure contains the implied links.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "links.csv", "i,j,link\n0,1,must\n1,2,must\n2,3,cannot\n3,4,must\n")
	commandtest.RunOK(t, dir, "links close -c links.csv -n 6 -o closed.csv")
	got := clitest.Lines(clitest.Read(t, dir, "closed.csv"))
	slices.Sort(got)
	want := strings.Fields(
		"0,1,must 0,2,must 0,3,cannot 0,4,cannot 1,2,must 1,3,cannot 1,4,cannot 2,3,cannot 2,4,cannot " +
			"3,4,must i,j,link")
	if !slices.Equal(got, want) {
		t.Errorf("closure is %v: want %v", got, want)
	}
}

// TestQuiet: with --quiet, commands that write a file print only warnings.
func TestQuiet(t *testing.T) {
	dir := commandtest.Workspace(t)
	o := commandtest.RunOK(t, dir, commandtest.Fit+" --quiet")
	if o.Stdout != "" || !strings.HasPrefix(o.Stderr, "mustlink: warning: krca uses must-links only") ||
		len(clitest.Lines(o.Stderr)) != 1 {
		t.Errorf("standard output %q, standard error %q", o.Stdout, o.Stderr)
	}
}

// commandNames returns the names of the commands below a command that the help lists, but those of
// shells and topics, and the parents of others.
func commandNames(t *testing.T, dir, parent string) (names []string) {
	t.Helper()
	help := commandtest.RunOK(t, dir, parent+"--help").Stdout
	_, list, _ := strings.Cut(help, "Usage:")
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Additional help topics:"), strings.HasPrefix(line, "Flags:"):
			return names
		case len(fields) > 1 && strings.HasPrefix(line, "  "+fields[0]+" ") &&
			!slices.Contains([]string{"mustlink", "completion", "help", "links"}, fields[0]):
			names = append(names, parent+fields[0])
		}
	}
	return names
}

// TestHelp: every command has a long help, an example and documented flags.
func TestHelp(t *testing.T) {
	dir := t.TempDir()
	names := append(commandNames(t, dir, ""), commandNames(t, dir, "links ")...)
	if len(names) < 20 {
		t.Errorf("the help lists only %q", names)
	}
	for _, name := range names {
		o := commandtest.RunOK(t, dir, name+" --help")
		for _, w := range []string{"Usage:\n  mustlink " + name, "Examples:\n  mustlink "} {
			if !strings.Contains(o.Stdout, w) {
				t.Errorf("help of %s does not contain %q", name, w)
			}
		}
	}
	if o := commandtest.RunOK(t, dir, "--version"); !strings.HasPrefix(o.Stdout, "mustlink ") {
		t.Errorf("--version prints %q", o.Stdout)
	}
	if o := commandtest.RunOK(t, dir, ""); !strings.Contains(o.Stdout, "Usage:") {
		t.Errorf("no arguments print %q", o.Stdout)
	}
}

// TestCompletion: shells complete methods, kernels, formats and parameters.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		word string
	}{
		{[]string{"fit", "-m", ""}, "krca"},
		{[]string{"fit", "-k", "rbf"}, "rbf:sigma=median"},
		{[]string{"fit", "-m", "krca", "-p", ""}, "eps_rel="},
		{[]string{"fit", "-m", "npkl", "-p", "loss="}, "loss=shl\tsquared hinge"},
		{[]string{"fit", "-m", "npkl", "-p", "heat="}, "heat=true"},
		{[]string{"fit", "-m", "lmnn", "-p", "rank="}, "rank=eighth"},
		{[]string{"embed", "--format", ""}, "npy"},
		{[]string{"cluster", "-a", ""}, "constrained"},
		{[]string{"demo", ""}, "chessboard"},
		{[]string{"help", "parameters", ""}, "krca\tkernel relevant"},
		{[]string{"help", "plo"}, "plot"},
	} {
		o := clitest.Finish(t, commandtest.Command(dir, append([]string{"__complete"}, c.args...)...))
		if o.Code != usage.ExitOK || !strings.Contains(o.Stdout, c.word) {
			t.Errorf("completions of %q: %q: want %q among them", c.args, o.Stdout, c.word)
		}
	}
	if o := commandtest.RunOK(t, dir, "completion bash"); !strings.Contains(o.Stdout, "__start_mustlink") {
		t.Error("completion bash prints no script")
	}
}
