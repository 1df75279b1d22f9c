package main

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/points"
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
	f.SortFlags = false
	g.data.add(cmd)
	f.StringVarP(&g.other, "input2", "j", "", "a second file of `DATA2`: the columns of the matrix (default: DATA)")
	f.StringVarP(&g.out, "output", "o", "", "the file `OUT` to write; - for standard output")
	return cmd
}

func (a *app) runGram(cmd *cobra.Command, path string, g *gramFlags) error {
	if err := a.checkGram(cmd, path, g); err != nil {
		return err
	}
	m, err := a.apply(cmd.Context(), path, &g.data)
	if err != nil {
		return err
	}
	var y points.Points // nil stands for x
	if g.other != "" {
		other := g.data
		other.path = g.other
		if _, y, err = a.readFor(cmd.Context(), m.fitted, &other); err != nil {
			return err
		}
	}
	k, err := m.fitted.Model.Gram(cmd.Context(), m.eng, m.x, y)
	if err != nil {
		return inFile(m.data.Name, err)
	}
	if err := a.writeMatrix(cmd.Context(), g.out, g.data.format, k, m.data.IDs); err != nil {
		return err
	}
	r := matrixReport{Method: m.fitted.Model.Method(), Rows: k.Rows, Cols: k.Cols, Output: g.out, Warnings: a.allWarnings()}
	return a.summarise(g.out, r, r.text)
}

func (a *app) checkGram(cmd *cobra.Command, path string, g *gramFlags) error {
	if err := required(cmd, "input", "output"); err != nil {
		return err
	}
	if g.other != "" && g.data.gram {
		return usagef("-j and --gram are given together: want vectors for a kernel between two files")
	}
	if err := a.useModel(path); err != nil {
		return err
	}
	if err := a.useData(&g.data); err != nil {
		return err
	}
	if g.other != "" {
		if err := a.useInput("-j, --input2", g.other); err != nil {
			return err
		}
	}
	return a.checkMatrixOutput(g.out, g.data.format)
}
