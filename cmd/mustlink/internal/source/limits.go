package source

import (
	"fmt"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
)

// LinesOfBlock returns how many lines of labels or pairs are read at a time; one takes the memory
// of a row of 12 numbers.
func LinesOfBlock(s *session.Session) int { return catalog.BlockRows(12, int64(s.MemoryLimit)) }

// EntryBytes is about what one entry of a table of labels or names takes.
const EntryBytes = 150

// CheckCounts reports a table of labels that is too large.
func CheckCounts(eng *engine.Engine, t *score.Table) error {
	what := fmt.Sprintf("counts of %d labels and pairs of labels", t.Entries())
	return eng.Check(what, int64(t.Entries())*EntryBytes, "want fewer labels")
}
