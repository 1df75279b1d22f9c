package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// Table is one table of a paper: what it printed and how a repetition of it is run.
//
// All fields but the functions are plain data. Together with the seed and the backend they
// identify a run, so editing any of them makes earlier trials in a state file count as
// another run's; except Repetitions and Steps, on which trials do not depend, and
// Deviations, which only comment on them.
type Table struct {
	Name    string   `json:"name"`    // what the command line calls it: "tsang-1"
	Paper   string   `json:"paper"`   // citation: authors, year, title, where
	Label   string   `json:"label"`   // the paper's own number: "Table I"
	Caption string   `json:"caption"` // what the table shows, in one line
	Columns []string `json:"columns"` // measures or data sets, at least one
	Rows    []Row    `json:"rows"`    // systems, at least one
	// Repetitions is how many trials the paper averaged over, at least 1.
	Repetitions int `json:"-"`
	// Data names the files that trials read from the folder of data sets; [Run] makes sure
	// that they are there. Nil for a table that draws its data.
	Data []string `json:"data,omitempty"`
	// Steps is how many parts of a trial progress counts; 0 means 1. The trial reports each
	// by [Trial.Step].
	Steps int `json:"-"`
	// Decimals is how many the report prints; give the paper's own or one more.
	Decimals int `json:"decimals"`
	// Gaps lets trials leave figures out, as NaN, where a system fails; means are over the others.
	Gaps bool `json:"gaps,omitempty"`
	// Quartiles has the report print medians and quartiles over the trials in place of means, as a
	// paper with box plots does; then the table can be drawn too.
	Quartiles bool `json:"quartiles,omitempty"`
	// Setup says how our figures are obtained; Deviations says where that differs from the
	// paper or fills a gap in it. One sentence or two an entry, plain text.
	Setup      []string `json:"setup"`
	Deviations []string `json:"deviations"`
	// Revision is raised by hand when Prepare or Trial change what they compute.
	Revision int `json:"revision"`
	// Prepare, if not nil, computes what all trials share, once and before the first of them;
	// every trial gets it as Trial.Shared and must not change it. Its own t has number -1, so
	// its randomness is that of no trial, and it may depend on nothing else.
	Prepare func(ctx context.Context, eng *engine.Engine, t Trial) (shared any, err error) `json:"-"`
	// Trial runs one repetition and returns one value for every row and column, values[row][column],
	// all finite but for Gaps. It takes its randomness from t alone, and is called from several
	// goroutines at once.
	Trial func(ctx context.Context, eng *engine.Engine, t Trial) (values [][]float64, err error) `json:"-"`
	// Own names the row of the paper's own method and Variants other rows of it; [Result.Orders]
	// compares it with all others. Good says which figures are good. Why says what was tried where
	// figures are worse than the paper's or its method is behind. None of them changes what is
	// computed.
	Own      string    `json:"-"`
	Variants []string  `json:"-"`
	Good     Direction `json:"-"`
	Why      string    `json:"-"`
	// Compared, if not nil, returns figures that the paper prints but not in the form of the table's
	// rows and columns.
	Compared func(r *Result) []Comparison `json:"-"`
	// Draw, if not nil, returns the panels of the table's picture; with Quartiles there is one
	// without it.
	Draw func(r *Result) []view.Panel `json:"-"`
	// Notes, if not nil, returns sentences about the figures for the report.
	Notes func(r *Result) []string `json:"-"`
}

// Drawn says whether there is a picture of the table.
func (t Table) Drawn() bool { return t.Quartiles || t.Draw != nil }

// Row is one system of a table with the figures that the paper printed for it.
type Row struct {
	Name    string  `json:"name"`
	Printed []Value `json:"printed"` // one a column
}

// Value is a mean and a standard deviation; either is NaN when there is none. Its JSON
// leaves out what is NaN.
type Value struct {
	Mean, SD float64
}

// MarshalJSON writes {"mean": m, "sd": s} without the members that are NaN.
func (v Value) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Mean *float64 `json:"mean,omitempty"`
		SD   *float64 `json:"sd,omitempty"`
	}{unlessNaN(v.Mean), unlessNaN(v.SD)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(text []byte) error {
	var in struct {
		Mean *float64 `json:"mean"`
		SD   *float64 `json:"sd"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*v = Value{math.NaN(), math.NaN()}
	if in.Mean != nil {
		v.Mean = *in.Mean
	}
	if in.SD != nil {
		v.SD = *in.SD
	}
	return nil
}

func unlessNaN(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// Means returns printed values without standard deviations, one a column; NaN stands for
// a figure that the paper does not print.
func Means(means ...float64) []Value {
	values := make([]Value, len(means))
	for i, m := range means {
		values[i] = Value{Mean: m, SD: math.NaN()}
	}
	return values
}

// Unprinted returns values for so many columns of which the paper prints none, or none that is
// known.
func Unprinted(columns int) []Value {
	values := make([]Value, columns)
	for i := range values {
		values[i] = Value{Mean: math.NaN(), SD: math.NaN()}
	}
	return values
}

// Tables returns all tables, in the order in which they are listed. The slice is the
// caller's.
func Tables() []Table {
	return []Table{
		tsang1(),
		tsang2(),
		tsang3(),
		tsang4(),
		yeung1(),
		yeung2(),
		yeung3(),
		yeung4(),
		yeungFigure3(),
		yeungFigure4(),
		soleymaniFigure2(),
		soleymaniFigure3(),
		hu3(),
		hu4(),
		luFigure2(),
		luFigure3(),
		luFigure6(),
	}
}

// Lookup returns the table of that name, or a *[fault.ParamError] with the nearest one.
func Lookup(name string) (Table, error) {
	var names []string
	for _, t := range Tables() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Table{}, fault.Unknown("table", name, names)
}

// validate reports what makes the entry unusable; an error here is a mistake in its
// definition.
func (t Table) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("table %q: %s", t.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case t.Name == "":
		return bad("the name is empty")
	case t.Trial == nil:
		return bad("the trial function is nil")
	case t.Repetitions < 1:
		return bad("%d repetitions: want at least 1", t.Repetitions)
	case t.Steps < 0:
		return bad("%d steps: want at least 0", t.Steps)
	case t.Decimals < 0:
		return bad("%d decimals: want at least 0", t.Decimals)
	case len(t.Rows) == 0 || len(t.Columns) == 0:
		return bad("%d rows and %d columns: want at least one of each", len(t.Rows), len(t.Columns))
	}
	for _, r := range t.Rows {
		if len(r.Printed) != len(t.Columns) {
			return bad("row %q has %d printed values for %d columns", r.Name, len(r.Printed), len(t.Columns))
		}
	}
	return nil
}

// checkData reports that the folder of data sets is not given, or does not hold a file that
// the table needs.
func (t Table) checkData(folder string) error {
	return checkData(t.Data, folder, "table "+t.Name)
}

func checkData(names []string, folder, of string) error {
	if len(names) == 0 {
		return nil
	}
	if folder == "" {
		return &fault.ParamError{Param: "folder of data sets", Value: folder, Want: "the folder that holds " + DataNames(names)}
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return fault.Data(filepath.Join(folder, name), "data set of %s: %w", of, err)
		}
	}
	return nil
}

// DataNames returns names of files for a message: the first and how many more there are.
func DataNames(names []string) string {
	switch n := len(names); n {
	case 0:
		return "no file"
	case 1:
		return names[0]
	default:
		return fmt.Sprintf("%s and %d more files", names[0], n-1)
	}
}

// check reports values of the wrong shape and values that are not finite.
func (t Table) check(values [][]float64) error {
	if len(values) != len(t.Rows) {
		return fmt.Errorf("%d rows of values: want %d", len(values), len(t.Rows))
	}
	for i, row := range values {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %q: %d values: want %d", t.Rows[i].Name, len(row), len(t.Columns))
		}
		for j, v := range row {
			if math.IsNaN(v) && !t.Gaps || math.IsInf(v, 0) {
				return fmt.Errorf("row %q, column %q: value is %v: want a finite number", t.Rows[i].Name, t.Columns[j], v)
			}
		}
	}
	return nil
}
