package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// key matches a JSON key in a struct tag. Keys belong to file formats and may have any words.
var key = regexp.MustCompile(`json:"[^"]*"`)

// checkGo returns the findings in the comments, strings and declared names of a Go file.
func checkGo(name, content string) ([]finding, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, content, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var found []finding
	text := func(pos token.Pos, s string, rules []rule) {
		found = append(found, search(passage{files.Position(pos).Line, s}, rules)...)
	}
	for _, group := range file.Comments {
		text(group.Pos(), source(content, files, group), textRules)
		if strings.HasPrefix(group.Text(), "Output:") { // go test compares its lines
			continue
		}
		for _, c := range group.List {
			// The head of a generated file is one line that tools recognize.
			if !strings.HasPrefix(c.Text, "//go:") && !strings.HasPrefix(c.Text, "// Code generated ") {
				found = append(found, long(passage{files.Position(c.Pos()).Line, c.Text})...)
			}
		}
	}
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			tags[n.Tag] = true
		case *ast.BasicLit:
			value := n.Value
			if tags[n] {
				value = key.ReplaceAllString(value, "")
			}
			// A string without a space is a key, a name of a file or an input.
			if n.Kind == token.STRING && strings.Contains(value, " ") {
				text(n.Pos(), strings.ReplaceAll(value, `\n`, "  "), textRules)
			}
		}
		for _, id := range declared(n) {
			text(id.Pos(), id.Name, nameRules)
		}
		return true
	})
	slices.SortStableFunc(found, func(a, b finding) int { return a.line - b.line })
	return found, nil
}

// source returns a group of comments as it stands in the file.
func source(content string, files *token.FileSet, group *ast.CommentGroup) string {
	return content[files.Position(group.Pos()).Offset:files.Position(group.End()).Offset]
}

// declared returns the names that a node declares.
func declared(n ast.Node) []*ast.Ident {
	switch n := n.(type) {
	case *ast.File:
		return []*ast.Ident{n.Name}
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.ValueSpec:
		return n.Names
	case *ast.Field:
		return n.Names
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return identifiers(n.Lhs)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			return identifiers([]ast.Expr{n.Key, n.Value})
		}
	}
	return nil
}

// identifiers returns the expressions that are names.
func identifiers(list []ast.Expr) []*ast.Ident {
	var found []*ast.Ident
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			found = append(found, id)
		}
	}
	return found
}
