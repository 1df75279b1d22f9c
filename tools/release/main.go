// Command release builds the files of a release of mustlink from the commit of a repository.
//
//	release -version 1.0.0 [-out dist] [-platforms linux/amd64,linux/arm64] [-key FILE]
//
// The files come to a folder of that version below dist, which appears when it is complete. They
// depend on the commit and the versions of the tools alone: times are those of the commit, archives
// are sorted, and no path or user of the machine is in them. The builds take place in a temporary
// clone with the tag of the version, so that programs know their version. The repository itself
// gets no tag.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	var r release
	var platforms string
	flag.StringVar(&r.version, "version", "", "the version, such as 1.0.0")
	flag.StringVar(&r.out, "out", "dist", "the folder to write the folder of the version to")
	flag.StringVar(&platforms, "platforms", strings.Join(allPlatforms, ","), "what to build the command for")
	flag.StringVar(&r.key, "key", os.Getenv("MINISIGN_KEY"), "a secret key of minisign, for SHA256SUMS.minisig")
	checks := flag.Bool("check", false, "only check that the tags of the version can be made")
	flag.Parse()
	r.platforms = strings.Split(platforms, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r.ctx = ctx
	run := r.run
	if *checks {
		run = r.check
	}
	if err := run(); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var allPlatforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// release is one run. The clone, the work and the files are folders in a temporary one.
type release struct {
	ctx               context.Context
	version, out, key string
	platforms         []string

	clone, work, files string
	commit             string
	when               time.Time
}

// tags are what a release marks: one for each module that others import.
func (r *release) tags() []string {
	return []string{"v" + r.version, "bench/v" + r.version, "cmd/mustlink-beam/v" + r.version}
}

var versionForm = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// check refuses a version that cannot be released from the current folder.
func (r *release) check() error {
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("version %q: want MAJOR.MINOR.PATCH, such as 1.0.0", r.version)
	}
	for _, p := range r.platforms {
		if goos, arch, ok := strings.Cut(p, "/"); !ok || goos == "" || arch == "" {
			return fmt.Errorf("platform %q: want GOOS/GOARCH, such as linux/amd64", p)
		}
	}
	changed, err := r.output(".", nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("%d files are changed or not committed: want a clean tree (git status)",
			len(strings.Split(changed, "\n")))
	}
	for _, tag := range r.tags() {
		found, err := r.output(".", nil, "git", "tag", "--list", tag)
		if err != nil {
			return err
		}
		if found != "" {
			return fmt.Errorf("the tag %s exists: want a version that was not released", tag)
		}
	}
	if r.key != "" {
		if _, err := os.Stat(r.key); err != nil {
			return fmt.Errorf("the key: %w", err)
		}
	}
	return nil
}

func (r *release) run() error {
	if err := r.check(); err != nil {
		return err
	}
	target := filepath.Join(r.out, r.version)
	if _, err := os.Lstat(target); err == nil {
		return fmt.Errorf("%s exists: remove it to build the release again", target)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(r.out, ".release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if temporary, err = filepath.Abs(temporary); err != nil {
		return err
	}
	r.clone, r.work, r.files = filepath.Join(temporary, "clone"), filepath.Join(temporary, "work"),
		filepath.Join(temporary, "files")
	for _, dir := range []string{r.work, r.files} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	for _, step := range []func() error{r.cloneCommit, r.documents, r.commands, r.javascript, r.containers,
		r.linked, r.manifests, r.bills, r.sums, r.sign} {
		if err := step(); err != nil {
			return err
		}
	}
	return os.Rename(r.files, target)
}

// cloneCommit makes the clone with the tag of the version, from which Go takes the version.
func (r *release) cloneCommit() error {
	top, err := r.output(".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if _, err := r.output(".", nil, "git", "clone", "-q", "--no-local", "--no-tags", top,
		r.clone); err != nil {
		return err
	}
	if _, err := r.output(r.clone, nil, "git", "tag", "v"+r.version); err != nil {
		return err
	}
	if r.commit, err = r.output(r.clone, nil, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	seconds, err := r.output(r.clone, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	r.when = time.Unix(n, 0).UTC()
	return err
}

// output runs a program in a folder and returns what it prints, without the last newline. An error
// ends with the last line that the program wrote to standard error.
func (r *release) output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var message strings.Builder
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(message.String()), "\n")
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, lines[len(lines)-1])
	}
	return strings.TrimSpace(string(out)), nil
}

// say prints a line of progress, or what is left out and why.
func say(format string, args ...any) { fmt.Printf("release: "+format+"\n", args...) }
