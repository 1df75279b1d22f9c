package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Table is one table of a paper: what it printed and how a repetition of it is run.
//
// All fields but Trial are plain data. Together with the seed and the backend they
// identify a run, so editing any of them (except Repetitions: trials do not depend on how
// many there are) makes earlier trials in a state file count as another run's.
type Table struct {
	Name    string   `json:"name"`    // what the command line calls it: "tsang-1"
	Paper   string   `json:"paper"`   // citation: authors, year, title, where
	Label   string   `json:"label"`   // the paper's own number: "Table I"
	Caption string   `json:"caption"` // what the table shows, in one line
	Columns []string `json:"columns"` // measures or data sets, at least one
	Rows    []Row    `json:"rows"`    // systems, at least one
	// Repetitions is how many trials the paper averaged over, at least 1.
	Repetitions int `json:"-"`
	// Decimals is how many the report prints; give the paper's own or one more.
	Decimals int `json:"decimals"`
	// Setup says how our figures are obtained; Deviations says where that differs from the
	// paper or fills a gap in it. One sentence or two an entry, plain text.
	Setup      []string `json:"setup"`
	Deviations []string `json:"deviations"`
	// Revision is raised by hand when Trial changes what it computes.
	Revision int `json:"revision"`
	// Trial runs one repetition and returns one value for every row and column,
	// values[row][column], all finite. It takes its randomness from t alone, and is called
	// from several goroutines at once.
	Trial func(ctx context.Context, eng *engine.Engine, t Trial) (values [][]float64, err error) `json:"-"`
}

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

// Tables returns all tables, in the order in which they are listed. The slice is the
// caller's.
func Tables() []Table {
	return []Table{
		tsang1(),
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
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %q, column %q: value is %v: want a finite number", t.Rows[i].Name, t.Columns[j], v)
			}
		}
	}
	return nil
}
