package label

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

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
	for name := path + ".lock"; ; {
		f, err := lock(name)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return func() {}, nil
		case err == nil:
			return func() {
				unlock(f)
				at("released")
			}, nil
		case !errors.Is(err, errLocked):
			return nil, fault.Data(path, "the lock %s cannot be taken: %w", name, cause(err))
		}
		at("waiting")
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: another program holds %s: %w", path, name, ctx.Err())
		}
	}
}

// errLocked says that another session has the lock, or has just removed its file.
var errLocked = errors.New("the file is locked")
