package dataset

import (
	"errors"
	"math"
	"unsafe"
)

// mapFrom is the size from which on a file is mapped: smaller ones are as well read.
const mapFrom = 16 << 20

// Map is [Read] which leaves the values of a large .npy file (from 16 MiB on, <f8, rows in order,
// not compressed) on disk: the points lie in the file's pages, which the system reads when they are
// needed and may forget again, so their number is bounded by the disk and not by memory, and the
// memory limit does not count them. Any other file is read.
//
// The points must not be written to, nor used after release, which gives the pages back. The file
// must not change or shrink before, which would change the points, or end the program.
func Map(path string, o ReadOptions) (d *Data, release func() error, err error) {
	d, release, err = mapNPY(path, o)
	if errors.Is(err, errors.ErrUnsupported) {
		d, err = Read(path, o)
		release = func() error { return nil }
	}
	return d, release, err
}

// mapNPY makes points of the pages of a file. The error is errors.ErrUnsupported where that cannot
// be done, and reading may.
func mapNPY(path string, o ReadOptions) (*Data, func() error, error) {
	f, gz, err := o.input(path, "")
	if err != nil || gz || f.name != npyName || o.Gram {
		return nil, nil, errors.ErrUnsupported
	}
	src, err := open(path, false)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	if src.size < mapFrom || src.size > math.MaxInt {
		return nil, nil, errors.ErrUnsupported
	}
	h, rows, cols, _, err := openNPY(src)
	if err != nil {
		return nil, nil, err
	}
	if h.descr != "<f8" || h.fortran && rows > 1 && cols > 1 || h.length%8 != 0 || !littleEndian() {
		return nil, nil, errors.ErrUnsupported
	}
	pages, err := mapPages(src.opened, int(src.size))
	if err != nil {
		return nil, nil, errors.ErrUnsupported
	}
	t := &table{rows: int(rows), cols: int(cols)}
	t.data = unsafe.Slice((*float64)(unsafe.Pointer(&pages[h.length])), t.rows*t.cols)
	rep := &report{file: path, max: 1}
	d, err := (*Data)(nil), t.checkFinite(rep, 0)
	if err == nil {
		d, err = t.complete(src, o, rep)
	}
	if err := rep.outcome(err); err != nil {
		_ = unmapPages(pages) // the first error counts
		return nil, nil, err
	}
	return d, func() error { return unmapPages(pages) }, nil
}

// littleEndian says whether the machine keeps numbers as .npy files with "<" do.
func littleEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}
