package mustlink

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// ReadTableFrom is [ReadTable] for a stream: format is that of the content, such as "csv", "jsonl"
// or "npy", also with ".gz" behind it. Messages refer to the stream as -.
func ReadTableFrom(r io.Reader, format string, options ...ReadOption) (*Table, error) {
	if r == nil {
		return nil, fault.Param("reader", "nil", "a reader")
	}
	return readFrom(r, "-", format, options)
}

func readFrom(r io.Reader, name, format string, options []ReadOption) (*Table, error) {
	d, err := dataset.Decode(r, name, format, readOptions(options))
	if err != nil {
		return nil, err
	}
	return newTable(d), nil
}

// FromRecords returns the table of records, such as those that a service gets as JSON. Their values
// are numbers, texts, booleans, times, nil for a missing one, lists of these, or further records;
// they are read as JSON Lines are (docs/formats.md), so that a row has the same columns and the
// same preparation as one of a file. A name that a record lacks is missing there, and so is NaN; a
// model wants each of its columns in one record at least, with the value nil if it is missing.
// Columns are in the order of their names; "id" and "label" are those of a file.
//
// Errors: no records; a value of another type or an infinite one is a *fault.DataError with row and
// column. Cost: the text of all values, in memory.
func FromRecords(records []map[string]any, options ...ReadOption) (*Table, error) {
	names := map[string]bool{}
	for _, r := range records {
		for name := range r {
			names[name] = true
		}
	}
	all := slices.Sorted(maps.Keys(names))
	return fromCells(len(records), all, func(i int, name string) any { return records[i][name] }, options)
}

// FromColumns returns the table of columns of equal length: each is a []float64, []string, []bool
// or []time.Time, with NaN, "" and the zero time for missing cells. The rest is as in
// [FromRecords].
func FromColumns(columns map[string]any, options ...ReadOption) (*Table, error) {
	names := slices.Sorted(maps.Keys(columns))
	rows := 0
	for k, name := range names {
		switch columns[name].(type) {
		case []float64, []string, []bool, []time.Time:
		default:
			return nil, fault.Cell(-1, name, "it is a %T: want []float64, []string, []bool or []time.Time",
				columns[name])
		}
		n := reflect.ValueOf(columns[name]).Len()
		if k > 0 && n != rows {
			return nil, fault.Cell(-1, name, "it has %d values: want %d, as %q has", n, rows, names[0])
		}
		rows = n
	}
	return fromCells(rows, names, func(i int, name string) any {
		cell := reflect.ValueOf(columns[name]).Index(i).Interface()
		if t, is := cell.(time.Time); cell == "" || is && t.IsZero() {
			return nil
		}
		return cell
	}, options)
}

// FromStructs returns the table of structs, with a column for each exported field, as encoding/json
// names it: a field with the tag `json:"country"` is the column country, one with `json:"-"` none.
// A nil pointer is a missing value. The rest is as in [FromRecords]; a NaN is an error here.
func FromStructs[T any](rows []T, options ...ReadOption) (*Table, error) {
	if len(rows) == 0 {
		return nil, fault.Shape("number of rows", 0, "1 or more")
	}
	var text bytes.Buffer
	for i := range rows {
		line, err := json.Marshal(&rows[i])
		if err != nil || line[0] != '{' {
			return nil, fault.Cell(i, "", "it is %+v: want a struct of numbers, texts, booleans and times",
				rows[i])
		}
		text.Write(append(line, '\n'))
	}
	return readLines(&text, options)
}

// fromCells reads cells as the JSON Lines that have them.
func fromCells(rows int, names []string, cell func(i int, name string) any, options []ReadOption) (*Table,
	error) {
	if rows == 0 || len(names) == 0 {
		return nil, fault.Shape("number of rows and columns", rows*len(names), "1 or more of each")
	}
	var text bytes.Buffer
	for i := range rows {
		for k, name := range names {
			text.WriteByte("{,"[min(k, 1)])
			quoted, err := json.Marshal(name)
			if err != nil {
				return nil, fault.Cell(i, name, "%w", err)
			}
			value := cell(i, name)
			if v, is := value.(float64); is && math.IsNaN(v) {
				value = nil
			}
			b, err := json.Marshal(value)
			if err != nil {
				return nil, fault.Cell(i, name, "the value is %v: want a finite number, a text, a boolean, a "+
					"time, nil, or lists or records of these", value)
			}
			text.Write(quoted)
			text.WriteByte(':')
			text.Write(b)
		}
		text.WriteString("}\n")
	}
	return readLines(&text, options)
}

// readLines reads JSON Lines that were made of rows in memory.
func readLines(text *bytes.Buffer, options []ReadOption) (*Table, error) {
	t, err := readFrom(text, "", "jsonl", options)
	if e, is := errors.AsType[*fault.DataError](err); is { // of a line that nobody has seen
		if e.Row < 0 && e.Line > 0 {
			e.Row = e.Line - 1
		}
		e.Line = 0
	}
	return t, err
}
