//go:build unix

package shard_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/fault"
)

// A named pipe is no shard: a job opens its files several times, and waiting for a writer may have
// no end.
func TestPipeIsNoShard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part-0.csv")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := shard.Plan(t.Context(), path, shard.Options{Rows: 10}); !fault.IsInput(err) ||
		!strings.HasPrefix(err.Error(), path+": it is a folder, a pipe or a device") {
		t.Errorf("error %v", err)
	}
}
