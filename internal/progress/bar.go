//go:build !purego

package progress

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/mustlink/mustlink/internal/session"
)

// bar draws with mpb, which adapts to the width of the terminal.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	shown     atomic.Pointer[session.Shown]
}

// steps is the length of the bar.
const steps = 1000

// New returns a bar on a terminal, or a line if the width of its window is unknown.
func New(w io.Writer) session.Bar {
	if f, ok := w.(*os.File); ok {
		if width, _, err := cwriter.GetSize(int(f.Fd())); err != nil || width <= 0 {
			return &line{w: w}
		}
	}
	b := &bar{}
	b.shown.Store(&session.Shown{Begin: time.Now()})
	b.container = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(100*time.Millisecond))
	b.bar = b.container.AddBar(steps,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return b.shown.Load().Stage },
			decor.WC{W: 32, C: decor.DindentRight})),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			return " " + b.shown.Load().String()
		})),
	)
	return b
}

func (b *bar) Show(s session.Shown) {
	b.shown.Store(&s)
	b.bar.SetCurrent(int64(steps * s.Share))
}

func (b *bar) Clear() {
	b.bar.Abort(true)
	b.container.Wait()
}
