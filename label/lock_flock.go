//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package label

import (
	"errors"
	"os"
	"syscall"
)

// lock locks the file of that name, which it makes if there is none. The lock ends with the
// process.
func lock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	err = syscall.EINTR
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) || err == nil && !named(f) {
		err = errLocked
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unlock removes the file while it is locked, and ends the lock.
func unlock(f *os.File) {
	_ = os.Remove(f.Name())
	f.Close()
}

// named reports whether the name of an open file is still its own.
func named(f *os.File) bool {
	mine, err1 := f.Stat()
	there, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}
