package main

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/internal/session"
)

// jobFlags are the flags of a command that reads rows and writes files.
type jobFlags struct {
	input     string // pattern of the input files
	rows      int    // maximum number of an element
	out       string
	badRows   job.Limit
	badOutput string
}

func (j *jobFlags) addInput(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&j.input, "input", "i", "",
		"`PATTERN` of the input files, such as 'part-*.npy': "+session.Endings(
			", ")+", each also .gz; separate several patterns by commas")
	f.IntVar(&j.rows, "element-rows", shard.DefaultRows,
		"maximum number of rows of an element, which is processed at once and becomes one file")
}

// addOutput adds the flag of the output, with the given help text, and those of bad rows.
func (j *jobFlags) addOutput(cmd *cobra.Command, output string) {
	cmd.Flags().StringVarP(&j.out, "output", "o", "", output)
	j.addBad(cmd)
}

// addBad adds the flags for bad rows.
func (j *jobFlags) addBad(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&j.badRows, "bad-rows",
		"leave out bad rows, up to this `LIMIT`: a number such as 100, or a share such as 0.5%")
	f.StringVar(&j.badOutput, "bad-output", "",
		"the `FILE` (.csv) that names the lists of bad rows: file, row, offset, column, reason")
}

// badPattern returns the pattern of the files that list bad rows.
func (j *jobFlags) badPattern() string {
	if j.badOutput == "" {
		return ""
	}
	return shard.Output{Path: j.badOutput}.Pattern()
}
