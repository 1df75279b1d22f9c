//go:build !purego

package progress

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/internal/session"
)

// bar draws with mpb, which adapts to the width of the terminal.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	stage     atomic.Value // string
}

// New returns a bar on a terminal.
func New(w io.Writer) session.Bar {
	b := &bar{}
	b.stage.Store("")
	b.container = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(100*time.Millisecond))
	b.bar = b.container.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(
			decor.Any(func(decor.Statistics) string {
				return b.stage.Load().(string)
			}, decor.WC{W: 32, C: decor.DindentRight}),
		),
		mpb.AppendDecorators(
			decor.Any(percent, decor.WC{W: 5}),
			decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6}),
		),
	)
	return b
}

// fine is the number of steps of the bar for each step of the work.
const fine = 1000

// percent is empty if the number of steps is not known.
func percent(s decor.Statistics) string {
	if s.Total <= 1 {
		return ""
	}
	return fmt.Sprintf("%d%%", 100*s.Current/(s.Total-1))
}

func (b *bar) Show(p algorithms.Progress) {
	b.stage.Store(p.Stage)
	// mpb removes a complete bar: keep one fine step in a thousand undone.
	b.bar.SetTotal(fine*int64(p.Total)+1, false)
	b.bar.SetCurrent(fine * int64(p.Done))
}

func (b *bar) Clear() {
	b.bar.Abort(true)
	b.container.Wait()
}
