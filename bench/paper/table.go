package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// Table is one table of a paper: its printed values, and the function that runs one repetition.
//
// All fields except the functions are plain data. Together with the seed and the backend they
// identify a run, so a change of any of them makes earlier trials in a state file belong to another
// run. The exceptions are Repetitions and Steps, on which trials do not depend, and Differences,
// which only comment on them.
type Table struct {
	Name    string   `json:"name"`    // its name on the command line: "tsang-1"
	Paper   string   `json:"paper"`   // citation: authors, year, title, where
	Label   string   `json:"label"`   // its number in the paper: "Table I"
	Caption string   `json:"caption"` // the content of the table, in one line
	Columns []string `json:"columns"` // measures or data sets, at least one
	Rows    []Row    `json:"rows"`    // systems, at least one
	// Repetitions is the number of trials over which the paper averaged, at least 1.
	Repetitions int `json:"-"`
	// Data names the files that trials read from the folder of data sets; [Run] checks that they
	// exist. It is nil for a table that generates its data.
	Data []string `json:"data,omitempty"`
	// Optional names, by column, files that the folder may lack. Such a column has no values then:
	// the trial returns NaN for it (see [Trial.Has]), and the report says which file it wants.
	Optional map[string]string `json:"optional,omitempty"`
	// Absent are the columns of Optional whose files the folder lacks; [Run] sets it.
	Absent []string `json:"absent,omitempty"`
	// Steps is the number of parts of a trial that progress counts; 0 means 1. The trial reports
	// each with [Trial.Step].
	Steps int `json:"-"`
	// Decimals is the number of decimals in the report: that of the paper, or one more.
	Decimals int `json:"decimals"`
	// Gaps lets trials return NaN where a system fails; means are over the other trials.
	Gaps bool `json:"gaps,omitempty"`
	// Quartiles makes the report print medians and quartiles over the trials instead of means, as a
	// paper with box plots does. Such a table can also be drawn.
	Quartiles bool `json:"quartiles,omitempty"`
	// Setup describes how our values are computed. Differences describes where that differs from
	// the paper or fills a gap in it. Each entry is plain text of a few sentences.
	Setup       []string `json:"setup"`
	Differences []string `json:"deviations"`
	// Revision is raised by hand when Prepare or Trial change what they compute.
	Revision int `json:"revision"`
	// Prepare, if not nil, computes what all trials share, once and before the first of them; every
	// trial gets it as Trial.Shared and must not change it. The trial t of Prepare has number -1,
	// so its randomness differs from that of all trials; Prepare must not depend on anything else.
	Prepare func(ctx context.Context, eng *engine.Engine, t Trial) (shared any, err error) `json:"-"`
	// Trial runs one repetition and returns one value for every row and column,
	// values[row][column], all finite unless the table has Gaps. Its randomness comes from t alone.
	// It is called from several goroutines at once.
	Trial func(ctx context.Context, eng *engine.Engine, t Trial) (values [][]float64, err error) `json:"-"`
	// Own names the row of the paper's own method, and Variants names other rows of this method;
	// [Result.Orders] compares it with all other rows. Good is the direction in which values are
	// better. Why describes what was tried where values are worse than the paper's or its method is
	// behind. None of them changes what is computed.
	Own      string    `json:"-"`
	Variants []string  `json:"-"`
	Good     Direction `json:"-"`
	Why      string    `json:"-"`
	// Keys names the printed number of each row and column, Keys[row][column]; nil if there are
	// none.
	Keys [][]printed.Key `json:"-"`
	// Timed names rows of times. They differ from run to run, and no order is about them.
	Timed []string `json:"-"`
	// Tried describes explanations for differences from the paper that were tried, with the numbers
	// that each gives.
	Tried []string `json:"-"`
	// Compared, if not nil, returns comparisons with values that the paper prints outside the rows
	// and columns of the table.
	Compared func(r *Result) []Comparison `json:"-"`
	// Claims, if not nil, tests what the text of the paper says about the table.
	Claims func(r *Result) []Claim `json:"-"`
	// Partial names data sets of the paper that we have in another version or in part, with a few
	// words about the difference; their numbers are counted separately. The names are those of the
	// printed numbers.
	Partial map[string]string `json:"-"`
	// Draw, if not nil, returns the panels of the picture of the table. With Quartiles, a table has
	// a picture also if Draw is nil.
	Draw func(r *Result) []view.Panel `json:"-"`
	// Notes, if not nil, returns sentences about the values for the report.
	Notes func(r *Result) []string `json:"-"`

	numbers *printed.Numbers // nil: those of the program
}

// Drawn reports whether there is a picture of the table.
func (t Table) Drawn() bool { return t.Quartiles || t.Draw != nil }

// Row is one system of a table, with the values that the paper prints for it.
type Row struct {
	Name    string  `json:"name"`
	Printed []Value `json:"printed"` // one for each column
}

// Value is a mean and a standard deviation; either is NaN if it is missing. The JSON omits NaN.
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

// Means returns printed values without standard deviations, one for each column; NaN stands for a
// value that the paper does not print.
func Means(means ...float64) []Value {
	values := make([]Value, len(means))
	for i, m := range means {
		values[i] = Value{Mean: m, SD: math.NaN()}
	}
	return values
}

// Unprinted returns values for the given number of columns, none of which the paper prints, or none
// of which is known.
func Unprinted(columns int) []Value {
	values := make([]Value, columns)
	for i := range values {
		values[i] = Value{Mean: math.NaN(), SD: math.NaN()}
	}
	return values
}

// Tables returns all tables in a new slice, in the order in which they are listed.
func Tables() []Table {
	return []Table{
		tsang1(),
		tsang2(),
		tsang2At95(),
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

// validate returns an error if the table cannot be run, which is a mistake in its definition.
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
	for column := range t.Optional {
		if !slices.Contains(t.Columns, column) {
			return bad("the file of column %q, which it does not have", column)
		}
	}
	for _, r := range t.Rows {
		if len(r.Printed) != len(t.Columns) {
			return bad("row %q has %d printed values for %d columns", r.Name, len(r.Printed), len(t.Columns))
		}
	}
	return nil
}

// checkData returns an error if the folder of data sets is not given, or lacks a file of the table.
func (t Table) checkData(folder string) error {
	return checkData(t.Data, folder, "table "+t.Name)
}

func checkData(names []string, folder, of string) error {
	if len(names) == 0 {
		return nil
	}
	if folder == "" {
		return &fault.ParamError{Param: "folder of data sets", Value: folder, Want: "the folder that holds " +
			DataNames(names)}
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return fault.Data(filepath.Join(folder, name), "data set of %s: %w", of, err)
		}
	}
	return nil
}

// DataNames returns text for a message about files: the first name and the number of other files.
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

// check returns an error for values of the wrong shape and values that are not finite.
func (t Table) check(values [][]float64) error {
	if len(values) != len(t.Rows) {
		return fmt.Errorf("%d rows of values: want %d", len(values), len(t.Rows))
	}
	for i, row := range values {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %q: %d values: want %d", t.Rows[i].Name, len(row), len(t.Columns))
		}
		for j, v := range row {
			if math.IsNaN(v) && !t.Gaps && !t.absent(j) || math.IsInf(v, 0) {
				return fmt.Errorf("row %q, column %q: value is %v: want a finite number", t.Rows[i].Name,
					t.Columns[j], v)
			}
		}
	}
	return nil
}
