package commands

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// paperFlags are the flags of `mustlink-bench paper`.
type paperFlags struct {
	list        bool
	quick       bool
	repetitions int
	seed        uint64
	data        string
	printed     string
	state       string
	out         string
}

// dataVariable names the environment variable with the folder of data sets, for runs without
// --data.
const dataVariable = "MUSTLINK_DATA"

func newPaper(a *app) *cobra.Command {
	var p paperFlags
	names := []string{cobra.CompletionWithDesc("list", "list the tables and figures"),
		cobra.CompletionWithDesc("all", "run all of them")}
	for _, t := range paper.Tables() {
		names = append(names, cobra.CompletionWithDesc(t.Name, t.Caption))
	}
	for _, f := range paper.Figures() {
		names = append(names, cobra.CompletionWithDesc(f.Name, f.Caption))
	}
	cmd := &cobra.Command{
		Use:   "paper [list|TABLE|all]",
		Short: "repeat a table or a figure of a paper, or all of them",
		Long: `Repeat one table of a paper and print it as Markdown: our results next to the printed ones, the
set-up, and the differences from the paper. A figure (tsang-fig3) is written as a picture, as its
numbers, or as a page about it. A figure of box plots (soleymani-fig3) is run like a table, and drawn
if the output is a picture. Without TABLE, list the tables and figures. With all, run them one after
the other into a folder: each gets a page, its numbers as JSON and its picture, and reproduction.md
compares all printed results with ours. An interrupted run resumes where it ended.

Tables on real data read it from the folder DIR; --list names the files.

Trials run in parallel; the results do not depend on how many run at a time. With --state, a file
keeps finished trials, and an interrupted run resumes from it. The file may have several runs; trials
of another table, seed or definition stay as they are.`,
		Example: `  mustlink-bench paper list
  mustlink-bench paper tsang-1
  mustlink-bench paper all --quick --data DIR -o results
  mustlink-bench paper tsang-4 --data DIR --state trials.jsonl -o tsang-4.md
  mustlink-bench paper tsang-fig3 -o figure3.svg
  mustlink-bench paper tsang-1 --repetitions 1000 --state trials.jsonl -o tsang-1.md`,
		Args:              usage.Positional(0, 1, "one of list, all or a TABLE"),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.list || len(args) == 0 || args[0] == "list" {
				return a.listPaperTables(cmd, args)
			}
			if args[0] == "all" {
				return a.runAll(cmd, &p, paper.Tables(), paper.Figures())
			}
			if p.quick {
				return usage.Errorf("--quick is given with TABLE %q: want --quick with all, or --repetitions",
					args[0])
			}
			numbers, err := p.numbers()
			if err != nil {
				return err
			}
			if figure, err := paper.LookupFigure(args[0]); err == nil {
				return a.runFigure(cmd, figure.With(numbers), &p)
			}
			return a.runPaper(cmd, args[0], numbers, &p)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&p.list, "list", false, "list the tables and figures and exit")
	f.BoolVar(&p.quick, "quick", false,
		"with all: a tenth of the repetitions, but at least 6, and those that the state file has")
	f.IntVar(&p.repetitions, "repetitions", 0, "number of trials (default the paper's)")
	usage.SeedFlag(f, &p.seed)
	f.StringVar(&p.data, "data", "", "folder `DIR` of the data sets (default $"+dataVariable+")")
	f.StringVar(&p.printed, "printed", "",
		"folder `DIR` of other printed numbers, one CSV for each table (default those of the program)")
	f.StringVar(&p.state, "state", "", "`FILE` that keeps finished trials, to resume after an interrupt")
	f.StringVarP(&p.out, "output", "o", session.Stream,
		"the `FILE` to write (with all, the folder), .md or .json; for a figure also .png, .svg, .pdf or, "+
			"except for box plots, .csv")
	return cmd
}

// paperTable is one entry of the list of tables.
type paperTable struct {
	Name        string   `json:"name"`
	Paper       string   `json:"paper"`
	Label       string   `json:"label"`
	Caption     string   `json:"caption"`
	Repetitions int      `json:"repetitions,omitempty"` // 0 for a figure
	Data        []string `json:"data,omitempty"`
	Optional    []string `json:"optional,omitempty"` // files that the folder may lack
}

// listPaperTables prints the tables. A flag that only a run uses means that TABLE is missing, which
// is an error.
func (a *app) listPaperTables(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] != "list" {
		return usage.Errorf("--list and TABLE %q cannot be given together: want one of them %s", args[0],
			usage.HelpHint(cmd))
	}
	for _, name := range []string{"quick", "repetitions", "seed", "data", "printed", "state", "output"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			return usage.Errorf("%s is given without a TABLE: want one that %s --list shows",
				usage.FlagName(f), cmd.CommandPath())
		}
	}
	list := []paperTable{}
	for _, t := range paper.Tables() {
		list = append(list, paperTable{t.Name, t.Paper, t.Label, t.Caption, t.Repetitions, t.Data,
			t.OptionalFiles()})
	}
	for _, f := range paper.Figures() {
		list = append(list, paperTable{Name: f.Name, Paper: f.Paper, Label: f.Label, Caption: f.Caption,
			Data: f.Data})
	}
	return a.Print(list, func(w io.Writer) {
		for _, t := range list {
			fmt.Fprintf(w, "%s\t%s of %s\n\t%s", t.Name, t.Label, t.Paper, t.Caption)
			if t.Repetitions > 0 {
				fmt.Fprintf(w, ", mean of %s", fault.Count(t.Repetitions, "repetition"))
			}
			fmt.Fprintln(w)
			if len(t.Data) > 0 {
				fmt.Fprintf(w, "\tneeds --data with %s", strings.Join(t.Data, ", "))
				if len(t.Optional) > 0 {
					fmt.Fprintf(w, "; takes %s too", strings.Join(t.Optional, ", "))
				}
				fmt.Fprintln(w)
			}
		}
	})
}

// findData finds the folder of data sets, if files of it are needed.
func (p *paperFlags) findData(a *app, needed []string) error {
	if p.data == "" {
		p.data = a.Getenv(dataVariable)
	}
	if p.data == "" && len(needed) > 0 {
		return &fault.ParamError{Param: "--data", Value: p.data,
			Want: fmt.Sprintf("the folder that holds %s, here or in $%s", paper.DataNames(needed),
				dataVariable)}
	}
	return nil
}

// numbers returns the printed numbers: those of the program, or of a folder.
func (p *paperFlags) numbers() (*printed.Numbers, error) {
	if p.printed == "" {
		return printed.Builtin(), nil
	}
	return printed.Read(os.DirFS(p.printed))
}

func (a *app) runPaper(cmd *cobra.Command, name string, numbers *printed.Numbers, p *paperFlags) error {
	table, err := paper.Lookup(name)
	if err != nil {
		return err
	}
	table = table.With(numbers)
	check := a.Check(cmd)
	p.checkRepetitions(check)
	check.State(p.state)
	endings := textEndings()
	if table.Drawn() {
		endings = pictureEndings()
	}
	check.Ending("-o, --output", p.out, endings...)
	check.Output("-o, --output", p.out)
	check.Do(func() error { return p.findData(a, table.Data) })
	if check.Err != nil {
		return check.Err
	}
	result, err := working(a, func(eng *engine.Engine, bar *session.Progress) (*paper.Result, error) {
		return paper.Run(cmd.Context(), eng, table, paper.Options{
			Seed: p.seed, State: p.state, Repetitions: p.repetitions, Data: p.data, Progress: bar.Report,
		})
	})
	if err != nil {
		return err
	}
	return product{
		numbers: result,
		text:    result.Markdown(),
		panels:  func() ([]view.Panel, error) { return result.Panels(), nil },
		across:  4,
		summary: func(w io.Writer) { paperSummary(w, result, p.out) },
	}.write(a, p.out)
}

// checkRepetitions refuses a number of repetitions that is not positive.
func (p *paperFlags) checkRepetitions(check *session.Checks) {
	none := check.Cmd.Flags().Changed("repetitions") && p.repetitions == 0
	check.Refuse(p.repetitions < 0 || none, "--repetitions is %d: want a number >= 1", p.repetitions)
}

// paperSummary prints the results when the page goes to a file.
func paperSummary(w io.Writer, r *paper.Result, path string) {
	fmt.Fprintf(w, "system\tcolumn\tours\tpaper\n")
	for i, row := range r.Table.Rows {
		for j, column := range r.Table.Columns {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Name, column, session.Number(r.Ours[i][j].Mean),
				session.Number(row.Printed[j].Mean))
		}
	}
	fmt.Fprintf(w, "mean of %s; written to %s\n", fault.Count(r.Repetitions, "repetition"), path)
}
