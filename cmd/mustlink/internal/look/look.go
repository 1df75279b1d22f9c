// Package look provides the commands that show the content of models and data.
package look

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/session"
)

// Commands returns inspect, plot and report.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newInspect(s), newPlot(s), newReport(s)}
}
