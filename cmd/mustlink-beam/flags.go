package main

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

// jobFlags are those of a command that reads rows and writes files.
type jobFlags struct {
	input     string // the pattern of its files
	rows      int    // of an element
	out       string
	badRows   job.Limit
	badOutput string
}

func (j *jobFlags) addInput(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&j.input, "input", "i", "", "`PATTERN` of the files of data, such as 'part-*.npy': .csv, .npy, .parquet, each also .gz; several with commas between")
	f.IntVar(&j.rows, "element-rows", shard.DefaultRows, "most rows that are worked on as one piece and become one file")
}

// addOutput adds the flags of what is written: the output, which the command describes, and rows
// that are wrong.
func (j *jobFlags) addOutput(cmd *cobra.Command, output string) {
	cmd.Flags().StringVarP(&j.out, "output", "o", "", output)
	j.addBad(cmd)
}

// addBad adds the flags that say what becomes of rows that are wrong.
func (j *jobFlags) addBad(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&j.badRows, "bad-rows", "leave out rows that are wrong, up to this `LIMIT`: a number such as 100, or a share such as 0.5%")
	f.StringVar(&j.badOutput, "bad-output", "", "the `FILE` after which files of rows that were left out are named: file, row, offset, column, reason (.csv)")
}

// badPattern returns the pattern of the files of bad rows.
func (j *jobFlags) badPattern() string {
	if j.badOutput == "" {
		return ""
	}
	return shard.Output{Path: j.badOutput}.Pattern()
}
