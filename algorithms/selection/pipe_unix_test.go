//go:build unix

package selection

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// A named pipe as the state file is refused at once: nobody may ever write to it.
func TestPipeIsNoState(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Candidates, o.State = candidates("rca"), filepath.Join(t.TempDir(), "state")
	if err := syscall.Mkfifo(o.State, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Select(context.Background(), enginetest.New(t, 1), x, set, o); !fault.IsInput(err) ||
		!strings.HasPrefix(err.Error(), o.State+": ") {
		t.Errorf("error %v", err)
	}
}
