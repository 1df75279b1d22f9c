package session

import (
	"math"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/internal/usage"
)

// Bar shows the progress of one piece of work on a terminal; package progress draws it.
type Bar interface {
	Show(p algorithms.Progress)
	// Clear removes the bar from the screen; it is the last call.
	Clear()
}

// Progress is a bar that appears with the first report, only on a terminal, and not with --quiet or
// --json.
type Progress struct {
	mu      sync.Mutex
	wanted  bool
	bar     Bar
	newBar  func() Bar
	cleared bool
}

// Progress returns the bar of one piece of work.
func (s *Session) Progress() *Progress {
	return &Progress{
		wanted: s.NewBar != nil && !s.Quiet && !s.JSON && usage.IsTerminal(s.Stderr),
		newBar: func() Bar { return s.NewBar(s.Stderr) },
	}
}

// Report is an algorithms.ProgressFunc.
func (p *Progress) Report(r algorithms.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted || p.cleared {
		return
	}
	if p.bar == nil {
		p.bar = p.newBar()
	}
	p.bar.Show(r)
}

// Step reports which of several parts of the work is running.
func (p *Progress) Step(done, total int, name string) {
	p.Report(algorithms.Progress{Stage: name, Done: done, Total: total, Objective: math.NaN(), Residual: math.NaN()})
}

// Done removes the bar. It may be called twice: once before printing and once deferred.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && !p.cleared {
		p.bar.Clear()
	}
	p.cleared = true
}
