package job

import (
	"os"
	"path/filepath"
)

// Temporary gives this process, and those that it starts, a folder of their own for temporary
// files, and returns what removes it: Beam leaves an empty file behind for each job on Prism.
// Programs call it once, before anything else.
func Temporary() (remove func(), err error) {
	folder, err := os.MkdirTemp("", "mustlink-beam-")
	if err != nil {
		return nil, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // of Unix, of Windows
		if err := os.Setenv(name, folder); err != nil {
			return nil, err
		}
	}
	return func() { _ = os.RemoveAll(folder) }, nil
}
