package job

import (
	"os"
	"path/filepath"
)

// Temporary makes a folder for the temporary files of this process and its children, and returns a
// function that removes it: Beam leaves an empty file behind for each job on Prism. Programs call
// Temporary once, before anything else.
func Temporary() (remove func(), err error) {
	folder, err := os.MkdirTemp("", "mustlink-beam-")
	if err != nil {
		return nil, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // Unix, Windows
		if err := os.Setenv(name, folder); err != nil {
			return nil, err
		}
	}
	return func() { _ = os.RemoveAll(folder) }, nil
}
