package paper

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Has reports whether the folder of data sets has a file, for the columns of Table.Optional.
func (t Trial) Has(name string) bool {
	_, err := os.Stat(t.Path(name))
	return t.Data != "" && err == nil
}

// in returns the table for a folder of data sets: Absent are the columns whose files it lacks.
func (t Table) in(folder string) Table {
	t.Absent = nil
	for _, column := range t.Columns {
		if file, ok := t.Optional[column]; ok && !(Trial{Data: folder}).Has(file) {
			t.Absent = append(t.Absent, column)
		}
	}
	return t
}

// absent reports whether a column has no values because the folder lacks its file.
func (t Table) absent(column int) bool { return slices.Contains(t.Absent, t.Columns[column]) }

// wanted says which files the columns without values want, "" if there are none.
func (t Table) wanted() string {
	var parts []string
	for _, column := range t.Absent {
		parts = append(parts, fmt.Sprintf("%s wants %s", column, t.Optional[column]))
	}
	if parts == nil {
		return ""
	}
	return "No data: " + strings.Join(parts, ", ") + " in the folder of data sets."
}
