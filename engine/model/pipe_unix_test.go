//go:build unix

package model

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

// A named pipe is refused at once: nobody may ever write to it.
func TestPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.mlk")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); !fault.IsInput(err) ||
		!strings.HasPrefix(err.Error(), path+": it is a folder, a pipe or a device") {
		t.Errorf("error %v", err)
	}
}
