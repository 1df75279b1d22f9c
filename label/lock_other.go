//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package label

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// stale is the age of a lock that a killed process has left: changes take milliseconds.
const stale = lockPatience / 2

// lock makes the file of that name, which nobody has made.
func lock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > stale {
		_ = os.Remove(name)
	}
	return nil, errLocked
}

// unlock removes the file.
func unlock(f *os.File) {
	f.Close()
	_ = os.Remove(f.Name())
}
