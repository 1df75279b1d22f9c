// Package train provides the commands that learn metrics.
package train

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/session"
)

// Commands returns fit, select, suggest, label, update, calibrate and demo.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newFit(s), newSelect(s), newSuggest(s), newLabel(s), newUpdate(s), newCalibrate(s), newDemo(s)}
}
