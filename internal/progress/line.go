package progress

import (
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/mustlink/mustlink/internal/session"
)

// line rewrites one line: in windows of unknown size, and in the pure-Go build.
type line struct {
	w     io.Writer
	shown time.Time
	stage string
	width int // runes on the line
}

func (l *line) Show(s session.Shown) {
	if s.Stage == l.stage && time.Since(l.shown) < 100*time.Millisecond {
		return
	}
	l.shown, l.stage = time.Now(), s.Stage
	text := s.Stage + " " + s.String()
	fmt.Fprintf(l.w, "\r%-*s", l.width, text)
	l.width = max(l.width, utf8.RuneCountInString(text))
}

func (l *line) Clear() { fmt.Fprintf(l.w, "\r%*s\r", l.width, "") }
