// Package results carries what a pipeline has found to the program that started it: in a file
// beside the output, since a worker may be on another machine.
package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mustlink/mustlink/engine/dataset"
)

// name returns the path of the file that belongs to an output, a hidden one.
func name(output string) string {
	dir, base := filepath.Split(output)
	return filepath.Join(dir, "."+base+".told.json")
}

// Save writes what was found. The last of several writers counts, and they write the same.
func Save(output string, found any) error {
	return dataset.Atomic(name(output), func(w io.Writer) error { return json.NewEncoder(w).Encode(found) })
}

// Take reads what was found, and removes the file.
func Take(output string, found any) error {
	text, err := os.ReadFile(name(output))
	if err != nil {
		return fmt.Errorf("reading what the job has found, which its workers write beside %s: %w", output, err)
	}
	if err := json.Unmarshal(text, found); err != nil {
		return fmt.Errorf("reading %s: %w", name(output), err)
	}
	return Clear(output)
}

// Clear removes what an earlier job has left.
func Clear(output string) error {
	if err := os.Remove(name(output)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
