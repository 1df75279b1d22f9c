// Apilist writes the promised names of the library with their types, one on each line, so that a
// change of what other programs compile against shows in a diff of api/v1.txt. Its argument is the
// file to write.
package main

import (
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "apilist:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: want one, the file to write", len(args))
	}
	list, err := promised()
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(strings.Join(list, "\n")+"\n"), 0o644)
}

// promised returns the lines of the promised packages, in the default build of Linux on amd64.
func promised() ([]string, error) {
	var packages []string
	for _, rest := range slices.Sorted(maps.Keys(Promised)) {
		packages = append(packages, path.Join(Module, rest))
	}
	listing, err := goList("",
		append([]string{"-export", "-deps", "-f", `{{if .Name}}{{.ImportPath}} {{.Export}}{{end}}`},
			packages...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range strings.Lines(listing) {
		if name, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			exports[name] = file
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		return os.Open(exports[name])
	})
	var lines []string
	for _, name := range packages {
		pkg, err := imports.Import(name)
		if err != nil {
			return nil, err
		}
		lines = append(lines,
			Lines(pkg, Promised[strings.TrimPrefix(strings.TrimPrefix(name, Module), "/")])...)
	}
	return lines, nil
}

// goList returns what go list prints in a folder, for Linux on amd64.
func goList(folder string, args ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	return string(out), nil
}
