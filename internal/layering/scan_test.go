package layering

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Scan reads every Go file below root, whatever its build tags, and returns all breaches
// of [Check] and [Forbidden], and the number of files read. Folders that the go tool
// skips (testdata, vendor, names that begin with "." or "_") and nested modules are left
// out.
func Scan(root fs.FS) (faults []string, files int, err error) {
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
		found, err := scanFile(root, name)
		faults = append(faults, found...)
		return err
	})
	return faults, files, err
}

// SkipFolder says whether the go tool, or this module, leaves out a folder below root: see [Scan].
func SkipFolder(root fs.FS, name string) bool {
	base := path.Base(name)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(name, "go.mod"))
	return err == nil
}

func scanFile(root fs.FS, name string) ([]string, error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	pkg := path.Dir(name)
	if pkg == "." {
		pkg = ""
	}
	var imports []string
	for _, spec := range f.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imports = append(imports, imp)
	}
	test := strings.HasSuffix(name, "_test.go")
	var faults []string
	if _, placed := floorOf(pkg); placed || !strings.HasPrefix(pkg, "internal/") {
		for _, fault := range Check(pkg, imports, test) {
			faults = append(faults, name+": "+fault)
		}
	} else if !test && pkg != propertyTest {
		faults = append(faults, checkInternal(name, imports)...)
	}
	tool := strings.HasPrefix(pkg, "internal/") && f.Name.Name == "main"
	if Library(pkg) && !test && !testSupport(pkg) && !tool {
		faults = append(faults, Forbidden(fset, f)...)
	}
	return faults, nil
}

// checkInternal holds the tools below internal/ to the standard library: they stand
// beside the floors, and what they checked would change if they leaned on it.
func checkInternal(name string, imports []string) []string {
	var faults []string
	for _, imp := range imports {
		if !standard(imp) {
			faults = append(faults, name+": imports "+display(imp)+": packages below internal/ use the standard library only")
		}
	}
	return faults
}
