// Package atomicfile writes a file as a whole or not at all.
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

// bufferSize is that of the buffer between f and the file: large enough that the cost of
// a system call disappears beside copying.
const bufferSize = 1 << 18

// Write calls f with a buffered writer and makes what f wrote the content of path.
//
// The bytes go to a temporary file in the same folder, which is flushed to disk and then
// renamed, so that a reader sees the old file or the new one and never a part. When f
// returns an error or panics, nothing is left behind and an older file stays as it was;
// f's error comes back unchanged. A symbolic link is followed. An existing file's
// permission bits are kept; one without any write bit is not replaced. A device or a
// pipe, such as /dev/null, cannot be replaced and is written to directly.
//
// When path cannot be written (folder missing or read-only, path is a folder) the error
// is a *fault.DataError that names path and wraps the cause, for which errors.Is with
// fs.ErrNotExist or fs.ErrPermission works.
func Write(path string, f func(w io.Writer) error) error {
	target, mode, direct, err := resolve(path)
	if err != nil {
		return err
	}
	if direct {
		return writeDirect(path, target, f)
	}
	tmp, err := createTemp(target, mode)
	if err != nil {
		return cannotWrite(path, err)
	}
	done := false
	defer func() {
		if !done { // also on a panic in f
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err := fill(path, tmp, f); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return cannotWrite(path, err)
	}
	done = true
	syncFolder(filepath.Dir(target))
	return nil
}

// resolve follows links and says how path is to be written: mode holds the permission
// bits of an existing file, or 0 when there is none.
func resolve(path string) (target string, mode fs.FileMode, direct bool, err error) {
	if path == "" {
		return "", 0, false, &fault.ParamError{Param: "output path", Value: path, Want: "a file name"}
	}
	target = path
	if t, err := filepath.EvalSymlinks(path); err == nil {
		target = t
	}
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return target, 0, false, nil
	case err != nil:
		return "", 0, false, cannotWrite(path, err)
	case info.IsDir():
		return "", 0, false, fault.Data(path, "cannot write: it is a folder, want a file name")
	case !info.Mode().IsRegular():
		return target, 0, true, nil
	case info.Mode().Perm()&0o222 == 0:
		return "", 0, false, fault.Data(path, "cannot write: the file is write-protected: %w", fs.ErrPermission)
	}
	return target, info.Mode().Perm(), false, nil
}

// createTemp makes the temporary file beside target. os.CreateTemp would give it mode
// 0600; this way a new file gets what the umask allows, like any other.
func createTemp(target string, mode fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(target)
	if len(base) > 64 {
		base = base[:64] // leaves room below the limit of 255 bytes on names
	}
	for try := 0; ; try++ {
		// The name only has to be unused: O_EXCL decides, chance merely saves tries.
		name := filepath.Join(dir, "."+base+".tmp-"+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
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
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// fill runs f over a buffer and flushes it.
func fill(path string, out *os.File, f func(io.Writer) error) error {
	w := bufio.NewWriterSize(out, bufferSize)
	if err := f(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// cannotWrite turns the error of an attempt to open or rename into one for the user.
func cannotWrite(path string, err error) error {
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err // the path of the temporary file means nothing to the reader
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		cause = le.Err
	}
	dir := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Data(path, "cannot write: no such folder %s: %w", dir, cause)
	case errors.Is(err, fs.ErrPermission):
		return fault.Data(path, "cannot write: folder %s is not writable: %w", dir, cause)
	}
	return fault.Data(path, "cannot write: %w", cause)
}

// syncFolder makes the rename itself durable where the system allows it. Its failure is
// not reported: the file is complete and in its place.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not supported on every system
		d.Close()
	}
}
