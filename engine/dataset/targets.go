package dataset

import (
	"errors"
	"io"

	"github.com/mustlink/mustlink/engine/fault"
)

// targetColumn is the name of the column of targets.
const targetColumn = "target"

// ReadTargets reads the column target of a CSV file: a finite number for each row of the data, in
// their order. Other columns are ignored. Errors are *fault.DataError with file, line and column;
// numbers that take more than limit bytes, 0 for no limit, are a *fault.MemoryError.
func (d *Data) ReadTargets(path string, limit int64) ([]float64, error) {
	return fromFile(path, func(src *source) ([]float64, error) { return d.decodeTargets(src, limit) })
}

// DecodeTargets is [Data.ReadTargets] for a stream. Messages refer to it as name; gz means that it
// is compressed. Errors are the same.
func (d *Data) DecodeTargets(r io.Reader, name string, gz bool, limit int64) ([]float64, error) {
	return d.decodeTargets(newSource(name, r, -1, gz), limit)
}

func (d *Data) decodeTargets(src *source, limit int64) ([]float64, error) {
	rep := &report{file: src.name, max: 1}
	list, err := targetsOf(src, limit, rep)
	if err := rep.outcome(err); err != nil {
		return nil, err
	}
	if n := d.Points.Len(); len(list.data) != n {
		return nil, fault.Data(src.name, "it has %s: want %d, one for each row of %s", count(len(list.data), targetColumn), n, d.Name)
	}
	return list.data, nil
}

// targetsOf reads the column as a table of one feature.
func targetsOf(src *source, limit int64, rep *report) (table, error) {
	var list table
	src.limit = limit
	r, err := openRecords(src, 0, rep)
	if err != nil {
		return list, err
	}
	at := r.column(targetColumn)
	if at < 0 {
		return list, rep.fatal("call the column of targets target", "the header is %s: want a column %s", r.header(), targetColumn)
	}
	r.findNumerals(false)
	return list, r.eachWithin(limit, 2*8, func(fields []string, line int) error { // factor 2: the list grows
		return list.addRow(r, fields, []int{at}, line)
	})
}

// LabelTargets returns the labels as numbers. If there are no labels, or one is not a finite
// number, the error is a *fault.DataError.
func (d *Data) LabelTargets() ([]float64, error) {
	if d.Labels == nil {
		return nil, fault.Data(d.Name, "the rows have no labels: want a column %s of numbers", labelColumn)
	}
	targets := make([]float64, len(d.Labels))
	for i, text := range d.Labels {
		v, what, _ := parseNumber(text)
		if what != "" {
			return nil, &fault.DataError{File: d.Name, Row: i, Column: labelColumn, Err: errors.New(what)}
		}
		targets[i] = v
	}
	return targets, nil
}
