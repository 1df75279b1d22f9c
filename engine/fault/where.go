package fault

import (
	"errors"
	"fmt"
)

// InFile adds the name of the file to an input error. It returns errors that already name a file,
// and other errors, unchanged.
func InFile(err error, path string) error {
	if err == nil || path == "" || !IsInput(err) {
		return err
	}
	de, ok := errors.AsType[*DataError](err)
	switch {
	case ok && de.File != "":
		return err
	case ok && error(de) == err:
		named := *de
		named.File = path
		return &named
	}
	return fmt.Errorf("%s: %w", path, err)
}

// InSelection converts the row number of an error from its number among the selected rows to that
// among all rows; rows are the numbers of the selected ones.
func InSelection(err error, rows []int) error {
	if de, ok := errors.AsType[*DataError](err); ok && de.Row >= 0 && de.Row < len(rows) && error(de) == err {
		moved := *de
		moved.Row = rows[de.Row]
		return &moved
	}
	return err
}

// InRows converts the row number of an error from its number in a block to that among all rows;
// first is the number of the block's first row.
func InRows(err error, first int) error {
	if de, ok := errors.AsType[*DataError](err); ok && de.Row >= 0 && error(de) == err {
		moved := *de
		moved.Row += first
		return &moved
	}
	return err
}
