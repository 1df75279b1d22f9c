package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// Module is the path of the module; the lines omit it.
const Module = "github.com/mustlink/mustlink"

// Promised are the packages whose exported names later versions keep, by their paths in the module.
var Promised = map[string]Part{
	"": Whole, "engine/links": Whole, "engine/score": Whole, "engine/fault": Whole,
	"algorithms/krca": Parameters, "algorithms/kbeta": Parameters, "algorithms/npkl": Parameters,
	"algorithms/lleratio": Parameters,
	"algorithms/gml":      Parameters, "algorithms/baseline/itml": Parameters,
}

// Part is the promised part of a package.
type Part int

// The parts.
const (
	Whole Part = iota
	// Parameters are type Params with the types of its fields and its method Validate, function
	// DefaultParams, and the constants.
	Parameters
)

// Lines returns a line for every exported name of a part of pkg, for every exported field and
// method that is accessible without another package, and for the value of every constant.
func Lines(pkg *types.Package, part Part) []string {
	l := lister{pkg: pkg, part: part}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() || part == Parameters && !ofParameters(object) {
			continue
		}
		switch o := object.(type) {
		case *types.Const:
			l.add("const %s %s = %s", name, l.text(o.Type()), o.Val())
		case *types.Var:
			l.add("var %s %s", name, l.text(o.Type()))
		case *types.Func:
			l.add("func %s%s", name, l.signature(o))
		case *types.TypeName:
			l.named(o)
		}
	}
	slices.Sort(l.lines)
	return l.lines
}

// Names returns the number of names of packages that the lines declare: types, functions, variables
// and constants.
func Names(lines []string) int {
	names := map[string]bool{}
	for _, line := range lines {
		where, what, _ := strings.Cut(line, ", ")
		kind, name, _ := strings.Cut(what, " ")
		if kind != "method" {
			names[where+" "+name[:len(name)-len(strings.TrimLeft(name, letters))]] = true
		}
	}
	return len(names)
}

// letters are the first letters of exported names.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// ofParameters reports whether an object belongs to the parameters of a method.
func ofParameters(object types.Object) bool {
	switch o := object.(type) {
	case *types.Const:
		return true
	case *types.Func:
		return o.Name() == "DefaultParams"
	case *types.TypeName:
		params, ok := o.Pkg().Scope().Lookup("Params").(*types.TypeName)
		return ok && (o == params || isField(params.Type(), o.Type()))
	}
	return false
}

// isField reports whether a struct has a field of that type, possibly embedded.
func isField(of, t types.Type) bool {
	fields, ok := of.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range fields.NumFields() {
		if f := fields.Field(i); types.Identical(f.Type(), t) || f.Embedded() && isField(f.Type(), t) {
			return true
		}
	}
	return false
}

// lister collects the lines of one package.
type lister struct {
	pkg   *types.Package
	part  Part
	lines []string
}

func (l *lister) add(format string, args ...any) {
	where := strings.TrimPrefix(strings.TrimPrefix(l.pkg.Path(), Module), "/")
	if where == "" {
		where = "mustlink"
	}
	l.lines = append(l.lines, fmt.Sprintf("pkg %s, ", where)+fmt.Sprintf(format, args...))
}

// text writes a type with package names as they appear in the package itself.
func (l *lister) text(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == l.pkg {
			return ""
		}
		return strings.TrimPrefix(p.Path(), Module+"/")
	})
}

// signature writes a function's type without parameter names, which do not matter to callers.
func (l *lister) signature(f *types.Func) string {
	s := f.Type().(*types.Signature)
	bare := types.NewSignatureType(nil, nil, typeParams(s), anonymous(s.Params()), anonymous(s.Results()),
		s.Variadic())
	return strings.TrimPrefix(l.text(bare), "func")
}

// typeParams returns copies of type parameters, because those of s belong to it.
func typeParams(s *types.Signature) []*types.TypeParam {
	var list []*types.TypeParam
	for i := range s.TypeParams().Len() {
		p := s.TypeParams().At(i)
		list = append(list, types.NewTypeParam(p.Obj(), p.Constraint()))
	}
	return list
}

func anonymous(t *types.Tuple) *types.Tuple {
	var list []*types.Var
	for i := range t.Len() {
		list = append(list, types.NewParam(0, nil, "", t.At(i).Type()))
	}
	return types.NewTuple(list...)
}

// named writes a type, its exported fields and its methods.
func (l *lister) named(o *types.TypeName) {
	name := o.Name()
	if o.IsAlias() {
		l.add("type %s = %s", name, l.text(types.Unalias(o.Type())))
		// Types that other modules cannot import have no lines.
		if n, ok := types.Unalias(o.Type()).(*types.Named); ok &&
			strings.Contains(n.Obj().Pkg().Path(), "/internal/") {
			l.methods(name, n)
		}
		return
	}
	named := o.Type().(*types.Named)
	if p := named.TypeParams(); p.Len() > 0 {
		var list []string
		for i := range p.Len() {
			list = append(list, p.At(i).Obj().Name()+" "+l.text(p.At(i).Constraint()))
		}
		name += "[" + strings.Join(list, ", ") + "]"
	}
	switch under := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", name)
		for i := range under.NumFields() {
			if f := under.Field(i); f.Exported() {
				l.add("type %s struct, %s %s", o.Name(), f.Name(), l.text(f.Type()))
			}
		}
	case *types.Interface:
		l.add("type %s interface", name)
		for i := range under.NumMethods() {
			m := under.Method(i)
			if m.Exported() {
				l.add("type %s interface, %s%s", o.Name(), m.Name(), l.signature(m))
			} else {
				l.add("type %s interface, unexported method", o.Name())
			}
		}
		return
	default:
		l.add("type %s %s", name, l.text(under))
	}
	l.methods(o.Name(), named)
}

// methods writes all methods, including those of the pointer and of embedded fields.
func (l *lister) methods(name string, named *types.Named) {
	own := types.NewMethodSet(named)
	set := types.NewMethodSet(types.NewPointer(named))
	for i := range set.Len() {
		f := set.At(i).Obj().(*types.Func)
		if !f.Exported() || l.part == Parameters && f.Name() != "Validate" {
			continue
		}
		receiver := name
		if own.Lookup(l.pkg, f.Name()) == nil {
			receiver = "*" + name
		}
		l.add("method (%s) %s%s", receiver, f.Name(), l.signature(f))
	}
}
