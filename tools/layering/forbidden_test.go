package layering

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Names that code below the programs must not use, by import path.
var forbiddenNames = map[string][]string{
	"os":      {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Args", "Stdin", "Stdout", "Stderr", "Exit"},
	"syscall": {"Getenv", "Environ", "Stdin", "Stdout", "Stderr"},
	"fmt":     {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// Imports that code below the programs must not have: flags, and the logger that writes
// to standard error.
var forbiddenImports = []string{"flag", "log", "github.com/spf13/cobra", "github.com/spf13/pflag"}

// Forbidden returns one message, with its position, for each use of flags, the environment or
// printing in a file of the library. It resolves names through the file's imports, so a renamed or
// dotted import does not hide a use.
func Forbidden(fset *token.FileSet, f *ast.File) []string {
	var faults []string
	report := func(pos token.Pos, what string) {
		faults = append(faults, fmt.Sprintf("%s: %s: only programs may", fset.Position(pos), what))
	}
	local := map[string]string{} // name in the file -> import path
	for _, spec := range f.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has accepted the file: cannot happen
		}
		if slices.Contains(forbiddenImports, imp) {
			report(spec.Pos(), "imports "+imp)
		}
		name := path.Base(imp)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if _, watched := forbiddenNames[imp]; watched && name == "." {
			report(spec.Pos(), "imports all names of "+imp)
		}
		local[name] = imp
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && slices.Contains(forbiddenNames[local[x.Name]], n.Sel.Name) {
				report(n.Pos(), "uses "+strings.Join([]string{local[x.Name], n.Sel.Name}, "."))
			}
		case *ast.CallExpr:
			x, ok := n.Fun.(*ast.Ident)
			if ok && (x.Name == "print" || x.Name == "println") {
				report(n.Pos(), "calls the built-in "+x.Name)
			}
		}
		return true
	})
	return faults
}
