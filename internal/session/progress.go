package session

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/internal/usage"
)

// Bar draws the progress of a command on a terminal; package progress has some.
type Bar interface {
	Show(s Shown)
	// Clear removes the bar from the screen; it is the last call.
	Clear()
}

// Shown is how far a command is.
type Shown struct {
	Stage string
	Share float64   // of the work that is done, from 0 to 1; 0 also if nothing is known
	Begin time.Time // of the command
	End   time.Time // if the rest of the work takes as long as its share so far; zero for unknown
}

// String writes the share, the time so far and the time left.
func (s Shown) String() string {
	text := time.Since(s.Begin).Round(time.Second).String()
	if s.Share > 0 {
		text = fmt.Sprintf("%d%% %s", int(100*s.Share), text)
	}
	if left := time.Until(s.End).Round(time.Second); left > 0 {
		text += ", " + left.String() + " left"
	}
	return text
}

// course is the one bar of a command, and how far the work is. The bar appears with the first
// report, only on a terminal, and not with --quiet or --json.
type course struct {
	mu     sync.Mutex
	open   int // Progress values that are not done
	wanted bool
	bar    Bar // nil while there is none on the screen
	now    Shown
	from   float64 // shares of the command before and after the part that runs
	to     float64
}

// whileWorking is the largest share that is shown before a command is done.
const whileWorking = 0.99

// Progress is work of a command: all of it for the first one, and for one that begins before
// others are done the part of these that runs.
type Progress struct {
	s        *Session
	at, next float64 // shares of the command before the part that runs, and after it
	end      float64 // after all parts
	done     bool
}

// Progress begins work. Its share of the command is that of the part that runs.
func (s *Session) Progress() *Progress {
	c := &s.course
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open++; c.open == 1 {
		c.wanted = s.NewBar != nil && !s.Quiet && !s.JSON && usage.IsTerminal(s.Stderr)
		c.now, c.from, c.to = Shown{Begin: time.Now()}, 0, 1
	}
	at := max(c.from, min(c.now.Share, c.to))
	return &Progress{s: s, at: at, next: at, end: c.to}
}

// Part begins the next part of the work: this share, from 0 to 1, of what is left of it.
func (p *Progress) Part(share float64) {
	p.at = p.next
	p.Resize(share)
}

// Resize changes the share of the part that runs, of what was left when it began.
func (p *Progress) Resize(share float64) {
	p.next = p.end - (1-share)*(p.end-p.at)
	c := &p.s.course
	c.mu.Lock()
	defer c.mu.Unlock()
	c.from, c.to = p.at, p.next
}

// Report is an algorithms.ProgressFunc about the part that runs. The share never falls.
func (p *Progress) Report(r algorithms.Progress) {
	c := &p.s.course
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.wanted || p.done {
		return
	}
	share := c.from
	if r.Total > 0 {
		share += (c.to - c.from) * min(1, float64(r.Done)/float64(r.Total))
	}
	c.show(p.s, r.Stage, min(share, whileWorking))
}

// show shows a share, or the one before if that is larger.
func (c *course) show(s *Session, stage string, share float64) {
	c.now.Stage, c.now.Share = stage, max(c.now.Share, share)
	if c.now.Share > 0 {
		whole := float64(time.Since(c.now.Begin)) / c.now.Share
		c.now.End = c.now.Begin.Add(time.Duration(min(whole, math.MaxInt64/2)))
	}
	if c.bar == nil {
		c.bar = s.NewBar(s.Stderr)
	}
	c.bar.Show(c.now)
}

// Stages returns an algorithms.ProgressFunc about work whose stages count steps of their own: each
// is a part with its share, as in [Progress.Part], and those after the last of these are one part.
func (p *Progress) Stages(shares ...float64) func(algorithms.Progress) {
	stage := ""
	return func(r algorithms.Progress) {
		if r.Stage != stage && len(shares) > 0 {
			p.Part(shares[0])
			stage, shares = r.Stage, shares[1:]
		}
		p.Report(r)
	}
}

// Step reports which of several parts of the work is running.
func (p *Progress) Step(done, total int, name string) {
	p.Report(algorithms.Progress{Stage: name, Done: done, Total: total, Objective: math.NaN(),
		Residual: math.NaN()})
}

// Done ends the work, and with the first Progress of a command its bar. It may be called twice:
// once before printing and once deferred.
func (p *Progress) Done() {
	c := &p.s.course
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.done {
		return
	}
	p.done = true
	c.now.Share = max(c.now.Share, min(p.end, whileWorking))
	if c.open--; c.open == 0 && c.bar != nil {
		c.show(p.s, c.now.Stage, 1)
		c.bar.Clear()
		c.bar = nil
	}
}

// aside writes to the terminal with the bar out of the way.
func (c *course) aside(s *Session, write func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown := c.bar != nil
	if shown {
		c.bar.Clear()
		c.bar = nil
	}
	if write(); shown {
		c.show(s, c.now.Stage, 0)
	}
}
