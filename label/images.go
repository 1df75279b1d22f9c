package label

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
)

// Images are the pictures of rows, files below one folder.
type Images struct {
	root *os.Root
	path func(row int) string
}

// NewImages returns the pictures of rows: path returns the path of a row's picture below the
// folder, with slashes, and "" for a row without one. A path that leaves the folder, also by a
// symbolic link, cannot be read.
func NewImages(folder string, path func(row int) string) (*Images, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	return &Images{root, path}, nil
}

// Exists reports whether the folder has a file of this name.
func (m *Images) Exists(path string) bool {
	info, err := m.root.Stat(filepath.FromSlash(path))
	return err == nil && info.Mode().IsRegular()
}

// imageTypes are the types that browsers draw and that have no scripts. SVG has.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}

// imageBytes is the largest picture that is served.
const imageBytes = 64 << 20

var (
	errImage = errors.New("the picture of this row cannot be read, or is outside the folder")
	errType  = errors.New("the file is no PNG, JPEG, GIF, WebP or BMP picture of at most 64 MiB")
)

// serve writes the picture of a row.
func (m *Images) serve(w http.ResponseWriter, row int) error {
	path := filepath.FromSlash(m.path(row))
	info, err := m.root.Stat(path) // before it is opened: opening a pipe would wait
	if err != nil || !info.Mode().IsRegular() {
		return errImage
	}
	if info.Size() > imageBytes {
		return errType
	}
	f, err := m.root.Open(path)
	if err != nil {
		return errImage
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return errType
	}
	kind := http.DetectContentType(head[:n])
	if !slices.Contains(imageTypes, kind) {
		return errType
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if _, err := w.Write(head[:n]); err == nil {
		io.Copy(w, io.LimitReader(f, imageBytes)) // an error is the end of the connection
	}
	return nil
}
