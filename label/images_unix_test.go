//go:build unix

package label

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in the folder of pictures is refused, and nobody waits for its other end.
func TestPipeAsImage(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "0.png"), 0o600); err != nil {
		t.Skip(err)
	}
	o := blobs(t, 30, filepath.Join(dir, "links.csv"))
	var err error
	if o.Images, err = NewImages(dir, func(int) string { return "0.png" }); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := request(start(t, o), "GET", "/"+annKey+"/image/0", ""); code != 404 {
		t.Errorf("status %d, want 404", code)
	}
}
