package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Scan reads every Go file below root, for all build tags, and returns all violations of [Check]
// and [Forbidden], and the number of files read. It skips folders that the go tool skips (testdata,
// vendor, names that begin with "." or "_") and nested modules.
func Scan(root fs.FS) (faults []string, files int, err error) { return walk(root, scanFile) }

// ScanLaboratory reads every Go file of the laboratory, whose folder is root, and returns its
// imports of programs: it may import what programs import, but no program.
func ScanLaboratory(root fs.FS) (faults []string, files int, err error) {
	return walk(root, scanLaboratoryFile)
}

// walk calls scan for the files that [Scan] reads.
func walk(root fs.FS,
	scan func(root fs.FS, name string) ([]string, error)) (faults []string, files int, err error) {
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && SkipFolder(root, name) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_"):
			return nil
		}
		files++
		found, err := scan(root, name)
		faults = append(faults, found...)
		return err
	})
	return faults, files, err
}

// SkipFolder reports whether the go tool, or this module, skips a folder below root: see [Scan].
func SkipFolder(root fs.FS, name string) bool {
	base := path.Base(name)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") ||
		strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(name, "go.mod"))
	return err == nil
}

// parse returns a file and what it imports.
func parse(fset *token.FileSet, root fs.FS, name string) (f *ast.File, imports []string, err error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, nil, err
	}
	if f, err = parser.ParseFile(fset, name, source, parser.SkipObjectResolution); err != nil {
		return nil, nil, err
	}
	for _, spec := range f.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, nil, err
		}
		imports = append(imports, imp)
	}
	return f, imports, nil
}

func scanLaboratoryFile(root fs.FS, name string) (faults []string, err error) {
	_, imports, err := parse(token.NewFileSet(), root, name)
	for _, imp := range imports {
		if inTree(imp, Module+"/cmd") {
			faults = append(faults, name+": imports "+display(imp)+": the laboratory imports no program")
		}
	}
	return faults, err
}

func scanFile(root fs.FS, name string) ([]string, error) {
	fset := token.NewFileSet()
	f, imports, err := parse(fset, root, name)
	if err != nil {
		return nil, err
	}
	pkg := path.Dir(name)
	if pkg == "." {
		pkg = ""
	}
	test := strings.HasSuffix(name, "_test.go")
	var faults []string
	if _, ranked := floorOf(pkg); ranked || !strings.HasPrefix(pkg, "internal/") {
		for _, fault := range Check(pkg, imports, test) {
			faults = append(faults, name+": "+fault)
		}
	} else if !test && !slices.Contains(testTools, pkg) {
		faults = append(faults, checkInternal(name, imports)...)
	}
	if Library(pkg) && !test && !testSupport(pkg) {
		faults = append(faults, Forbidden(fset, f)...)
	}
	return faults, nil
}

// checkInternal allows packages below internal/ that have no floor to import only the standard
// library, apart from their tests.
func checkInternal(name string, imports []string) []string {
	var faults []string
	for _, imp := range imports {
		if !standard(imp) {
			faults = append(faults,
				name+": imports "+display(imp)+": packages below internal/ use the standard library only")
		}
	}
	return faults
}
