package main

import (
	"github.com/spf13/cobra"
)

type embedFlags struct {
	data dataFlags
	out  string
}

func newEmbed(a *app) *cobra.Command {
	var e embedFlags
	cmd := &cobra.Command{
		Use:   "embed MODEL -i DATA -o OUT",
		Short: "map points to coordinates in which Euclidean tools work",
		Long: `Map points, those of the fit or new ones, to coordinates in which Euclidean distance is
the learned one: one row a point, as many columns as the model has dimensions. The file is
written by its extension (.csv, .npy, each also .gz); a CSV keeps the column id.`,
		Example: `  mustlink embed model.mlk -i new.csv -o embedded.npy
  mustlink embed model.mlk -i new.csv -o - | head -3`,
		Args: positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runEmbed(cmd, args[0], &e) },
	}
	cmd.Flags().SortFlags = false
	e.data.add(cmd)
	cmd.Flags().StringVarP(&e.out, "output", "o", "", "the file `OUT` to write, n x dim; - for standard output")
	return cmd
}

func (a *app) runEmbed(cmd *cobra.Command, path string, e *embedFlags) error {
	if err := required(cmd, "input", "output"); err != nil {
		return err
	}
	if err := a.useModel(path); err != nil {
		return err
	}
	if err := a.useData(&e.data); err != nil {
		return err
	}
	if err := a.checkMatrixOutput(e.out, e.data.format); err != nil {
		return err
	}
	m, err := a.apply(cmd.Context(), path, &e.data)
	if err != nil {
		return err
	}
	y, err := m.fitted.Model.Embed(cmd.Context(), m.eng, m.x)
	if err != nil {
		return inFile(m.data.Name, err)
	}
	if err := a.writeMatrix(cmd.Context(), e.out, e.data.format, y, m.data.IDs); err != nil {
		return err
	}
	r := matrixReport{Method: m.fitted.Model.Method(), Rows: y.Rows, Cols: y.Cols, Output: e.out, Warnings: a.allWarnings()}
	return a.summarise(e.out, r, r.text)
}
