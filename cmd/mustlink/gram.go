package main

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
)

type gramFlags struct {
	data  dataFlags
	other string
	out   string
}

func newGram(a *app) *cobra.Command {
	var g gramFlags
	cmd := &cobra.Command{
		Use:   "gram MODEL -i DATA [-j DATA2] -o OUT",
		Short: "write the learned kernel matrix",
		Long: `Write the learned kernel between the rows of DATA, n x n, or between the rows of DATA and
those of DATA2. For any points; exact where the method is exact. The file is written by its
extension (.csv, .npy, .parquet, each also .gz); all but .npy keep the column id.`,
		Example: `  mustlink gram model.mlk -i data.csv -o kernel.npy
  mustlink gram model.mlk -i test.csv -j train.csv -o cross.npy`,
		Args: positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runGram(cmd, args[0], &g) },
	}
	f := cmd.Flags()
	g.data.add(cmd)
	f.StringVarP(&g.other, "input2", "j", "", "a second file of `DATA2`: the columns of the matrix (default: DATA)")
	f.StringVarP(&g.out, "output", "o", "", "the file `OUT` to write; - for standard output")
	return cmd
}

func (a *app) runGram(cmd *cobra.Command, path string, g *gramFlags) error {
	check := a.check(cmd)
	check.required("input", "output")
	check.refuse(g.other != "" && g.data.gram, "-j and --gram are given together: want vectors for a kernel between two files")
	check.models([]string{path})
	check.data(&g.data)
	check.input("-j, --input2", g.other)
	check.matrix("-o, --output", g.out, g.data.format)
	if check.err != nil {
		return check.err
	}
	m, err := a.metric(cmd.Context(), path)
	if err != nil {
		return err
	}
	x, err := m.read(cmd.Context(), &g.data)
	if err != nil {
		return err
	}
	var y *mustlink.Table // nil stands for x
	if g.other != "" {
		other := g.data
		other.path = g.other
		d, err := m.read(cmd.Context(), &other)
		if err != nil {
			return err
		}
		y = mustlink.FromData(d)
	}
	k, err := m.model().Gram(cmd.Context(), mustlink.FromData(x), y)
	if err != nil {
		return err
	}
	raw := k.RawMatrix()
	if err := a.writeMatrix(cmd.Context(), g.out, g.data.format, blas.Matrix{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data}, x.IDs); err != nil {
		return err
	}
	r := matrixReport{Method: m.name(), Rows: raw.Rows, Cols: raw.Cols, Output: g.out, Warnings: a.allWarnings()}
	return a.summarise(g.out, r, r.text)
}
