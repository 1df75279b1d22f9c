//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package atomicfile

import (
	"errors"
	"os"
)

// lock fails: without locks that end with their process nobody can tell a dead writer's file.
func lock(*os.File) error { return errors.ErrUnsupported }

// removeStale leaves everything as it is.
func removeStale(string) {}

// commit gives the finished file its name, closed first: Windows renames no open file.
func commit(f *os.File, target string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}
