// Package priced finds allocations whose size comes from input and that nothing bounds: a file of
// a few bytes must not take gigabytes.
//
// The test of the package applies the analyzer to the packages of the module that read input. A
// size is one of make, Grow, Repeat, or a matrix. It comes from input if it was made of a number
// that a decoder or parser returned; numbers are followed through variables, fields, arguments and
// results of one package. It is bounded where, on the way to the allocation, a gate was passed,
// which refuses requests beyond the memory limit, or the number was compared with another one that
// is not 0 or 1 and not from input. An exception has a comment on its line, or the one above:
// "priced: why".
//
// No package imports this one; it exists for its tests.
package priced

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports allocations of sizes that input chooses.
var Analyzer = &analysis.Analyzer{Name: "priced", Run: run,
	Doc: "report allocations whose size input chooses"}

var (
	allocations = regexp.MustCompile(`^(Grow|Repeat|(New|Get|Uncleared)Matrix(32)?)$`)
	// gates refuse requests beyond the memory limit, and so does what makes a MemoryError.
	gates  = regexp.MustCompile(`/engine\.(Check|Allows)$|/dataset\.Take$|Within$`)
	checks = regexp.MustCompile(`^(?i:check|valid|borrow)`)
	// sources return numbers of the input, in any package.
	sources = regexp.MustCompile(`^(encoding/binary\.(Ui|I)nt(32|64)|encoding/binary\.(Read)?(Uv|V)arint|` +
		`strconv\.(Atoi|Parse(Int|Uint|Float))|github\.com/google/flatbuffers/go\.(Get|Vector).*)$`)
	// decoders write numbers of the input to their last argument.
	decoders = regexp.MustCompile(`^(encoding/json\.(Unmarshal|Decode)|encoding/binary\.Read)$`)
)

// number is a number of the input in an expression: a variable, field or function, with the
// variable that the expression begins with. Both are nil for what a source returns.
type number struct{ of, root types.Object }

type finder struct {
	*analysis.Pass
	parents map[ast.Node]ast.Node
	input   map[types.Object]bool       // numbers, or lists of them, and functions that return some
	values  map[types.Object][]ast.Expr // what is assigned to a variable
	params  map[types.Object][]types.Object
	gates   map[types.Object]bool
	excused map[string]map[int]bool // lines of files
	changed bool
}

func run(pass *analysis.Pass) (any, error) {
	c := &finder{pass, map[ast.Node]ast.Node{}, map[types.Object]bool{}, map[types.Object][]ast.Expr{},
		map[types.Object][]types.Object{}, map[types.Object]bool{}, map[string]map[int]bool{}, false}
	var files []*ast.File
	for _, f := range pass.Files {
		if !strings.HasSuffix(pass.Fset.File(f.Pos()).Name(), "_test.go") {
			files = append(files, f)
			c.prepare(f)
		}
	}
	each := func(visit func(ast.Node)) {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool { visit(n); return true })
		}
	}
	for c.changed = true; c.changed; {
		c.changed = false
		each(c.follow)
	}
	each(func(n ast.Node) {
		call, is := n.(*ast.CallExpr)
		if !is {
			return
		}
		for _, size := range c.sizes(call) {
			if len(c.open(size)) > 0 {
				pass.Reportf(call.Pos(), "the size of the allocation is from input, and nothing bounds it: "+
					"want a price before it, or a comment priced: why")
				return
			}
		}
	})
	return nil, nil
}

// prepare notes parents, exceptions, gates, parameters and assignments of a file.
func (c *finder) prepare(f *ast.File) {
	for _, group := range f.Comments {
		for _, line := range group.List {
			if strings.HasPrefix(line.Text, "// priced: ") {
				at := c.Fset.Position(line.Pos())
				if c.excused[at.Filename] == nil {
					c.excused[at.Filename] = map[int]bool{}
				}
				c.excused[at.Filename][at.Line] = true
			}
		}
	}
	var path []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if len(path) > 0 {
			c.parents[n] = path[len(path)-1]
		}
		path = append(path, n)
		switch n := n.(type) {
		case *ast.FuncDecl:
			c.declare(n)
		case *ast.CompositeLit: // of an error that names the limit
			if t, is := c.TypesInfo.TypeOf(n).(*types.Named); is && t.Obj().Name() == "MemoryError" {
				c.gates[c.function(n)] = true
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if object := c.variable(to); object != nil {
					c.values[object] = append(c.values[object], n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		}
		return true
	})
}

// declare notes the parameters of a function. Those of exported functions of the C interface are
// from input.
func (c *finder) declare(f *ast.FuncDecl) {
	object := c.TypesInfo.Defs[f.Name]
	for _, p := range f.Type.Params.List {
		for _, name := range p.Names {
			p := c.TypesInfo.Defs[name]
			c.params[object] = append(c.params[object], p)
			if f.Name.IsExported() && strings.HasSuffix(c.Pkg.Path(), "/internal/abi") && numeric(p.Type()) {
				c.input[p] = true
			}
		}
	}
}

// function returns the declared function around a node.
func (c *finder) function(n ast.Node) types.Object {
	for ; n != nil; n = c.parents[n] {
		if f, is := n.(*ast.FuncDecl); is {
			return c.TypesInfo.Defs[f.Name]
		}
	}
	return nil
}

// follow marks what takes a number of the input from a node.
func (c *finder) follow(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			c.flow(n.Rhs[min(i, len(n.Rhs)-1)], c.variable(to))
		}
	case *ast.ValueSpec:
		for i, value := range n.Values {
			c.flow(value, c.TypesInfo.Defs[n.Names[min(i, len(n.Names)-1)]])
		}
	case *ast.RangeStmt:
		if n.Value != nil {
			c.flow(n.X, c.variable(n.Value))
		}
	case *ast.KeyValueExpr:
		if key, is := n.Key.(*ast.Ident); is {
			c.flow(n.Value, c.TypesInfo.Uses[key])
		}
	case *ast.ReturnStmt:
		for _, value := range n.Results {
			if numeric(c.TypesInfo.TypeOf(value)) {
				c.flow(value, c.function(n))
			}
		}
	case *ast.CallExpr:
		name, callee := c.callee(n)
		if by := c.function(n); by != nil && !c.gates[by] && checks.MatchString(by.Name()) && c.isGate(n) {
			c.gates[by], c.changed = true, true
		}
		for i, p := range c.params[callee] {
			if i < len(n.Args) {
				c.flow(n.Args[i], p)
			}
		}
		if decoders.MatchString(name) {
			if to, is := ast.Unparen(n.Args[len(n.Args)-1]).(*ast.UnaryExpr); is {
				c.mark(c.variable(to.X))
				c.markFields(c.TypesInfo.TypeOf(to.X), 0)
			}
		}
	}
}

// flow marks an object, if the value has an unbounded number of the input.
func (c *finder) flow(value ast.Expr, to types.Object) {
	if to != nil && !c.input[to] && len(c.open(value)) > 0 {
		c.mark(to)
	}
}

func (c *finder) mark(object types.Object) {
	if object == nil || c.input[object] {
		return
	}
	if _, is := object.(*types.Func); is || numeric(object.Type()) {
		c.input[object], c.changed = true, true
	}
}

// markFields marks the numbers of structs that a decoder fills.
func (c *finder) markFields(t types.Type, depth int) {
	if s, is := element(t).Underlying().(*types.Struct); is && depth < 5 {
		for f := range s.Fields() {
			c.mark(f)
			c.markFields(f.Type(), depth+1)
		}
	}
}

// element returns what pointers, lists and tables of a type have.
func element(t types.Type) types.Type {
	for {
		of, is := t.Underlying().(interface{ Elem() types.Type })
		if !is {
			return t
		}
		t = of.Elem()
	}
}

// numeric reports whether a type is numbers of more than 16 bits, or lists of them.
func numeric(t types.Type) bool {
	if t == nil {
		return false
	}
	b, is := element(t).Underlying().(*types.Basic)
	return is && b.Info()&types.IsNumeric != 0 &&
		!slices.Contains([]types.BasicKind{types.Int8, types.Uint8, types.Int16, types.Uint16}, b.Kind())
}

// variable returns the variable or field that an expression names, nil for none.
func (c *finder) variable(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.TypesInfo.ObjectOf(e)
	case *ast.SelectorExpr:
		return c.TypesInfo.ObjectOf(e.Sel)
	case *ast.IndexExpr:
		return c.variable(e.X)
	case *ast.StarExpr:
		return c.variable(e.X)
	}
	return nil
}

// callee returns the function that is called, and its name behind the path of its package.
func (c *finder) callee(call *ast.CallExpr) (name string, object types.Object) {
	f := ast.Unparen(call.Fun)
	if generic, is := f.(*ast.IndexExpr); is {
		f = generic.X
	}
	if object = c.variable(f); object == nil {
		return "", nil
	}
	if object.Pkg() == nil {
		return object.Name(), object
	}
	return object.Pkg().Path() + "." + object.Name(), object
}

// sizes returns the sizes of an allocation.
func (c *finder) sizes(call *ast.CallExpr) []ast.Expr {
	name, object := c.callee(call)
	if object == nil {
		return nil
	}
	if _, built := object.(*types.Builtin); built {
		if name == "make" {
			return call.Args[1:]
		}
		return nil
	}
	if _, is := object.(*types.Func); is && allocations.MatchString(object.Name()) {
		return call.Args
	}
	return nil
}

// open returns the numbers of the input in an expression that nothing bounds where it stands.
func (c *finder) open(e ast.Expr) (list []number) {
	at := c.Fset.Position(e.Pos())
	if lines := c.excused[at.Filename]; lines[at.Line] || lines[at.Line-1] {
		return nil
	}
	if list = c.numbers(e); len(list) == 0 {
		return nil
	}
	gate, bounded := c.bounds(e)
	if gate {
		return nil
	}
	return slices.DeleteFunc(list, func(n number) bool { return c.isBounded(n, bounded, 0) })
}

// isBounded reports whether a number is, or those that a variable was computed from.
func (c *finder) isBounded(n number, bounded map[types.Object]bool, depth int) bool {
	if n.of == nil || bounded[n.of] || bounded[n.root] {
		return n.of != nil
	}
	if v, is := n.of.(*types.Var); !is || v.IsField() || depth == 3 || len(c.values[n.of]) == 0 {
		return false
	}
	for _, value := range c.values[n.of] {
		for _, from := range c.numbers(value) {
			if !c.isBounded(from, bounded, depth+1) {
				return false
			}
		}
	}
	return true
}

// numbers returns the numbers of the input in an expression.
func (c *finder) numbers(e ast.Expr) []number {
	if c.TypesInfo.Types[e].Value != nil {
		return nil
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.StarExpr:
		if object := c.variable(e); c.input[object] {
			return []number{{object, object}}
		}
	case *ast.UnaryExpr:
		return c.numbers(e.X)
	case *ast.IndexExpr:
		return c.numbers(e.X)
	case *ast.SelectorExpr:
		object := c.variable(e)
		root := ast.Expr(e)
		for s, is := root.(*ast.SelectorExpr); is; s, is = root.(*ast.SelectorExpr) {
			root = s.X
		}
		if object != nil && (c.input[object] || object.Pkg() != nil && object.Pkg().Path() == "image" &&
			slices.Contains([]string{"Width", "Height"}, object.Name())) {
			return []number{{object, c.variable(root)}}
		}
	case *ast.BinaryExpr:
		x, y := c.numbers(e.X), c.numbers(e.Y)
		switch {
		case e.Op == token.SHR:
			return x
		case e.Op == token.REM && len(y) == 0, e.Op == token.AND && min(len(x), len(y)) == 0,
			!numeric(c.TypesInfo.TypeOf(e)):
			return nil
		}
		return slices.Concat(x, y)
	case *ast.CompositeLit:
		return c.all(e.Elts)
	case *ast.CallExpr:
		return c.returned(e)
	}
	return nil
}

// all returns the numbers of expressions.
func (c *finder) all(list []ast.Expr) (out []number) {
	for _, e := range list {
		out = append(out, c.numbers(e)...)
	}
	return out
}

// returned returns the numbers of what a call returns.
func (c *finder) returned(call *ast.CallExpr) []number {
	if c.TypesInfo.Types[call.Fun].IsType() {
		if !numeric(c.TypesInfo.TypeOf(call)) {
			return nil
		}
		return c.all(call.Args)
	}
	name, object := c.callee(call)
	switch {
	case name == "min":
		for _, e := range call.Args {
			if len(c.numbers(e)) == 0 {
				return nil
			}
		}
		return c.all(call.Args)
	case name == "max", name == "append", strings.HasPrefix(name, "math."),
		strings.HasPrefix(name, "slices."):
		return c.all(call.Args)
	case sources.MatchString(name), c.input[object]:
		return []number{{}}
	}
	return nil
}

// bounds looks at what has run whenever a node is reached: the statements before it in the blocks
// around it, without their own blocks, and the conditions around it. It returns whether a gate was
// passed, and the variables and fields that were compared or checked.
func (c *finder) bounds(n ast.Node) (gate bool, bounded map[types.Object]bool) {
	bounded = map[types.Object]bool{}
	var look func(ast.Node)
	look = func(n ast.Node) {
		if n == nil {
			return
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				_, cases := c.parents[n].(*ast.SwitchStmt)
				return cases
			case *ast.CaseClause:
				for _, e := range n.List {
					look(e)
				}
				return false
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				gate = gate || c.isGate(n)
			}
			c.bound(n, bounded)
			return true
		})
	}
	for child, parent := n, c.parents[n]; parent != nil; child, parent = parent, c.parents[parent] {
		var before []ast.Stmt
		switch p := parent.(type) {
		case *ast.BlockStmt:
			before = p.List
		case *ast.CaseClause:
			before = p.Body
			for _, e := range p.List {
				look(e)
			}
		case *ast.IfStmt:
			if child == p.Body || child == p.Else {
				look(p.Init)
				look(p.Cond)
			}
		case *ast.ForStmt:
			look(p.Init)
			look(p.Cond)
		case *ast.SwitchStmt:
			look(p.Init)
		case *ast.FuncDecl:
			delete(bounded, nil)
			return gate, bounded
		}
		for _, s := range before {
			if s == child {
				break
			}
			look(s)
		}
	}
	delete(bounded, nil)
	return gate, bounded
}

// isGate reports whether a call refuses requests beyond the memory limit.
func (c *finder) isGate(call *ast.CallExpr) bool {
	name, object := c.callee(call)
	return object != nil && (c.gates[object] || gates.MatchString(name))
}

// bound adds the numbers that a node bounds: by a comparison with what is not from input, by a
// value that is not, or by a function that checks them.
func (c *finder) bound(n ast.Node, bounded map[types.Object]bool) {
	add := func(e ast.Expr) {
		for _, n := range c.numbers(e) {
			bounded[n.of] = true
			for _, value := range c.values[n.of] {
				for _, from := range c.numbers(value) {
					bounded[from.of] = true
				}
			}
		}
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if !slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR,
			token.GEQ}, n.Op) {
			return
		}
		for _, pair := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
			v := c.TypesInfo.Types[pair[1]].Value
			if len(c.numbers(pair[0])) > 0 && len(c.numbers(pair[1])) == 0 &&
				(v == nil || constant.Compare(v, token.GTR, constant.MakeInt64(1))) {
				add(pair[0])
			}
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if object := c.variable(to); len(n.Lhs) == len(n.Rhs) && len(c.numbers(n.Rhs[i])) == 0 {
				bounded[object] = true
			}
		}
	case *ast.CallExpr:
		if _, object := c.callee(n); object == nil || !checks.MatchString(object.Name()) {
			return
		}
		for _, e := range n.Args {
			bounded[c.variable(e)] = true
			add(e)
		}
		if method, is := n.Fun.(*ast.SelectorExpr); is {
			bounded[c.variable(method.X)] = true
		}
	}
}
