package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// entry is a file of an archive. Its name has slashes and no leading one.
type entry struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// tree returns the files below a folder, with names below prefix and mode 0644.
func tree(folder, prefix string) ([]entry, error) {
	var list []entry
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(folder, name)
		list = append(list, entry{path.Join(prefix, filepath.ToSlash(below)), 0o644, content})
		return err
	})
	return list, err
}

func sorted(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries),
		func(a, b entry) int { return cmp.Compare(a.name, b.name) })
}

// writeTar writes the files in the order of names, as those of user 0, without names of users.
func writeTar(w io.Writer, entries []entry, when time.Time) error {
	t := tar.NewWriter(w)
	for _, e := range sorted(entries) {
		h := &tar.Header{Name: e.name, Mode: int64(e.mode), Size: int64(len(e.content)), ModTime: when,
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.content); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeTarGz(w io.Writer, entries []entry, when time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeTar(z, entries, when); err != nil {
		return err
	}
	return z.Close()
}

func writeZip(w io.Writer, entries []entry, when time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range sorted(entries) {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when.UTC()}
		h.SetMode(e.mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.content); err != nil {
			return err
		}
	}
	return z.Close()
}

// toFile writes an archive with one of the functions above.
func toFile(name string, entries []entry, when time.Time,
	write func(io.Writer, []entry, time.Time) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f, entries, when); err != nil {
		return err
	}
	return f.Close()
}

// copyFile copies a file as one with mode 0644, and makes its folder.
func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
