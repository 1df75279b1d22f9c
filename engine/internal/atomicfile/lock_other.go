//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package atomicfile

import (
	"errors"
	"os"
)

// lock fails: without locks that end with their process, stale files cannot be recognized.
func lock(*os.File) error { return errors.ErrUnsupported }

// removeStale does nothing.
func removeStale(string) {}

// commit closes the finished file and gives it its name: Windows cannot rename an open file.
func commit(f *os.File, target string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}
