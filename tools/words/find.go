package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// skipped are folders that people do not write, and files that are not looked at.
var skipped = append([]string{"bin", "docs/results", "tools/words/words_test.go"}, generated...)

// find returns the pages and help topics below a folder, or its Go files.
func find(root string, code bool) ([]string, error) {
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if name != "." && (strings.HasPrefix(base, ".") || base == "testdata" ||
			slices.Contains(skipped, name)) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		ext := path.Ext(name)
		topic := ext == ".txt" && path.Base(path.Dir(name)) == "topics"
		if !d.IsDir() && (code && ext == ".go" || !code && (ext == ".md" || topic)) {
			files = append(files, filepath.Join(root, filepath.FromSlash(name)))
		}
		return nil
	})
	return files, err
}
