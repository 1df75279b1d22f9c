package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// errTaken reports that another open file has the lock.
var errTaken = errors.New("the file is locked")

// temporaryPrefix returns the folder of target's temporary files and the prefix of their names.
func temporaryPrefix(target string) (dir, prefix string) {
	dir, base := filepath.Split(target)
	if len(base) > 64 {
		base = base[:64] // leaves room below the limit of 255 bytes on names
	}
	return dir, "." + base + ".tmp-mustlink-" // no other program names its files so
}

// claim locks a new temporary file, to mark its writer as running. It returns false if another
// process removes the file, or has removed it.
func claim(f *os.File) bool {
	switch err := lock(f); {
	case errors.Is(err, errTaken):
		return false
	case err != nil:
		return true // without locks, no process removes it
	}
	return stillNamed(f)
}

// stillNamed reports whether the name of f still refers to f.
func stillNamed(f *os.File) bool {
	mine, err1 := f.Stat()
	named, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(mine, named)
}
