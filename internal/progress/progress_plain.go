//go:build purego

package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/internal/session"
)

// bar rewrites one line. The pure-Go build uses it instead of mpb, which brings assembly stubs for
// system calls.
type bar struct {
	w     io.Writer
	shown time.Time
	stage string
	width int // runes on the line
}

// New returns a bar on a terminal.
func New(w io.Writer) session.Bar { return &bar{w: w} }

func (b *bar) Show(p algorithms.Progress) {
	if p.Stage == b.stage && time.Since(b.shown) < 100*time.Millisecond {
		return
	}
	b.shown, b.stage = time.Now(), p.Stage
	line := p.Stage
	if p.Total > 0 {
		line += fmt.Sprintf(" %d%%", 100*p.Done/p.Total)
	}
	line += fmt.Sprintf(" %s", p.Elapsed.Round(100*time.Millisecond))
	fmt.Fprintf(b.w, "\r%-*s", b.width, line)
	b.width = max(b.width, len(line))
}

func (b *bar) Clear() { fmt.Fprintf(b.w, "\r%*s\r", b.width, "") }
