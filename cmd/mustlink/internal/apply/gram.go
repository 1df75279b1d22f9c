package apply

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type gramCommand struct {
	*session.Session
	data  source.Data
	other string
	out   string
}

func newGram(s *session.Session) *cobra.Command {
	g := &gramCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "gram MODEL -i DATA [-j DATA2] -o OUT",
		Short: "write the learned kernel matrix",
		Long: `Write the learned kernel between the rows of DATA, n x n, or between the rows of DATA and
those of DATA2. The rows need not be training rows. The kernel is that of the learned metric itself,
of which the coordinates of mustlink embed may hold only a share. The extension of OUT selects its format (.csv, .npy, .parquet, .arrow, each also .gz); all but
.npy keep the column id.`,
		Example: `  mustlink gram model.mlk -i data.csv -o kernel.npy
  mustlink gram model.mlk -i test.csv -j train.csv -o cross.npy`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: s.Checked(g.check, g.run),
	}
	f := cmd.Flags()
	g.data.Flags(cmd)
	f.StringVarP(&g.other, "input2", "j", "", "the file of `DATA2`, for the columns of the matrix (default: DATA)")
	f.StringVarP(&g.out, "output", "o", "", "the file `OUT` to write; - for standard output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (g *gramCommand) check(check *session.Checks, args []string) {
	check.Required("input", "output")
	check.Refuse(g.other != "" && g.data.Gram, "-j and --gram are given together: want vectors for a kernel between two files")
	check.Models(args)
	g.data.Check(check)
	check.Input("-j, --input2", g.other)
	check.Matrix("-o, --output", g.out, g.data.Format)
}

func (g *gramCommand) run(ctx context.Context, args []string) error {
	m, err := metric.Open(ctx, g.Session, args[0])
	if err != nil {
		return err
	}
	x, err := m.Read(ctx, &g.data)
	if err != nil {
		return err
	}
	var y *mustlink.Table // nil means x
	if g.other != "" {
		other := g.data
		other.Path = g.other
		d, err := m.Read(ctx, &other)
		if err != nil {
			return err
		}
		y = mustlink.FromData(d)
	}
	k, err := m.Model.Gram(ctx, mustlink.FromData(x), y)
	if err != nil {
		return err
	}
	raw := k.RawMatrix()
	if err := g.WriteMatrix(ctx, g.out, g.data.Format, blas.Matrix{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data}, x.IDs); err != nil {
		return err
	}
	r := matrixReport{Method: m.Name(), Rows: raw.Rows, Cols: raw.Cols, Output: g.out, Warnings: g.Warnings()}
	return g.Summarize(g.out, r, r.text)
}
