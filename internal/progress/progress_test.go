package progress

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/session"
)

// TestBar draws the bar of this build; it must not hang or leave text behind the cursor.
func TestBar(t *testing.T) {
	var w clitest.Buffer
	b := New(&w)
	for i := range 3 {
		b.Show(session.Shown{Stage: "kernel matrix", Share: float64(i) / 2, Begin: time.Now()})
	}
	b.Clear()
}

// TestNoWindow: a file has no window whose width a bar could fill.
func TestNoWindow(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "bar"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, is := New(f).(*line); !is {
		t.Error("a bar on a file: want a line")
	}
}

// TestLine: the line has the share and the times, and is erased.
func TestLine(t *testing.T) {
	var w clitest.Buffer
	l := &line{w: &w}
	begin := time.Now().Add(-10 * time.Second)
	l.Show(session.Shown{Stage: "verdict", Share: 0.25, Begin: begin, End: begin.Add(40 * time.Second)})
	text := strings.TrimPrefix(w.String(), "\r")
	if !strings.HasPrefix(text, "verdict 25% 10s, 30s left") && !strings.HasPrefix(text, "verdict 25% 11s") {
		t.Errorf("line %q", text)
	}
	l.shown = time.Now().Add(time.Hour) // the line has been written too lately
	l.Show(session.Shown{Stage: "verdict", Share: 0.5, Begin: begin})
	if strings.Contains(w.String(), "50%") {
		t.Errorf("line %q: want none so soon", w.String())
	}
	l.Show(session.Shown{Stage: "n", Begin: begin})
	if !strings.Contains(w.String(), "\rn ") {
		t.Errorf("line %q: want the new stage at once", w.String())
	}
	l.Clear()
	if rest := w.String(); !strings.HasSuffix(rest, fmt.Sprintf("\r%*s\r", len(text), "")) {
		t.Errorf("%q is left", rest)
	}
}
