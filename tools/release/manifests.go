package main

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed templates
var templates embed.FS

// manifests fills the Homebrew formula and the Scoop manifest, whose platforms must be among those
// that were built.
func (r *release) manifests() error {
	_, sums, err := r.hashes()
	if err != nil {
		return err
	}
	for name, platforms := range map[string][]string{
		"mustlink.rb":   {"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"},
		"mustlink.json": {"windows/amd64"},
	} {
		data := map[string]any{"Version": r.version, "Home": home}
		missing := ""
		for _, p := range platforms {
			if sums[r.archive(p)] == "" {
				missing = p
			}
		}
		if missing != "" {
			say("no %s: %s was not built", name, missing)
			continue
		}
		t, err := template.New(name).Funcs(template.FuncMap{
			"file": r.archiveName, "archive": r.archive,
			"sum": func(p string) string { return sums[r.archive(p)] },
		}).ParseFS(templates, "templates/"+name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.files, name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
