package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

// jobFlags are those of a command that reads rows and writes files.
type jobFlags struct {
	in  inputFlags
	bad badFlags
	out string
}

// inputFlags name the files of a job.
type inputFlags struct {
	pattern string
	rows    int
}

func (in *inputFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&in.pattern, "input", "i", "", "`PATTERN` of the files of data, such as 'part-*.npy': .csv, .npy, .parquet, each also .gz; several with commas between")
	f.IntVar(&in.rows, "element-rows", shard.DefaultRows, "most rows that are worked on as one piece and become one file")
}

// plan divides the input.
func (in *inputFlags) plan(ctx context.Context, a *app) (*shard.Set, error) {
	return shard.Plan(ctx, in.pattern, shard.Options{Rows: in.rows, MemoryLimit: int64(a.memory)})
}

// badFlags say what becomes of rows that are wrong.
type badFlags struct {
	limit  job.Limit
	output string
}

func (b *badFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&b.limit, "bad-rows", "leave out rows that are wrong, up to this `LIMIT`: a number such as 100, or a share such as 0.5%")
	f.StringVar(&b.output, "bad-output", "", "the `FILE` after which files of rows that were left out are named: file, row, offset, column, reason (.csv)")
}

// pattern returns that of the files of bad rows.
func (b *badFlags) pattern() string {
	if b.output == "" {
		return ""
	}
	return shard.Output{Path: b.output}.Pattern()
}
