package session

import (
	"math"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/internal/usage"
)

// bar shows the progress of one piece of work on a terminal. The two implementations are
// chosen by build: newBar makes one.
type bar interface {
	show(p algorithms.Progress)
	// clear removes the bar from the screen; nothing may follow.
	clear()
}

// Progress is a bar that appears with the first report and only where one is wanted: on a
// terminal, without --quiet and --json.
type Progress struct {
	mu      sync.Mutex
	wanted  bool
	bar     bar
	newBar  func() bar
	cleared bool
}

// Progress returns the bar of one piece of work.
func (s *Session) Progress() *Progress {
	return &Progress{
		wanted: !s.Quiet && !s.JSON && usage.IsTerminal(s.Stderr),
		newBar: func() bar { return newBar(s.Stderr) },
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
	p.bar.show(r)
}

// Step shows which of several parts of the work is under way.
func (p *Progress) Step(done, total int, name string) {
	p.Report(algorithms.Progress{Stage: name, Done: done, Total: total, Objective: math.NaN(), Residual: math.NaN()})
}

// Done removes the bar. It may be called twice: once before printing and once deferred.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && !p.cleared {
		p.bar.clear()
	}
	p.cleared = true
}
