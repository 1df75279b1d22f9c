package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// printing are commands whose result goes to standard output: data with -o -, or a report.
var printing = []string{
	"embed krca.mlk -q -i data.csv -o -", "gram krca.mlk -q -i data.csv -o -",
	"distance krca.mlk -q -i data.csv --pairs pairs.csv -o -", "cluster -q -i data.csv -n 2 -o -",
	"classify krca.mlk -q --train data.csv -i data.csv -o -",
	"neighbors krca.mlk -q --train data.csv -i data.csv -o -",
	"pairs krca.mlk -q -i data.csv --threshold 1 -o -", "suggest -q -i data.csv -n 3 -o -",
	"links make -q -i data.csv --pairs 5 -o -", "links close -q -i data.csv -c links.csv -o -",
	"plot krca.mlk -q -i data.csv --format svg -o -", "report krca.mlk -q -i data.csv -c links.csv -o -",
	"export krca.mlk -q --format onnx -o -", "export rca.mlk -q --format sql -o -",
	"fit -q -m krca -i data.csv -c links.csv --no-verdict -o -",
	"update krca.mlk -q -i data.csv -c links.csv -o -",
	"calibrate krca.mlk -q -i data.csv -c links.csv -o -",
	"select -q -i data.csv -c links.csv --methods krca,rca --folds 2 -o -",
	"check -i data.csv", "check -i data.csv --json", "inspect krca.mlk", "inspect krca.mlk --json",
	"inspect krca.mlk -i data.csv -c links.csv", "score --truth data.csv --predicted data.csv",
	"fit -m krca -i data.csv -c links.csv --no-verdict -o out.mlk", "embed krca.mlk -i data.csv -o out.csv",
	"links make -i data.csv --pairs 5 -o out.csv", "info", "info --json", "version", "--version", "", "help",
	"completion bash", "suggest -i data.csv -c asked.csv --interactive -n 2",
	"demo xor --points 60 --links 20 --repetitions 1",
}

var subcommand = regexp.MustCompile(`(?m)^  ([a-z][a-z-]+) {2,}\S`)

// runOutputs gives every command, and every page of help, a full device and a closed standard
// output. The full device is exit code 1 and one line. For a closed output Go opens the null
// device, so that a report is lost as with >/dev/null; data are refused with exit code 1.
func runOutputs(c *campaign, p program, t *tally) error {
	o, err := p.run(".", "", "help")
	if err != nil {
		return err
	}
	lines := printing
	for _, m := range subcommand.FindAllStringSubmatch(o.stdout, -1) {
		lines = append(lines, "help "+m[1], m[1]+" --help")
	}
	if len(lines) < len(printing)+40 {
		return fmt.Errorf("%d commands and topics in the help: want all", len(lines)-len(printing))
	}
	if c.outputs > 0 {
		lines = lines[:min(c.outputs, len(lines))]
	}
	return c.each(len(lines), func(dir string) error { return preparePlace(c, p, dir) },
		func(dir string, i int) error {
			for _, to := range []string{">/dev/full", ">&-"} {
				o := p.into(dir, to, lines[i])
				data := strings.HasSuffix(lines[i], "-o -")
				result := untyped
				switch {
				case o.late:
					result = hang
				case o.code < 0 || traced(o.stderr):
					result = trace
				case o.code == 1 && oneLine(lastLine(o.stderr)):
					result = refused
				case o.code == 0 && to == ">&-" && !data:
					result = done
				}
				t.add(c.list, result, to+" of mustlink "+lines[i], o)
			}
			return nil
		})
}

// into runs the program with a redirection of standard output.
func (p program) into(dir, to, line string) ended {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `exec "$0" "$@" ` + to, p.path},
		strings.Fields(line)...)...)
	var stderr head
	cmd.Dir, cmd.Stderr, cmd.Stdin = dir, &stderr, strings.NewReader("y\nn\n")
	_ = cmd.Run() // its state says how it ended
	return ended{code: cmd.ProcessState.ExitCode(), late: ctx.Err() != nil, stderr: stderr.String()}
}

// lastLine returns the message of an error, which notes of the command may precede.
func lastLine(text string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	return lines[len(lines)-1] + "\n"
}
