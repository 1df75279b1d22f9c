package mustlink

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Preparing says how the columns of a table become numbers. The zero value does what the columns
// ask for: it fills missing numbers with medians, makes a column of zeros and ones for each text of
// a category, leaves out constant columns and row numbers, and standardizes numbers unless they
// share a unit. Its fields are Kinds, Impute, Indicators, Scale, Levels, Cyclic, Text and Gram.
type Preparing = prepare.Options

// ColumnKind is the kind of a column: "number", "category", "boolean", "date", "day-first",
// "month-first", "censored" (numbers and limits such as <0.05), "text", "constant", "identifier",
// or "drop" to leave it out.
type ColumnKind = prepare.Kind

// Column describes a column of a table, and what a preparation does with it. Its fields are Name,
// Kind, Missing, Distinct, Low, High, Example, Outputs, Does and Warning.
type Column = prepare.Column

// Prepare returns the table as a fit sees it: rows of numbers that p makes of its columns. The
// model of the fit keeps the preparation and applies it to the rows of other tables, which must not
// be prepared themselves. [Table.Summary] says what was done.
//
// A square Gram matrix must be positive semidefinite up to rounding; p.Gram corrects one that is
// not.
//
// Errors: a column that p cannot prepare is a *fault.DataError, an option that does not exist a
// *fault.ParamError. Cost: O(rows columns); memory for the numbers, 8 bytes each; for a Gram matrix
// n^3/3 flops.
func (t *Table) Prepare(p Preparing) (*Table, error) {
	eng, err := shared()
	if err != nil {
		return nil, err
	}
	return t.PrepareOn(context.Background(), eng, p)
}

// PrepareOn is Prepare within the memory limit of an engine. It is for programs that work with
// internal packages.
func (t *Table) PrepareOn(ctx context.Context, eng *engine.Engine, p Preparing) (*Table, error) {
	if err := t.plain(); err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("statistics of %d rows", t.Rows()),
		prepare.FitBytes(t.raw.Points, runtime.GOMAXPROCS(0)), "use fewer rows"); err != nil {
		return nil, err
	}
	by, columns, err := prepare.Fit(t.raw, p)
	if err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	remarks := prepare.Remarks(columns)
	if g, is := t.raw.Points.(*points.Gram); is {
		return t.definite(ctx, eng, g, p.Gram)
	}
	if by == nil {
		out := *t
		out.columns, out.remarks = columns, remarks
		return &out, nil
	}
	if some := prepare.ByColumn(by); some != nil {
		what := fmt.Sprintf("%d rows of %d numbers", t.Rows(), len(some.Outputs()))
		if err := eng.Check(what, some.OutputBytes(t.Rows()),
			"use fewer rows, or fewer levels of categories"); err != nil {
			return nil, err
		}
	}
	out, err := t.transformed(by, remarks)
	if err == nil {
		out.columns = columns
	}
	return out, err
}

// definite returns the table of a Gram matrix that is positive semidefinite, or corrected as asked.
func (t *Table) definite(ctx context.Context, eng *engine.Engine, g *points.Gram,
	correction string) (*Table, error) {
	var by *kernel.Correction
	var err error
	if correction != "" {
		by, err = kernel.Correct(ctx, eng, correction, g)
	}
	if err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	if by != nil {
		return t.transformed(by, []string{by.String()})
	}
	x, err := kernel.Sound(ctx, eng, g)
	if err != nil {
		return nil, fault.InFile(err, t.raw.Name)
	}
	return t.with(func(d *dataset.Data) { d.Points = x }), nil
}

// vectors refuses a table that has more than complete numbers.
func (t *Table) vectors() error {
	switch x := t.raw.Points.(type) {
	case *points.Dense:
		return nil
	case *points.Mixed:
		for _, c := range x.Columns {
			if c.IsText() {
				return fault.InFile(fault.Cell(-1, c.Name,
					"it has texts: want numbers alone for embeddings, or the column left out"), t.raw.Name)
			}
		}
	}
	return fault.Data(t.raw.Name, "its rows are no complete vectors of numbers (%T): want those for embeddings",
		t.raw.Points)
}

// inputs returns the names of the columns that a model of the table takes.
func (t *Table) inputs() []string { return prepare.Inputs(t.transform, t.raw.Features) }

// checkLabel refuses links that were made from a feature of the table.
func (t *Table) checkLabel(l *Links) error {
	if name := l.Label(); name != "" && slices.Contains(t.inputs(), name) {
		return fault.InFile(fault.Cell(-1, name, "the links were made from this column, which is now a "+
			"feature: want it as the label, or left out"), t.raw.Name)
	}
	return nil
}

// noteColumns adds to the notices of a model the columns that decide its links alone, and those
// whose values are too far from 0 for their differences.
func (t *Table) noteColumns(m algorithms.Model, l *Links) {
	if noted, is := m.(interface{ Note(notice string) }); is {
		for _, leak := range prepare.Leaks(t.raw, t.inputs(), l) {
			noted.Note(leak.Notice())
		}
		for _, notice := range prepare.Coarse(t.raw, t.inputs()) {
			noted.Note(notice)
		}
	}
}

// leftOut returns the names of the columns that a preparation leaves out, none if it is nil.
func leftOut(by *prepare.Preparation, features []string) (names []string) {
	if by == nil {
		return nil
	}
	taken := make(map[string]bool)
	for _, name := range by.Columns() {
		taken[name] = true
	}
	for _, name := range features {
		if !taken[name] {
			names = append(names, name)
		}
	}
	return names
}

// Summary describes the columns of the table, in their order, and what is done with each. It is nil
// for a table that is not prepared.
func (t *Table) Summary() []Column { return t.columns }

// Remarks returns what is odd about a table that the model is to be applied to: columns that it
// does not take, and rows with texts that it did not see in the fit.
func (m *Model) Remarks(t *Table) []string {
	if m.empty() || t.check("table") != nil {
		return nil
	}
	var r catalog.Remarks
	r.Add(m.fitted, t.raw)
	return r.Text()
}
