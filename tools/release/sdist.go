package main

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// sdist writes the source archive for pip: the Python package and the Go sources of the library,
// which setup.py compiles. Its PKG-INFO is the METADATA of the wheel.
func (r *release) sdist(wheel string) error {
	name := "mustlink-" + pythonVersion(r.version)
	entries, err := tree(filepath.Join(r.work, "python"), name)
	if err != nil {
		return err
	}
	metadata, err := metadataOf(wheel)
	if err != nil {
		return err
	}
	entries = append(entries, entry{name + "/PKG-INFO", 0o644, metadata})
	files, err := r.sources()
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(r.clone, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		entries = append(entries, entry{name + "/go/" + file, 0o644, content})
	}
	if err := toFile(filepath.Join(r.files, name+".tar.gz"), entries, r.when, writeTarGz); err != nil {
		return err
	}
	say("%s", name+".tar.gz")
	return nil
}

// metadataOf returns the METADATA of a wheel.
func metadataOf(wheel string) ([]byte, error) {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	for _, f := range z.File {
		if path.Base(f.Name) == "METADATA" {
			content, err := f.Open()
			if err != nil {
				return nil, err
			}
			defer content.Close()
			return io.ReadAll(content)
		}
	}
	return nil, fmt.Errorf("%s has no METADATA", filepath.Base(wheel))
}

// sources are the files, relative to the clone, of which the library is built on any platform:
// those of its packages without tests, and what they embed.
func (r *release) sources() ([]string, error) {
	list := []string{"go.mod", "go.sum"}
	packages, err := r.output(r.clone, []string{"GOFLAGS=", "CGO_ENABLED=1"}, "go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{.Dir}}{{range .EmbedFiles}} {{.}}{{end}}{{end}}{{end}}`,
		"./cmd/libmustlink")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(packages) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		below, err := filepath.Rel(r.clone, fields[0])
		if err != nil {
			return nil, err
		}
		folder := filepath.ToSlash(below)
		entries, err := os.ReadDir(fields[0])
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && !strings.HasSuffix(e.Name(), "_test.go") {
				list = append(list, path.Join(folder, e.Name()))
			}
		}
		for _, embedded := range fields[1:] {
			if strings.Contains(embedded, "/") { // the others are in the list already
				list = append(list, path.Join(folder, embedded))
			}
		}
	}
	return list, nil
}
