package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module with a property test; propertytest is a package of its own there.
func module(t *testing.T, property string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26\n",
		"internal/propertytest/p.go": "package propertytest\n\nfunc Check(f func(int)) {\n" +
			"\tfor k := range 100 {\n\t\tf(k)\n\t}\n}\n",
		"a/a.go": "package a\n",
		"a/a_test.go": "package a\n\nimport (\n\t\"testing\"\n\n" +
			"\t\"example.org/m/internal/propertytest\"\n)\n\nfunc TestA(t *testing.T) {\n" +
			"\tpropertytest.Check(func(k int) {\n" + property + "\t})\n}\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Statements behind an early end are counted, and so are blocks, but for those that fail.
func TestDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		property string
		few      int
		want     []string // in the report, by line
	}{
		"all": {"\t\tif k < 0 {\n\t\t\tt.Fatal(k)\n\t\t}\n\t\tif k > 3 {\n\t\t\treturn\n\t\t}\n", 0, nil},
		"few": {"\t\tif k > 3 {\n\t\t\treturn\n\t\t}\n\t\tif k < 0 {\n\t\t\tt.Fatal(k)\n\t\t}\n", 1,
			[]string{"a_test.go:14:3: TestA: 4 of 100 problems come here"}},
		"none": {"\t\tswitch {\n\t\tcase k < 0:\n\t\t\tk++\n\t\tdefault:\n\t\t\tk--\n\t\t}\n", 0,
			[]string{"a_test.go:13:4: TestA: no problem comes here; 100 were drawn"}},
	} {
		root := module(t, c.property)
		folders, err := testFolders(root)
		if err != nil || len(folders) != 1 {
			t.Fatalf("%s: folders %v, error %v: want a", name, folders, err)
		}
		var report strings.Builder
		few, err := run(folders, &report)
		lines := strings.Split(strings.TrimSuffix(report.String(), "\n"), "\n")
		if report.Len() == 0 {
			lines = nil
		}
		if err != nil || few != c.few || len(lines) != len(c.want) {
			t.Fatalf("%s: %d, error %v, report:\n%s", name, few, err, &report)
		}
		for k, want := range c.want {
			if !strings.HasSuffix(lines[k], want) {
				t.Errorf("%s: %q: want %q", name, lines[k], want)
			}
		}
	}
}

// A test that fails is an error, which says how.
func TestFailingTest(t *testing.T) {
	root := module(t, "\t\tt.Fatal(\"wrong\", k)\n")
	if _, err := run([]string{filepath.Join(root, "a")}, os.Stdout); err == nil ||
		!strings.Contains(err.Error(), "wrong 0") {
		t.Errorf("error %v: want that of the test", err)
	}
}
