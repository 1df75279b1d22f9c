package apilist

import (
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write api/v1.txt")

const listing = "../../api/v1.txt"

// TestAPI: the promised names are those of api/v1.txt. Somebody who changes one on purpose runs make api, and the reader of
// the change sees it. The promise stays small: at most 12 packages and 250 names.
func TestAPI(t *testing.T) {
	list, names := promised(t)
	if len(Promised) > 12 || names > 250 {
		t.Errorf("%d packages and %d names are promised: want at most 12 and 250", len(Promised), names)
	}
	now := strings.Join(list, "\n") + "\n"
	if *update {
		if err := os.WriteFile(listing, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	then, err := os.ReadFile(listing)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range missing(string(then), now) {
		t.Errorf("- %s", line)
	}
	for _, line := range missing(now, string(then)) {
		t.Errorf("+ %s", line)
	}
	if t.Failed() {
		t.Error("the promised API is not that of api/v1.txt: if that is wanted, run make api and say so in CHANGELOG.md")
	}
}

// missing returns the lines of a that are not in b.
func missing(a, b string) []string {
	have := map[string]bool{}
	for line := range strings.Lines(b) {
		have[line] = true
	}
	var list []string
	for line := range strings.Lines(a) {
		if !have[line] {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// TestEngineRoom: every other package that programs can import says in the first sentence of its documentation that it may
// change.
func TestEngineRoom(t *testing.T) {
	rooms := 0
	for line := range strings.Lines(goList(t, "-f", "{{.ImportPath}}|{{.Doc}}", "./asm/...", "./blas/...", "./engine/...", "./solvers/...", "./algorithms/...")) {
		where, doc, _ := strings.Cut(strings.TrimSpace(line), "|")
		rest := strings.TrimPrefix(where, Module+"/")
		if _, is := Promised[rest]; is || slices.Contains(strings.Split(rest, "/"), "internal") {
			continue
		}
		rooms++
		if !strings.Contains(doc, "(engine room: may change)") {
			t.Errorf("%s: the first sentence is %q: want one with (engine room: may change)", rest, doc)
		}
	}
	if rooms < 20 {
		t.Errorf("go list names %d packages of the engine room: want more", rooms)
	}
}

// promised returns the lines of the promised packages, in the default build, and the number of their names.
func promised(t *testing.T) (lines []string, names int) {
	exports := map[string]string{}
	for line := range strings.Lines(goList(t, "-export", "-deps", "-f", `{{if .Name}}{{.ImportPath}} {{.Export}}{{end}}`, "./...")) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			exports[path] = file
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, rest := range slices.Sorted(maps.Keys(Promised)) {
		pkg, err := imports.Import(path.Join(Module, rest))
		if err != nil {
			t.Fatal(err)
		}
		of := Lines(pkg, Promised[rest])
		lines = append(lines, of...)
		names += Names(of)
	}
	return lines, names
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go tool is not in PATH")
	}
	cmd := exec.Command(tool, append([]string{"list"}, args...)...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOOS=linux", "GOARCH=amd64")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	return string(out)
}

// TestLines: every kind of declaration, and nothing that others cannot see.
func TestLines(t *testing.T) {
	const source = `package p
const Limit = 1 << 4
const small = 1
var Err error
type Pair[T any] struct { A, B T; c int }
func (p Pair[T]) Sum(x T) (sum T) { return x }
func (p *Pair[T]) hidden() {}
type Base struct{}
func (*Base) Close() error { return nil }
type Outer struct { *Base; Name string }
type Kind int
type Reader interface { Read(p []byte) (n int, err error); mark() }
type Same = Kind
func Do(n int, names ...string) (map[string]Kind, error) { return nil, nil }
func Map[T comparable](list []T) []T { return list }
func unseen() {}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{}
	pkg, err := config.Check(Module+"/engine/p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"const Limit untyped int = 16", "func Do(int, ...string) (map[string]Kind, error)", "func Map[T comparable]([]T) []T",
		"method (*Base) Close() error", "method (Outer) Close() error", "method (Pair) Sum(T) T",
		"type Base struct", "type Kind int", "type Outer struct", "type Outer struct, Base *Base", "type Outer struct, Name string",
		"type Pair struct, A T", "type Pair struct, B T", "type Pair[T any] struct",
		"type Reader interface", "type Reader interface, Read([]byte) (int, error)", "type Reader interface, unexported method",
		"type Same = Kind", "var Err error",
	}
	for i := range want {
		want[i] = "pkg engine/p, " + want[i]
	}
	if got := Lines(pkg, Whole); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
