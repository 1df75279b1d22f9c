//go:build purego

package session

import (
	"fmt"
	"io"
	"time"

	"github.com/mustlink/mustlink/algorithms"
)

// plainBar rewrites one line. The pure-Go build has it in place of mpb, which brings
// assembly stubs for system calls.
type plainBar struct {
	w     io.Writer
	shown time.Time
	stage string
	width int // runes on the line
}

func newBar(w io.Writer) bar { return &plainBar{w: w} }

func (b *plainBar) show(p algorithms.Progress) {
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

func (b *plainBar) clear() { fmt.Fprintf(b.w, "\r%*s\r", b.width, "") }
