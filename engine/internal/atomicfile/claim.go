package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// errTaken says that somebody else holds the lock of a file.
var errTaken = errors.New("the file is locked")

// temporaryPrefix returns the folder of target's temporary files, and what their names begin with.
func temporaryPrefix(target string) (dir, prefix string) {
	dir, base := filepath.Split(target)
	if len(base) > 64 {
		base = base[:64] // leaves room below the limit of 255 bytes on names
	}
	return dir, "." + base + ".tmp-"
}

// claim locks a temporary file just made, as a living writer's. It reports false if somebody
// came between and removes the file, or has done so.
func claim(f *os.File) bool {
	switch err := lock(f); {
	case errors.Is(err, errTaken):
		return false
	case err != nil:
		return true // no locks here: nobody removes it either
	}
	return stillNamed(f)
}

// stillNamed reports whether f is what lies under its name.
func stillNamed(f *os.File) bool {
	mine, err1 := f.Stat()
	named, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(mine, named)
}
