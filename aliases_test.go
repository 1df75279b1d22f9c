package mustlink_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mustlink/mustlink"
)

// The documentation of a name for a struct of another package lists its fields, which go doc does
// not show.
func TestAliasesListTheirFields(t *testing.T) {
	types := map[string]any{"Calibration": mustlink.Calibration{}, "Pair": mustlink.Pair{},
		"PairOptions": mustlink.PairOptions{}, "Statistic": mustlink.Statistic{}, "Groups": mustlink.Groups{},
		"Distinct": mustlink.Distinct{}, "Linkage": mustlink.Linkage(""), "Verdict": mustlink.Verdict{},
		"Progress": mustlink.Progress{}, "Preparing": mustlink.Preparing{}, "Column": mustlink.Column{},
		"ColumnKind": mustlink.ColumnKind(""), "NumberMarks": mustlink.NumberMarks(""),
		"Chunklet": mustlink.Chunklet{}, "Link": mustlink.Link{}, "Links": mustlink.Links{},
		"Triplet": mustlink.Triplet{}, "Quadruplet": mustlink.Quadruplet{}}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	look := func(n ast.Node) bool {
		d, is := n.(*ast.GenDecl)
		if !is || d.Tok != token.TYPE {
			return true
		}
		for _, s := range d.Specs {
			spec := s.(*ast.TypeSpec)
			if !spec.Assign.IsValid() {
				continue
			}
			seen++
			of, there := types[spec.Name.Name]
			if !there {
				t.Errorf("%s is not in the test", spec.Name.Name)
				continue
			}
			doc := d.Doc.Text() + spec.Doc.Text()
			if typ := reflect.TypeOf(of); typ.Kind() == reflect.Struct {
				for i := range typ.NumField() {
					if f := typ.Field(i); f.IsExported() && !strings.Contains(doc, f.Name) {
						t.Errorf("the documentation of %s does not name its field %s", spec.Name.Name, f.Name)
					}
				}
			}
		}
		return true
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(syntax, look)
	}
	if seen < len(types) {
		t.Errorf("%d aliases: want %d", seen, len(types))
	}
}
