// Package atomicfile writes a file completely or not at all.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// bufferSize is the size of the buffer between f and the file, so large that a system call is cheap
// compared with copying it.
const bufferSize = 1 << 18

// Write calls f with a buffered writer, which is an io.WriterAt too, and makes the output of f the
// content of path.
//
// The bytes go to a temporary file in the same folder, which is flushed to disk and then renamed,
// so that a reader sees the old file or the new one, never a part. If f returns an error or panics,
// the temporary file is removed and an older file stays unchanged; Write returns the error of f
// unchanged. A symbolic link is followed, also to a file that does not exist yet. The permission
// bits of an existing file are kept; a file without any write bit is not replaced. A device or a
// pipe, such as /dev/null, cannot be replaced and is written to directly.
//
// A killed process leaves its temporary file, .NAME.tmp-mustlink-RANDOM, next to the target. The
// next Write to the same target removes it. A writer locks its file (flock) until its process ends,
// so the file of a running writer is never removed. Without such locks (Windows, some network file
// systems) nothing is removed. On a network file system whose locks apply to one machine only, two
// machines must not write to one target at the same time: the slower one may fail, but the target
// stays complete.
//
// If path cannot be written (folder missing or read-only, path is a folder), the error is a
// *fault.DataError that names path and wraps the cause, for errors.Is with fs.ErrNotExist or
// fs.ErrPermission. A later failure, such as a full disk, is a plain error that names path.
func Write(path string, f func(w io.Writer) error) error {
	target, mode, direct, err := resolve(path)
	if err != nil {
		return err
	}
	if direct {
		return writeDirect(path, target, f)
	}
	removeStale(target)
	tmp, err := createTemp(target, mode)
	if err != nil {
		return cannotWrite(path, err)
	}
	done := false
	defer func() {
		if !done { // also after a panic in f
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err := fill(path, tmp, f); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return failed(path, err)
	}
	if err := commit(tmp, target); err != nil {
		return cannotWrite(path, err)
	}
	done = true
	syncFolder(filepath.Dir(target))
	return nil
}

// resolve follows links and returns the file to write, its mode (the permission bits of an existing
// file, 0 for none), and whether it must be written directly.
func resolve(path string) (target string, mode fs.FileMode, direct bool, err error) {
	if path == "" {
		return "", 0, false, fault.Param("output path", path, "a file name")
	}
	if target, err = follow(path); err != nil {
		return "", 0, false, cannotWrite(path, err)
	}
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return target, 0, false, nil
	case err != nil:
		return "", 0, false, cannotWrite(path, err)
	case info.IsDir():
		return "", 0, false, fault.Data(path, "cannot write: it is a folder: want a file name")
	case !info.Mode().IsRegular():
		return target, 0, true, nil
	case info.Mode().Perm()&0o222 == 0:
		return "", 0, false,
			fault.Data(path, "cannot write: the file is write-protected: %w", fs.ErrPermission)
	}
	return target, info.Mode().Perm(), false, nil
}

// follow returns the file that path names, through symbolic links. It need not exist.
func follow(path string) (string, error) {
	const most = 40 // links, as many as systems follow
	for range most {
		if t, err := filepath.EvalSymlinks(path); err == nil {
			return t, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("too many symbolic links: want a file name")
}

// createTemp creates the temporary file in the folder of target. Unlike os.CreateTemp, which uses
// mode 0600, it gives a new file the permissions that the umask allows.
func createTemp(target string, mode fs.FileMode) (*os.File, error) {
	dir, prefix := temporaryPrefix(target)
	for try := 0; ; try++ {
		// The name only has to be unused: O_EXCL ensures that, and a random name saves retries.
		name := filepath.Join(dir, prefix+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		if err == nil && !claim(f) {
			f.Close()
			if err = errTaken; try < 100 {
				continue
			}
		}
		if err == nil && mode != 0 {
			if err = f.Chmod(mode); err != nil {
				f.Close()
				os.Remove(name)
			}
		}
		return f, err
	}
}

func writeDirect(path, target string, f func(io.Writer) error) error {
	out, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return cannotWrite(path, err)
	}
	if err := fill(path, out, f); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return failed(path, err)
	}
	return nil
}

// sink is a file whose errors, such as that of a full disk, name the user's path and not the
// temporary file.
type sink struct {
	path string
	file *os.File
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil {
		err = failed(s.path, err)
	}
	return n, err
}

// fill runs f over a buffer and flushes it.
func fill(path string, out *os.File, f func(io.Writer) error) error {
	s := &sink{path, out}
	w := buffered{bufio.NewWriterSize(s, bufferSize), s}
	if err := f(w); err != nil {
		return err
	}
	return w.Flush()
}

// buffered is the writer that f gets. It is an io.WriterAt too, for formats whose header contains
// the number of values.
type buffered struct {
	*bufio.Writer
	sink *sink
}

// WriteAt overwrites bytes that were written before.
func (b buffered) WriteAt(p []byte, at int64) (int, error) {
	if err := b.Flush(); err != nil {
		return 0, err
	}
	n, err := b.sink.file.WriteAt(p, at)
	if err != nil {
		err = failed(b.sink.path, err)
	}
	return n, err
}

// failed is the error of a file that could be opened but not written to its end.
func failed(path string, err error) error { return fmt.Errorf("writing %s: %w", path, cause(err)) }

// cause removes the name of the temporary file, which the user does not know.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}

// cannotWrite turns an error of opening or renaming into a message for the user.
func cannotWrite(path string, err error) error {
	cause := cause(err)
	dir := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Data(path, "cannot write: no such folder %s: %w", dir, cause)
	case errors.Is(err, fs.ErrPermission):
		return fault.Data(path, "cannot write: folder %s is not writable: %w", dir, cause)
	}
	return fault.Data(path, "cannot write: %w", cause)
}

// CannotRead turns an error of opening or reading the file at path into a *fault.DataError; input
// errors stay as they are.
func CannotRead(path string, err error) error {
	switch {
	case fault.IsInput(err):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fault.Data(path, "no such file: %w", fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fault.Data(path, "may not be read: %w", fs.ErrPermission)
	}
	return fault.Data(path, "cannot read: %w", err)
}

// syncFolder makes the rename durable if the system supports it. Its failure is not reported, as
// the file is complete and has its name.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not supported on every system
		d.Close()
	}
}

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
