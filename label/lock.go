package label

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/mustlink/mustlink/engine/fault"
)

const (
	// lockPatience is how long a change waits for those of other programs, which take milliseconds.
	lockPatience = 10 * time.Second
	lockRetry    = 5 * time.Millisecond
)

// take waits until no other session changes the files of answers at path, and keeps all others from
// it until release is called, or the process ends. The lock is that of a file next to them, which
// lives as long as the lock: the files themselves are replaced by others when answers are removed.
// In a folder that allows no new file nothing can be removed either, and no lock is needed.
func take(ctx context.Context, path string, at func(point string)) (release func(), err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		l := flock.New(path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
		locked, err := l.TryLock()
		switch {
		case errors.Is(err, fs.ErrPermission):
			return func() {}, nil
		case err != nil:
			return nil, fault.Data(path, "the lock %s cannot be taken: %w", l.Path(), cause(err))
		case locked && named(l):
			return func() {
				_ = os.Remove(l.Path()) // a system that keeps open files keeps this one
				_ = l.Close()
				at("released")
			}, nil
		}
		_ = l.Close() // another session has the lock, or has just removed its file
		at("waiting")
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: another program holds %s: %w", path, l.Path(), ctx.Err())
		}
	}
}

// named reports whether the name of a lock is still that of the file that is locked.
func named(l *flock.Flock) bool {
	mine, err1 := l.Stat()
	there, err2 := os.Lstat(l.Path())
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}
