package fault

import (
	"errors"
	"fmt"
)

// InFile names the file that an error of input is about. An error that names a file, and one that
// is not of input, stay as they are.
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

// InRows moves the row that an error names from its number in a block to that among all rows; first
// is the number of the block's first row.
func InRows(err error, first int) error {
	if de, ok := errors.AsType[*DataError](err); ok && de.Row >= 0 && error(de) == err {
		moved := *de
		moved.Row += first
		return &moved
	}
	return err
}
