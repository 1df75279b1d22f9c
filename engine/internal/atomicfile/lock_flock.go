//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lock takes the lock of f for as long as f is open, or returns errTaken if another open
// file has it. Any other error says that the file system has no locks.
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

// removeStale removes what writers of target left behind that were killed: temporary files
// of its name whose lock nobody holds, which a living writer does and the system takes from
// a dead one. It is housekeeping: what cannot be removed stays.
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
			if chance, ok := strings.CutPrefix(name, prefix); ok && isChance(chance) {
				removeUnlocked(filepath.Join(dir, name))
			}
		}
	}
}

// isChance reports whether s can be the random end of a temporary file's name: a number of
// 64 bits to the base 36.
func isChance(s string) bool {
	return s != "" && len(s) <= 13 && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// removeUnlocked removes the file of that name unless its writer lives.
func removeUnlocked(name string) {
	// A link is not followed, and a pipe must not keep us waiting. Some network file systems
	// lock only what is open for writing.
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

// commit gives the finished file its name. The lock is kept until then, so that nobody
// takes the file for a dead writer's.
func commit(f *os.File, target string) error {
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	f.Close() // it is on the disk already
	return nil
}
