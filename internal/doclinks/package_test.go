// Package doclinks checks doc comments as go doc prints them: every exported name has one, and the
// names in its square brackets exist.
package doclinks

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// Package is a package with its doc comments.
type Package struct {
	doc   *doc.Package
	names map[string]bool // "Name", "Type.Method" and, of interfaces and structs, "Type.Member"
}

// Load reads the package in a folder, in the default build.
func Load(folder, importPath string) (*Package, error) {
	found, err := build.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range append(found.GoFiles, found.CgoFiles...) {
		file, err := parser.ParseFile(files, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	d, err := doc.NewFromFiles(files, parsed, importPath)
	if err != nil {
		return nil, err
	}
	p := &Package{doc: d, names: map[string]bool{}}
	p.each(func(name, _ string, _ int) { p.names[name] = true })
	for _, t := range d.Types {
		for _, member := range members(t.Decl.Specs[0].(*ast.TypeSpec)) {
			for _, name := range member.Names {
				p.names[t.Name+"."+name.Name] = true
			}
		}
	}
	return p, nil
}

// members returns the methods of an interface or the fields of a struct.
func members(t *ast.TypeSpec) []*ast.Field {
	switch under := t.Type.(type) {
	case *ast.InterfaceType:
		return under.Methods.List
	case *ast.StructType:
		return under.Fields.List
	}
	return nil
}

// Kinds of exported names: what has a comment of its own, and what a group may describe.
const (
	declared = iota
	grouped
)

// sentence is the first paragraph of a comment that ends as prose does, or in a formula.
var sentence = regexp.MustCompile(`^([^\n]|\n[^\n])*([.:)]\n(\n|$)|\n\n\t)`)

// each calls f for every exported name and its comment. Constants and variables come with the
// comment of their group before their own.
func (p *Package) each(f func(name, text string, kind int)) {
	functions := func(list []*doc.Func, before string) {
		for _, each := range list {
			f(before+each.Name, each.Doc, declared)
		}
	}
	values := func(list []*doc.Value) {
		for _, group := range list {
			for _, spec := range group.Decl.Specs {
				value := spec.(*ast.ValueSpec)
				for _, name := range value.Names {
					f(name.Name, group.Doc+value.Doc.Text()+value.Comment.Text(), grouped)
				}
			}
		}
	}
	values(p.doc.Consts)
	values(p.doc.Vars)
	functions(p.doc.Funcs, "")
	for _, t := range p.doc.Types {
		f(t.Name, t.Doc, declared)
		values(t.Consts)
		values(t.Vars)
		functions(t.Funcs, "")
		functions(t.Methods, t.Name+".")
	}
}

// bare is a name in square brackets that stays text, because no such name exists.
var bare = regexp.MustCompile(`\[\*?(\w+\.)?[A-Z]\w*(\.[A-Z]\w*)?\]`)

// Check returns the faults of the comments of a package; all are the packages that links may lead
// to, by import path.
func (p *Package) Check(all map[string]*Package) []string {
	var faults []string
	add := func(where, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s, %s: ", p.doc.ImportPath, where)+fmt.Sprintf(format, args...))
	}
	look := func(where, text string) {
		eachText(p.doc.Parser().Parse(text), func(t comment.Text) {
			switch t := t.(type) {
			case comment.Plain:
				for _, name := range bare.FindAllString(string(t), -1) {
					add(where, "%s leads to nothing", name)
				}
			case *comment.DocLink:
				// Package doc has looked for the names of the package itself.
				name := strings.TrimPrefix(t.Recv+"."+t.Name, ".")
				if to := all[t.ImportPath]; to != nil && t.ImportPath != p.doc.ImportPath && t.Name != "" && !to.names[name] {
					add(where, "[%s] of %s is not there", name, to.doc.ImportPath)
				}
			}
		})
	}
	if p.doc.Doc == "" {
		add("package", "no comment")
	}
	look("package", p.doc.Doc)
	p.each(func(name, text string, kind int) {
		switch own := name[strings.LastIndex(name, ".")+1:]; {
		case text == "" && wellKnown.MatchString(name):
		case text == "":
			add(name, "no comment")
		case kind == declared && !strings.HasPrefix(text, own+" ") && !strings.HasPrefix(text, own+", "):
			add(name, "the comment does not begin with the name")
		case kind == declared && !sentence.MatchString(text):
			add(name, "the comment does not begin with a full sentence")
		}
		look(name, text)
	})
	return faults
}

// wellKnown are methods of interfaces of the standard library, which document them.
var wellKnown = regexp.MustCompile(`\.(Error|Unwrap|String|Is)$`)

// eachText calls f for every piece of text, including those of links.
func eachText(d *comment.Doc, f func(comment.Text)) {
	for _, block := range d.Content {
		eachOfBlock(block, f)
	}
}

func eachOfBlock(block comment.Block, f func(comment.Text)) {
	var texts []comment.Text
	switch b := block.(type) {
	case *comment.Paragraph:
		texts = b.Text
	case *comment.Heading:
		texts = b.Text
	case *comment.List:
		for _, item := range b.Items {
			for _, inner := range item.Content {
				eachOfBlock(inner, f)
			}
		}
	}
	for _, t := range texts {
		f(t)
	}
}
