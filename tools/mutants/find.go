package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// target is a package that gets faults.
type target struct {
	*packages.Package
	folder string
	files  []*source
	found  map[string][]*mutant // by kind
}

type source struct {
	path string // relative to the root
	text []byte
	tree *ast.File
}

// edit replaces the bytes from one offset to another.
type edit struct {
	from, to int
	text     string
}

// mutant is a fault that can be planted.
type mutant struct {
	pkg            *target
	at             *source
	file, function string
	line           int
	kind, was, is  string
	edits          []edit
	outcome        outcome
}

// text identifies a fault by its line, whatever lines are above it.
func (m *mutant) text() string {
	from := bytes.LastIndexByte(m.at.text[:m.edits[0].from], '\n') + 1
	line, _, _ := bytes.Cut(m.at.text[from:], []byte("\n"))
	return fmt.Sprintf("%s %s: %s => %s in: %s", m.file, m.function, m.was, m.is, bytes.TrimSpace(line))
}

// source returns the file with the fault.
func (m *mutant) source() []byte {
	edits := slices.Clone(m.edits)
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	text := slices.Clone(m.at.text)
	for _, e := range edits {
		text = slices.Replace(text, e.from, e.to, []byte(e.text)...)
	}
	return text
}

// load reads the packages of folders, "..." included; none means all of the module. Packages that
// support tests and those with C code get no faults.
func load(root string, folders []string) (list []*target, err error) {
	patterns := []string{"./..."}
	if len(folders) > 0 {
		patterns = nil
		for _, f := range folders {
			patterns = append(patterns, "./"+filepath.ToSlash(filepath.Clean(f)))
		}
	}
	loaded, err := packages.Load(&packages.Config{Dir: root, Mode: packages.LoadSyntax | packages.NeedModule,
		ParseFile: func(set *token.FileSet, path string, text []byte) (*ast.File, error) {
			return parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		}}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		if strings.HasSuffix(p.PkgPath, "test") || len(p.GoFiles) == 0 ||
			!slices.Equal(p.GoFiles, p.CompiledGoFiles) {
			continue
		}
		t := &target{Package: p, folder: filepath.Dir(p.GoFiles[0])}
		for k, tree := range p.Syntax {
			text, err := os.ReadFile(p.GoFiles[k])
			if err != nil {
				return nil, err
			}
			path, err := filepath.Rel(root, p.GoFiles[k])
			if err != nil {
				return nil, err
			}
			if !ast.IsGenerated(tree) {
				t.files = append(t.files, &source{filepath.ToSlash(path), text, tree})
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// Import returns what the package imports, for the type checker.
func (t *target) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := t.Imports[path]; p != nil && p.Types != nil {
		return p.Types, nil
	}
	return nil, fmt.Errorf("no types of %s", path)
}

// compiles reports whether the fault passes the type checker.
func (m *mutant) compiles() bool {
	set := token.NewFileSet()
	var trees []*ast.File
	for k, path := range m.pkg.GoFiles {
		var text any
		if strings.HasSuffix(filepath.ToSlash(path), m.file) && m.pkg.Syntax[k] == m.at.tree {
			text = m.source()
		}
		tree, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		trees = append(trees, tree)
	}
	check := types.Config{Importer: m.pkg, Sizes: m.pkg.TypesSizes, GoVersion: "go" + m.pkg.Module.GoVersion}
	_, err := check.Check(m.pkg.PkgPath, set, trees, nil)
	return err == nil
}

// draw chooses faults: package after package, each time of the kind that was drawn least.
type draw struct {
	left       []*target
	turn       int
	times      map[string]int
	candidates map[string]int // faults that could be drawn, by kind
	random     map[*target]*rand.Rand
	invalid    int
}

func newDraw(list []*target, seed uint64) *draw {
	d := &draw{times: map[string]int{}, candidates: map[string]int{}, random: map[*target]*rand.Rand{}}
	for _, t := range list {
		name := fnv.New64a()
		name.Write([]byte(t.PkgPath))
		d.random[t] = rand.New(rand.NewPCG(seed, name.Sum64()))
		for kind, found := range t.found {
			d.candidates[kind] += len(found)
		}
	}
	d.left = slices.Clone(list)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(d.left), func(i, j int) {
		d.left[i], d.left[j] = d.left[j], d.left[i]
	})
	return d
}

func (d *draw) drop(t *target) {
	d.left = slices.DeleteFunc(d.left, func(p *target) bool { return p == t })
}

// next returns nil when none is left.
func (d *draw) next() *mutant {
	for len(d.left) > 0 {
		t := d.left[d.turn%len(d.left)]
		kind := ""
		for _, k := range kinds {
			if len(t.found[k]) > 0 && (kind == "" || d.times[k] < d.times[kind]) {
				kind = k
			}
		}
		if kind == "" {
			d.drop(t)
			continue
		}
		k := d.random[t].IntN(len(t.found[kind]))
		m := t.found[kind][k]
		t.found[kind] = slices.Delete(t.found[kind], k, k+1)
		if !m.compiles() {
			d.invalid++
			continue
		}
		d.times[kind]++
		d.turn++
		return m
	}
	return nil
}

// finder finds the faults of one function.
type finder struct {
	t    *target
	at   *source
	f    *ast.FuncDecl
	keep func(*mutant) bool
}

// find lists the faults of a package that keep wants.
func (t *target) find(only string, keep func(*mutant) bool) {
	t.found = map[string][]*mutant{}
	for _, s := range t.files {
		for _, d := range s.tree.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Body == nil {
				continue
			}
			switch f.Name.Name {
			case "String", "Error", "About", "Describe": // words
				continue
			}
			v := &finder{t, s, f, func(m *mutant) bool {
				return keep(m) && (only == "" || slices.Contains(strings.Split(only, ","), m.kind))
			}}
			v.whole()
			ast.Inspect(f.Body, v.node)
		}
	}
}

func (v *finder) offset(p token.Pos) int { return v.t.Fset.Position(p).Offset }

func (v *finder) text(n ast.Node) string {
	return string(v.at.text[v.offset(n.Pos()):v.offset(n.End())])
}

// add keeps a fault, described by what the code was and is.
func (v *finder) add(kind string, n ast.Node, was, is string, edits ...edit) {
	name := v.f.Name.Name
	if v.f.Recv != nil {
		name = v.text(v.f.Recv.List[0].Type) + "." + name
	}
	m := &mutant{pkg: v.t, at: v.at, file: v.at.path, function: name, line: v.t.Fset.Position(n.Pos()).Line,
		kind: kind, was: short(was), is: short(is), edits: edits}
	if v.keep(m) {
		v.t.found[kind] = append(v.t.found[kind], m)
	}
}

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 100 {
		s = s[:97] + "..."
	}
	return s
}

func (v *finder) replace(kind string, n ast.Node, is string) {
	v.add(kind, n, v.text(n), is, edit{v.offset(n.Pos()), v.offset(n.End()), is})
}

func (v *finder) remove(kind string, n ast.Node) {
	v.add(kind, n, v.text(n), "(nothing)", edit{v.offset(n.Pos()), v.offset(n.End()), ""})
}

// token replaces one token of a node.
func (v *finder) token(kind string, n ast.Node, at token.Pos, old, is string) {
	from, begin := v.offset(at), v.offset(n.Pos())
	text := v.text(n)
	v.add(kind, n, text, text[:from-begin]+is+text[from-begin+len(old):], edit{from, from + len(old), is})
}

// whole has the faults of a function as a whole: without its locks, and ending before a statement.
func (v *finder) whole() {
	var locks []edit
	first, was := ast.Node(nil), ""
	ast.Inspect(v.f.Body, func(n ast.Node) bool {
		if isLock(n) {
			locks = append(locks, edit{v.offset(n.Pos()), v.offset(n.End()), ""})
			was += v.text(n) + "; "
			if first == nil {
				first = n
			}
		}
		return true
	})
	if first != nil {
		v.add("lock", first, was, "(nothing)", locks...)
	}
	var zeros []string
	if v.f.Type.Results != nil {
		for _, field := range v.f.Type.Results.List {
			for range max(1, len(field.Names)) {
				zeros = append(zeros, "*new("+v.text(field.Type)+")")
			}
		}
	}
	early := "return " + strings.Join(zeros, ", ")
	for k, s := range v.f.Body.List {
		if _, last := s.(*ast.ReturnStmt); last && k == len(v.f.Body.List)-1 {
			continue
		}
		at := v.offset(s.Pos())
		v.add("return", s, v.text(s), early+" before it", edit{at, at, "if true {\n" + early + "\n}\n"})
	}
}

// isLock reports whether a statement locks or unlocks.
func isLock(n ast.Node) bool {
	var call *ast.CallExpr
	switch s := n.(type) {
	case *ast.ExprStmt:
		call, _ = s.X.(*ast.CallExpr)
	case *ast.DeferStmt:
		call = s.Call
	}
	if call == nil || len(call.Args) > 0 {
		return false
	}
	f, is := call.Fun.(*ast.SelectorExpr)
	return is && slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, f.Sel.Name)
}

// words reports whether a node makes a message.
func (v *finder) words(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		switch f := n.Fun.(type) {
		case *ast.SelectorExpr:
			x, is := f.X.(*ast.Ident)
			return is && slices.Contains([]string{"fmt", "errors", "fault", "log"}, x.Name) ||
				slices.Contains([]string{"Errorf", "Printf", "WriteString", "Report"}, f.Sel.Name)
		case *ast.Ident:
			return f.Name == "panic"
		}
	case *ast.CompositeLit:
		f, is := n.Type.(*ast.SelectorExpr)
		return is && strings.HasSuffix(f.Sel.Name, "Error")
	}
	return false
}

func (v *finder) node(n ast.Node) bool {
	if n == nil || v.words(n) {
		return false
	}
	switch n := n.(type) {
	case *ast.IfStmt:
		v.condition(n)
	case *ast.BinaryExpr:
		v.binary(n)
	case *ast.BasicLit:
		v.literal(n)
	case *ast.CallExpr:
		v.call(n)
	case *ast.UnaryExpr:
		switch {
		case n.Op == token.NOT:
			v.replace("condition", n, v.text(n.X))
		case n.Op == token.SUB && !isLiteral(n.X):
			v.replace("arithmetic", n, "("+v.text(n.X)+")")
		}
	case *ast.Ident:
		if o := v.t.TypesInfo.Uses[n]; o != nil && o.Pkg() == nil && (n.Name == "true" || n.Name == "false") {
			v.replace("condition", n, strconv.FormatBool(n.Name == "false"))
		}
	case *ast.BranchStmt:
		switch {
		case n.Label == nil && n.Tok == token.CONTINUE:
			v.replace("loop", n, "break")
		case n.Label == nil && n.Tok == token.BREAK:
			v.replace("loop", n, "continue")
		}
	case *ast.ExprStmt:
		if call, is := n.X.(*ast.CallExpr); is && !isLock(n) && !v.words(call) {
			v.remove("statement", n)
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			break
		}
		v.remove("statement", n)
		if other, is := flipped[n.Tok]; is && v.basic(n.Lhs[0])&types.IsNumeric != 0 {
			v.token("arithmetic", n, n.TokPos, n.Tok.String(), other)
		}
	}
	return true
}

func isLiteral(e ast.Expr) bool {
	_, is := e.(*ast.BasicLit)
	return is
}

// kinds names the faults.
var kinds = []string{"arithmetic", "comparison", "constant", "condition", "error", "context", "lock",
	"statement", "return", "order", "loop", "tolerance"}

var flipped = map[token.Token]string{
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "/",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
}

// basic returns what is known of a basic type, 0 for others.
func (v *finder) basic(e ast.Expr) types.BasicInfo {
	if t := v.t.TypesInfo.Types[e].Type; t != nil {
		if b, is := t.Underlying().(*types.Basic); is {
			return b.Info()
		}
	}
	return 0
}

// condition drops or negates the condition of an if statement.
func (v *finder) condition(n *ast.IfStmt) {
	all := v.text(n.Cond)
	if n.Init != nil {
		all = v.text(n.Init) + "; " + all
	}
	with := func(kind, before string) {
		v.add(kind, n, "if "+all, "if "+before+"(...)", edit{v.offset(n.Cond.Pos()), v.offset(n.Cond.End()),
			before + "(" + v.text(n.Cond) + ")"})
	}
	switch {
	case v.looks(n):
		never := "false && "
		if strings.Contains(all, "== nil") {
			never = "true || "
		}
		with("context", never)
	case v.fails(n.Cond):
		with("error", "false && ")
	default:
		with("condition", "!")
		with("condition", "false && ")
	}
}

// looks reports whether an if statement asks a context whether it has ended.
func (v *finder) looks(n *ast.IfStmt) (found bool) {
	look := func(n ast.Node) bool {
		if f, is := n.(*ast.SelectorExpr); is && f.Sel.Name == "Err" {
			t := v.t.TypesInfo.Types[f.X].Type
			found = found || t != nil && t.String() == "context.Context"
		}
		return true
	}
	if n.Init != nil {
		ast.Inspect(n.Init, look)
	}
	ast.Inspect(n.Cond, look)
	return found
}

// fails reports whether a condition is that there is an error.
func (v *finder) fails(cond ast.Expr) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		if b, is := n.(*ast.BinaryExpr); is && b.Op == token.NEQ && v.text(b.Y) == "nil" {
			t := v.t.TypesInfo.Types[b.X].Type
			found = found || t != nil && t.String() == "error"
		}
		return true
	})
	return found
}

func (v *finder) binary(n *ast.BinaryExpr) {
	other, is := flipped[n.Op]
	if !is || v.fails(n) {
		return
	}
	kind := "comparison"
	switch n.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		if v.basic(n)&types.IsNumeric == 0 || v.t.TypesInfo.Types[n].Value != nil {
			return
		}
		kind = "arithmetic"
	case token.LAND, token.LOR:
		kind = "condition"
	}
	v.token(kind, n, n.OpPos, n.Op.String(), other)
}

func (v *finder) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		x, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil {
			return
		}
		v.replace("constant", n, strconv.FormatInt(x+1, 10))
		if x > 0 {
			v.replace("constant", n, strconv.FormatInt(x-1, 10))
		}
	case token.FLOAT:
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil {
			return
		}
		if x < 0.1 || strings.ContainsAny(n.Value, "eEpP") {
			v.replace("tolerance", n, strconv.FormatFloat(x*10, 'g', -1, 64))
			v.replace("tolerance", n, strconv.FormatFloat(x/10, 'g', -1, 64))
		} else {
			v.replace("constant", n, strconv.FormatFloat(x*1.2, 'g', 4, 64))
		}
	}
}

// call exchanges neighboring arguments of one type, and max with min.
func (v *finder) call(n *ast.CallExpr) {
	if v.t.TypesInfo.Types[n.Fun].IsType() {
		return
	}
	if f, is := n.Fun.(*ast.Ident); is && (f.Name == "max" || f.Name == "min") {
		v.token("comparison", n, n.Pos(), f.Name, map[string]string{"max": "min", "min": "max"}[f.Name])
		return
	}
	for k := range len(n.Args) - 1 {
		a, b := n.Args[k], n.Args[k+1]
		ta, tb := v.t.TypesInfo.Types[a], v.t.TypesInfo.Types[b]
		if ta.Type == nil || tb.Type == nil || ta.Value != nil && tb.Value != nil ||
			!types.Identical(ta.Type, tb.Type) || v.text(a) == v.text(b) {
			continue
		}
		base, s := v.offset(n.Pos()), v.text(n)
		i, j := v.offset(a.Pos())-base, v.offset(a.End())-base
		k, l := v.offset(b.Pos())-base, v.offset(b.End())-base
		v.add("order", n, s, s[:i]+s[k:l]+s[j:k]+s[i:j]+s[l:],
			edit{base + i, base + j, s[k:l]}, edit{base + k, base + l, s[i:j]})
	}
}
