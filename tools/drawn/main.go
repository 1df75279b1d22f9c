// Drawn says what the problems of property tests reach. A property that leaves early on nearly all
// of its problems, or whose case is never drawn, cannot fail.
//
//	bin/tools/drawn                   all packages of the module in the current folder
//	bin/tools/drawn engine/points     those in these folders
//
// It counts, in copies of the test files that the compiler reads in the place of these, how often
// the statements of a property run, and fails if one at the top of a property is reached by fewer
// than one problem of twenty. Blocks that no problem reaches are listed, unless they are what a
// test does when it fails.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	few, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "drawn:", err)
	}
	if few > 0 || err != nil {
		os.Exit(1)
	}
}

// rare is the share of the problems that must reach a statement at the top of a property.
const rare = 1.0 / 20

// run returns the number of statements that too few problems reach.
func run(folders []string, w io.Writer) (few int, err error) {
	if len(folders) == 0 {
		if folders, err = testFolders("."); err != nil {
			return 0, err
		}
	}
	for _, folder := range folders {
		p, err := read(folder)
		if err != nil {
			return few, err
		}
		if len(p.tests) == 0 {
			continue
		}
		if err := p.count(); err != nil {
			return few, fmt.Errorf("%s: %w", folder, err)
		}
		few += p.report(w)
	}
	return few, nil
}

// testFolders returns the folders with property tests below one that are of the same module.
func testFolders(root string) (folders []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root {
			_, other := os.Stat(filepath.Join(path, "go.mod"))
			if strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || other == nil {
				return fs.SkipDir
			}
		}
		if strings.HasSuffix(path, "_test.go") && !slices.Contains(folders, filepath.Dir(path)) {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if strings.Contains(string(content), "/internal/propertytest\"") {
				folders = append(folders, filepath.Dir(path))
			}
		}
		return nil
	})
	return folders, err
}

// properties are those of the tests of one folder.
type properties struct {
	folder string
	files  map[string]*file
	tests  []string
	points []point
	hits   []int
}

// file is a test file, and what to insert.
type file struct {
	content []byte
	tree    *ast.File
	insert  map[int]string // by offset
}

// point is where problems are counted.
type point struct {
	position token.Position
	test     string
	first    int  // the number of the point where the property begins
	top      bool // a statement at the top, else a block
	failing  bool // a block that reports a failure, or skips
}

// read finds the properties of a folder.
func read(folder string) (*properties, error) {
	p := &properties{folder: folder, files: map[string]*file{}}
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	functions := map[string]*ast.BlockStmt{}
	for _, path := range paths {
		f := &file{insert: map[int]string{}}
		if f.content, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if f.tree, err = parser.ParseFile(set, path, f.content, 0); err != nil {
			return nil, err
		}
		p.files[path] = f
		for _, d := range f.tree.Decls {
			if d, is := d.(*ast.FuncDecl); is && d.Body != nil {
				functions[d.Name.Name] = d.Body
			}
		}
	}
	for _, path := range paths {
		for _, d := range p.files[path].tree.Decls {
			test, is := d.(*ast.FuncDecl)
			if !is || test.Body == nil {
				continue
			}
			ast.Inspect(test.Body, func(n ast.Node) bool {
				switch body := property(n).(type) {
				case *ast.FuncLit:
					p.add(set, test.Name.Name, body.Body)
				case *ast.Ident:
					if functions[body.Name] != nil {
						p.add(set, test.Name.Name, functions[body.Name])
					}
				}
				return true
			})
		}
	}
	return p, nil
}

// property returns the property of a call of package propertytest, nil of other nodes.
func property(n ast.Node) ast.Expr {
	call, is := n.(*ast.CallExpr)
	if !is || len(call.Args) == 0 {
		return nil
	}
	f, is := call.Fun.(*ast.SelectorExpr)
	if !is || f.Sel.Name != "Check" && f.Sel.Name != "CheckSome" {
		return nil
	}
	if x, is := f.X.(*ast.Ident); !is || x.Name != "propertytest" {
		return nil
	}
	return call.Args[len(call.Args)-1]
}

// add counts the statements of a property, once.
func (p *properties) add(set *token.FileSet, test string, body *ast.BlockStmt) {
	if !slices.Contains(p.tests, test) {
		p.tests = append(p.tests, test)
	}
	first := len(p.points)
	mark := func(list []ast.Stmt, top bool) {
		at := set.Position(list[0].Pos())
		insert := p.files[at.Filename].insert
		if insert[at.Offset] == "" {
			insert[at.Offset] = fmt.Sprintf("drawnHere(%d);", len(p.points))
			p.points = append(p.points, point{at, test, first, top, !top && fails(list)})
		}
	}
	for k := range body.List {
		if _, labeled := body.List[k].(*ast.LabeledStmt); !labeled {
			mark(body.List[k:], true)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			if len(n.List) > 0 {
				switch n.List[0].(type) {
				case *ast.CaseClause, *ast.CommClause:
				default:
					mark(n.List, false)
				}
			}
		case *ast.CaseClause:
			if len(n.Body) > 0 {
				mark(n.Body, false)
			}
		}
		return true
	})
}

var failures = []string{"Fatal", "Fatalf", "Error", "Errorf", "Skip", "Skipf", "FailNow"}

// fails reports whether statements, without those within them, report a failure, skip or panic.
func fails(list []ast.Stmt) (found bool) {
	for _, s := range list {
		if s, simple := s.(*ast.ExprStmt); simple {
			call, is := s.X.(*ast.CallExpr)
			if !is {
				continue
			}
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				found = found || slices.Contains(failures, f.Sel.Name)
			case *ast.Ident:
				found = found || f.Name == "panic"
			}
		}
	}
	return found
}

// counter is the file that counts, of a package and the path that it writes numbers of points to.
const counter = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	drawnLock    sync.Mutex
	drawnTimes   = map[int]int{}
	drawnFile, _ = os.OpenFile(%q, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
)

func drawnHere(point int) {
	drawnLock.Lock()
	defer drawnLock.Unlock()
	if drawnTimes[point]++; drawnTimes[point] <= 1000 { // more say no more
		drawnFile.WriteString(strconv.Itoa(point) + "\n")
	}
}
`

// count runs the tests.
func (p *properties) count() error {
	work, err := os.MkdirTemp("", "drawn")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	root, err := filepath.Abs(p.folder)
	if err != nil {
		return err
	}
	numbers, replace := filepath.Join(work, "numbers"), map[string]string{}
	write := func(name, content string) error {
		to := filepath.Join(work, name)
		replace[filepath.Join(root, name)] = to
		return os.WriteFile(to, []byte(content), 0o600)
	}
	for path, f := range p.files {
		if len(f.insert) == 0 {
			continue
		}
		var text strings.Builder
		for at, b := range f.content {
			text.WriteString(f.insert[at])
			text.WriteByte(b)
		}
		name := f.tree.Name.Name
		if err := write(filepath.Base(path), text.String()); err != nil {
			return err
		}
		if err := write("drawn_"+name+"_test.go", fmt.Sprintf(counter, name, numbers)); err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	list := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return err
	}
	test := exec.Command("go", "test", "-vet=off", "-count=1", "-overlay", list, "-run",
		"^("+strings.Join(p.tests, "|")+")$", ".")
	test.Dir = p.folder
	if out, err := test.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return p.readHits(numbers)
}

func (p *properties) readHits(path string) error {
	p.hits = make([]int, len(p.points))
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("no property has run: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		k, err := strconv.Atoi(lines.Text())
		if err != nil || k >= len(p.hits) {
			return fmt.Errorf("point %q", lines.Text())
		}
		p.hits[k]++
	}
	return lines.Err()
}

// report writes what few problems reach, and returns the number of statements at the top.
func (p *properties) report(w io.Writer) (few int) {
	for k, at := range p.points {
		all := p.hits[at.first]
		switch {
		case at.top && float64(p.hits[k]) < rare*float64(all) || all == 0:
			few++
			fmt.Fprintf(w, "%s: %s: %d of %d problems come here\n", at.position, at.test, p.hits[k], all)
		case !at.top && !at.failing && p.hits[k] == 0:
			fmt.Fprintf(w, "%s: %s: no problem comes here; %d were drawn\n", at.position, at.test, all)
		}
	}
	return few
}
