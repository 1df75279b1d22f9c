package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	module := flag.String("module", ".", "root of the module")
	bin := flag.String("bin", "", "folder in front of PATH")
	update := flag.Bool("update", false, "replace shown output that differs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, all := false, counts{}
	for _, page := range flag.Args() {
		ok, err := runPage(ctx, os.Stdout, page,
			runner{module: absolute(*module), bin: absolute(*bin), data: os.Getenv("MUSTLINK_DATA"),
				update: *update, counts: all})
		if err != nil {
			fmt.Fprintf(os.Stderr, "docrun: %s: %v\n", page, err)
		}
		failed = failed || !ok || err != nil
	}
	fmt.Println(all)
	if failed {
		stop()
		os.Exit(1)
	}
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

// runPage runs the blocks of a page, prints a summary line and every difference, and reports
// whether there was none.
func runPage(ctx context.Context, out *os.File, page string, r runner) (bool, error) {
	begin := time.Now()
	content, err := os.ReadFile(page)
	if err != nil {
		return false, err
	}
	found, err := blocks(string(content))
	if err != nil {
		return false, err
	}
	r.faults = brokenLinks(page, string(content))
	if r.scratch, err = os.MkdirTemp("", "docrun-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(r.scratch)
	for i := range found {
		if err := r.run(ctx, &found[i]); err != nil {
			return false, fmt.Errorf("line %d: %w", found[i].line, err)
		}
	}
	if len(r.replacements) > 0 {
		if err := os.WriteFile(page, []byte(replace(string(content), r.replacements)), 0o666); err != nil {
			return false, err
		}
	}
	fmt.Fprintf(out, "%-28s %2d run, %d skipped, %d replaced, %d faults, %.1fs\n",
		page, r.ran, r.skipped, len(r.replacements), len(r.faults), time.Since(begin).Seconds())
	for _, f := range r.faults {
		fmt.Fprintf(out, "%s, %s\n", page, f)
	}
	return len(r.faults) == 0, nil
}

// replace replaces shown lines with printed ones.
func replace(page string, list []replacement) string {
	lines := strings.Split(page, "\n")
	for _, p := range slices.Backward(list) {
		lines = slices.Replace(lines, p.first, p.first+p.count, p.lines...)
	}
	return strings.Join(lines, "\n")
}
