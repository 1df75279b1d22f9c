package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/builds"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

func newBuilds(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "builds [DIGEST DIGEST...]",
		Short: "show how much the results of the builds differ",
		Long: `Without DIGEST, fit every method to two fixed problems and print the learned distances and
objectives as JSON: the digest of this build.

With two or more digests, print the largest relative difference between any two of them, for every
method, as Markdown. The comparison uses squared distances, which do not depend on the rotation of an
embedding, relative to the largest one. The table also shows how much they move when every
coordinate moves by one unit in its last place.`,
		Example: `  mustlink-bench builds > default.json
  mustlink-bench builds default.json netlib.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return usage.Errorf("%s: one digest: want none, or at least two %s", cmd.CommandPath(),
					usage.HelpHint(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.runDigest(cmd.Context())
			}
			return a.runBuilds(args)
		},
	}
}

// runDigest prints the digest of this build.
func (a *app) runDigest(ctx context.Context) error {
	d, err := working(a, func(eng *engine.Engine, bar *session.Progress) (*builds.Digest, error) {
		return builds.Compute(ctx, eng, bar.Step)
	})
	if err != nil {
		return err
	}
	return session.EncodeJSON(a.Stdout, d)
}

// runBuilds prints how much the digests in the files differ.
func (a *app) runBuilds(paths []string) error {
	var digests []*builds.Digest
	for _, path := range paths {
		d, err := builds.Read(path)
		if err != nil {
			return err
		}
		digests = append(digests, d)
	}
	rows, err := builds.Compare(digests)
	if err != nil {
		return err
	}
	if a.JSON {
		return session.EncodeJSON(a.Stdout, rows)
	}
	for i, d := range digests {
		if _, err := fmt.Fprintf(a.Stdout, "%d. %s\n", i+1, d.Backend); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(a.Stdout, "\n"); err != nil {
		return err
	}
	return builds.Markdown(a.Stdout, rows)
}
