package main

import (
	"sync"

	"github.com/mustlink/mustlink/algorithms"
)

// bar shows the progress of one piece of work on a terminal. The two implementations are
// chosen by build: newBar makes one.
type bar interface {
	show(p algorithms.Progress)
	// clear removes the bar from the screen; nothing may follow.
	clear()
}

// progress is a bar that appears with the first report and only where one is wanted: on a
// terminal, without --quiet and --json.
type progress struct {
	mu      sync.Mutex
	wanted  bool
	bar     bar
	newBar  func() bar
	cleared bool
}

func (a *app) progress() *progress {
	return &progress{
		wanted: !a.quiet && !a.json && isTerminal(a.stderr),
		newBar: func() bar { return newBar(a.stderr) },
	}
}

// report is an algorithms.ProgressFunc.
func (p *progress) report(r algorithms.Progress) {
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

// done removes the bar. It may be called twice: once before printing and once deferred.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && !p.cleared {
		p.bar.clear()
	}
	p.cleared = true
}
