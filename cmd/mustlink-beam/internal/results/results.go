// Package results passes the summary of a pipeline to the program that started it, in a file next
// to the output, because a worker may run on another machine.
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

// name returns the path of the hidden file for an output.
func name(output string) string {
	dir, base := filepath.Split(output)
	return filepath.Join(dir, "."+base+".results.json")
}

// Save writes a summary. When several workers write it, they write the same.
func Save(output string, found any) error {
	return dataset.Atomic(name(output), func(w io.Writer) error { return json.NewEncoder(w).Encode(found) })
}

// Take reads a summary and removes the file.
func Take(output string, found any) error {
	text, err := os.ReadFile(name(output))
	if err != nil {
		return fmt.Errorf("reading the summary that the workers write next to %s: %w", output, err)
	}
	if err := json.Unmarshal(text, found); err != nil {
		return fmt.Errorf("reading %s: %w", name(output), err)
	}
	return Clear(output)
}

// Clear removes the summary of an earlier job.
func Clear(output string) error {
	if err := os.Remove(name(output)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
