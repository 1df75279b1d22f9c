package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime/debug"
	"sync"
	"unsafe"
)

// mapFrom is the smallest size of a file that is mapped: reading smaller ones is as fast.
const mapFrom = 16 << 20

// Mappings are files whose pages hold points. The zero value is ready. It is safe for concurrent
// use.
//
//	var files dataset.Mappings
//	defer files.Release()
//	err := files.Guard(func() error {
//		data, err := files.Map("huge.npy", dataset.ReadOptions{})
//		...
//	})
type Mappings struct {
	mu   sync.Mutex
	list []*mapping
}

// mapping is one of the files, which stays open.
type mapping struct {
	src   *source
	pages []byte
	info  fs.FileInfo // before the pages were read
}

// ChangedError reports that a file changed while its pages held points. The results of the work
// that used them are wrong or incomplete.
type ChangedError struct{ Path string }

// Error names the file.
func (e *ChangedError) Error() string {
	return e.Path + ": the file changed while it was in use: want one that nothing writes to meanwhile"
}

// Map is like [Read], but leaves the values of a large .npy file (from 16 MiB on, <f8, rows in
// order, not compressed) on disk: the points are the mapped pages of the file, which the system
// reads on demand and may drop again. Their number is bounded by the disk and not by memory, and
// they do not count against the memory limit. Any other file is read. The netlib build reads all
// files, because C code cannot return from a page that is gone.
//
// The points must not be written to, and not used after Release. Use them in [Mappings.Guard]:
// outside of it, a file that shrinks ends the program.
func (m *Mappings) Map(path string, o ReadOptions) (*Data, error) {
	var d *Data
	err := m.Guard(func() (err error) {
		d, err = m.mapNPY(path, o)
		return err
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return Read(path, o)
	}
	return d, err
}

// Guard calls f, which may use the points, and returns its error. If a file shrank and f used a
// page that is gone, or if a file has changed in another way when f returns, it returns a
// [*ChangedError]. Goroutines that f starts must recover such a fault themselves, as the engine's
// do. Guard may be called in f.
func (m *Mappings) Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			changed := m.lost(v)
			if changed == nil {
				panic(v)
			}
			err = changed
		}
	}()
	if err := f(); err != nil {
		return err
	}
	return m.Unchanged()
}

// lost returns the error for a panic at an address in a file's pages, nil for any other.
func (m *Mappings) lost(v any) error {
	err, _ := v.(error)
	var fault interface{ Addr() uintptr }
	if !errors.As(err, &fault) {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.list {
		first := uintptr(unsafe.Pointer(unsafe.SliceData(one.pages)))
		if at := fault.Addr(); at >= first && at-first < uintptr(len(one.pages)) {
			return &ChangedError{one.src.name}
		}
	}
	return nil
}

// Unchanged returns a [*ChangedError] if the size or the time of a file differs from when it was
// mapped. Programs call it before they keep a result.
func (m *Mappings) Unchanged() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.list {
		now, err := one.src.opened.Stat()
		if err != nil {
			return fmt.Errorf("looking at %s: %w", one.src.name, err)
		}
		if now.Size() != one.info.Size() || !now.ModTime().Equal(one.info.ModTime()) {
			return &ChangedError{one.src.name}
		}
	}
	return nil
}

// Release unmaps the pages and closes the files.
func (m *Mappings) Release() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var problems []error
	for _, one := range m.list {
		problems = append(problems, unmapPages(one.pages), one.src.Close())
	}
	m.list = nil
	return errors.Join(problems...)
}

// mapNPY makes points of the pages of a file. The error is errors.ErrUnsupported if the file cannot
// be mapped but may be readable.
func (m *Mappings) mapNPY(path string, o ReadOptions) (*Data, error) {
	f, gz, err := o.input(path, "")
	if err != nil || gz || f.name != npyName || o.Gram {
		return nil, errors.ErrUnsupported
	}
	src, err := open(path, false)
	if err != nil {
		return nil, err
	}
	one, t, err := mapSource(src)
	if err != nil {
		_ = src.Close() // err is the error to return
		return nil, err
	}
	m.mu.Lock()
	m.list = append(m.list, one)
	m.mu.Unlock()
	rep := &report{file: path, max: 1}
	d, err := (*Data)(nil), t.checkFinite(rep, 0)
	if err == nil {
		d, err = t.complete(src, o, rep)
	}
	if d != nil {
		d.pages = one.pages
	}
	return d, rep.outcome(err)
}

// Mapped reports whether the points are pages of a file.
func (d *Data) Mapped() bool { return d.pages != nil }

// Rest gives the pages of a mapped file back to the system, which reads them again when they are
// used: between blocks of rows, whose results are elsewhere.
func (d *Data) Rest() { restPages(d.pages) }

// mapSource maps a file with values in the form in which they are used.
func mapSource(src *source) (*mapping, *table, error) {
	if src.size < mapFrom || src.size > math.MaxInt {
		return nil, nil, errors.ErrUnsupported
	}
	info, err := src.opened.Stat()
	if err != nil {
		return nil, nil, err
	}
	h, rows, cols, _, err := openNPY(src)
	if err != nil {
		return nil, nil, err
	}
	littleEndian := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	if h.descr != "<f8" || h.fortran && rows > 1 && cols > 1 || h.length%8 != 0 || !littleEndian {
		return nil, nil, errors.ErrUnsupported
	}
	pages, err := mapPages(src.opened, int(src.size))
	if err != nil {
		return nil, nil, errors.ErrUnsupported
	}
	t := &table{rows: int(rows), cols: int(cols)}
	t.data = unsafe.Slice((*float64)(unsafe.Pointer(&pages[h.length])), t.rows*t.cols)
	return &mapping{src, pages, info}, t, nil
}
