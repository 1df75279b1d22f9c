package view_test

import (
	"bytes"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/view"
)

// TestNoTemporaryFolder: a PDF whose typefaces cannot be prepared is an error, in a process that
// has not prepared any.
func TestNoTemporaryFolder(t *testing.T) {
	const inside = "MUSTLINK_TEST_NO_TEMPORARY_FOLDER"
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		missing := filepath.Join(t.TempDir(), "missing")
		cmd.Env = append(os.Environ(), inside+"=1", "TMPDIR="+missing, "TMP="+missing)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	log.SetOutput(io.Discard) // the canvas writes there before it panics
	var b bytes.Buffer
	err := view.Write(&b, "pdf", view.Size{}, &view.Lines{Title: "a title"})
	if err == nil || !strings.Contains(err.Error(), "temporary files") ||
		!strings.Contains(err.Error(), "missing") {
		t.Errorf("error %v: want one that names the folder", err)
	}
	if b.Len() > 0 {
		t.Errorf("%d bytes were written", b.Len())
	}
}
