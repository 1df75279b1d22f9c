//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lock takes the lock of f until f is closed, or returns errTaken if another open file has it. Any
// other error means that the file system has no locks.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errTaken
		}
		return err
	}
}

// removeStale removes temporary files of killed writers of target: those that are not locked. A
// running writer keeps its file locked, and the system releases the lock when the process ends.
// Files that cannot be removed stay.
func removeStale(target string) {
	dir, prefix := temporaryPrefix(target)
	folder, err := os.Open(filepath.Join(dir, "."))
	if err != nil {
		return
	}
	defer folder.Close()
	const batch = 1024
	for err == nil {
		var names []string
		names, err = folder.Readdirnames(batch)
		for _, name := range names {
			if chance, ok := strings.CutPrefix(name, prefix); ok && isRandom(chance) {
				removeUnlocked(filepath.Join(dir, name))
			}
		}
	}
}

// isRandom reports whether s can be the random end of a temporary file's name: a 64-bit number in
// base 36.
func isRandom(s string) bool {
	return s != "" && len(s) <= 13 && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// removeUnlocked removes the named file unless its writer is running.
func removeUnlocked(name string) {
	// A link is not followed, and a pipe must not block. Some network file systems lock only files
	// that are open for writing.
	f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && lock(f) == nil && stillNamed(f) {
		os.Remove(name)
	}
}

// commit gives the finished file its name. It keeps the lock until then, so that no other process
// removes the file as stale.
func commit(f *os.File, target string) error {
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	f.Close() // it is on the disk already
	return nil
}
