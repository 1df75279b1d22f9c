package doclinks

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestComments: the doc comments of all packages are complete and their links lead to existing
// names.
func TestComments(t *testing.T) {
	all := map[string]*Package{}
	for _, folder := range folders(t) {
		importPath := path.Join("github.com/mustlink/mustlink", folder)
		p, err := Load(filepath.Join("../..", folder), importPath)
		if err != nil {
			t.Fatal(err)
		}
		all[importPath] = p
	}
	if len(all) < 70 {
		t.Fatalf("only %d packages were found", len(all))
	}
	for _, p := range all {
		for _, fault := range p.Check(all) {
			t.Error(fault)
		}
	}
}

// folders returns the folders of the library's packages.
func folders(t *testing.T) []string {
	t.Helper()
	var list []string
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")
			if name != "." && (hidden || slices.Contains([]string{"testdata", "docs"}, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if folder := path.Dir(name); path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") &&
			!slices.Contains(list, folder) {
			list = append(list, folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFaults: these faults are found, and correct comments are not: a name without a comment, a
// comment that is not a sentence about its name, and four kinds of links to missing names.
func TestFaults(t *testing.T) {
	write := func(importPath, source string) *Package {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "p.go"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := Load(folder, importPath)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := write("example.org/p", `// Package p has [T], [T.Right] and [fs.FS], and code:
//
//	[Code]
//
// And a list:
//
//   - with [Lost]
package p

import "io/fs"

// T leads to [T.Wrong], [fs.FS.Open] and [other.Name].
type T struct{ fs fs.FS }

// Right is alone in a group with x[i] and [0, n).
func (T) Right() {}

func (T) Bare() {}

func (T) Error() string { return "" }

// Returns nothing.
func (T) Unnamed() {}

// Cut is
func (T) Cut() {}

// Sum is the formula
//
//	a + b
func (T) Sum() {}
`)
	want := []string{
		"example.org/p, T.Bare: no comment",
		"example.org/p, T.Cut: the comment does not begin with a full sentence",
		"example.org/p, T.Unnamed: the comment does not begin with the name",
		"example.org/p, T: [T.Wrong] leads to nothing",
		"example.org/p, T: [other.Name] leads to nothing",
		"example.org/p, package: [Lost] leads to nothing",
	}
	got := p.Check(map[string]*Package{"example.org/p": p})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	q := write("example.org/q",
		"package q\n\nimport \"example.org/p\"\n\n// Q is not [p.Gone] but [p.T.Right].\nvar Q p.T\n")
	got = q.Check(map[string]*Package{"example.org/p": p})
	slices.Sort(got)
	if want := []string{"example.org/q, Q: [Gone] of example.org/p is not there",
		"example.org/q, package: no comment"}; !slices.Equal(got, want) {
		t.Errorf("got %q: want %q", got, want)
	}
}
