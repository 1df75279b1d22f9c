// Package data provides the commands about files of data: links, check and score.
package data

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/session"
)

// Commands returns links, check and score.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newLinks(s), newCheck(s), newScore(s)}
}
