// Package data holds the commands about files of data: their links, their mistakes, their scores.
package data

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/internal/session"
)

// Commands returns links, check and score.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newLinks(s), newCheck(s), newScore(s)}
}
