// Package apply holds the commands that apply metrics to points.
package apply

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/session"
)

// Commands returns embed, gram, distance, cluster and classify.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newEmbed(s), newGram(s), newDistance(s), newCluster(s), newClassify(s)}
}
