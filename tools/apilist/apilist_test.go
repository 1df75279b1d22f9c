package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestThePromiseIsSmall: at most 12 packages and 250 names. make lint checks that api/v1.txt
// contains them.
func TestThePromiseIsSmall(t *testing.T) {
	text, err := os.ReadFile("../../api/v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	if names := Names(strings.Split(strings.TrimSpace(string(text)), "\n")); len(Promised) > 12 ||
		names > 250 || names < len(Promised) {
		t.Errorf("%d packages and %d names are promised: want at most 12 and 250", len(Promised), names)
	}
}

// TestEngineRoom: the documentation of every other importable package says in its first sentence
// that the package may change.
func TestEngineRoom(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go tool is not in PATH")
	}
	listing, err := goList("../..", "-f", "{{.ImportPath}}|{{.Doc}}", "./asm/...", "./blas/...",
		"./engine/...", "./solvers/...", "./algorithms/...")
	if err != nil {
		t.Fatal(err)
	}
	rooms := 0
	for line := range strings.Lines(listing) {
		where, doc, _ := strings.Cut(strings.TrimSpace(line), "|")
		rest := strings.TrimPrefix(where, Module+"/")
		if _, is := Promised[rest]; is || slices.Contains(strings.Split(rest, "/"), "internal") {
			continue
		}
		rooms++
		if !strings.Contains(doc, "(internal: may change)") {
			t.Errorf("%s: the first sentence is %q: want one with (internal: may change)", rest, doc)
		}
	}
	if rooms < 20 {
		t.Errorf("go list names %d internal packages: want more", rooms)
	}
}

// TestLines: the lines have every kind of declaration, and only names that other packages can use.
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
func invisible() {}
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
		"const Limit untyped int = 16", "func Do(int, ...string) (map[string]Kind, error)",
		"func Map[T comparable]([]T) []T",
		"method (*Base) Close() error", "method (Outer) Close() error", "method (Pair) Sum(T) T",
		"type Base struct", "type Kind int", "type Outer struct", "type Outer struct, Base *Base",
		"type Outer struct, Name string",
		"type Pair struct, A T", "type Pair struct, B T", "type Pair[T any] struct",
		"type Reader interface", "type Reader interface, Read([]byte) (int, error)",
		"type Reader interface, unexported method",
		"type Same = Kind", "var Err error",
	}
	for i := range want {
		want[i] = "pkg engine/p, " + want[i]
	}
	if got := Lines(pkg, Whole); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
