package dataset

import (
	"errors"
	"math"
	"unsafe"
)

// mapFrom is the smallest size of a file that is mapped: reading smaller ones is as fast.
const mapFrom = 16 << 20

// Map is like [Read], but leaves the values of a large .npy file (from 16 MiB on, <f8, rows in
// order, not compressed) on disk: the points are the mapped pages of the file, which the system
// reads on demand and may drop again. Their number is bounded by the disk and not by memory, and
// they do not count against the memory limit. Any other file is read.
//
// The points must not be written to, and not used after release, which unmaps the pages. Until then
// the file must not change, which would change the points, or shrink, which would end the program.
func Map(path string, o ReadOptions) (d *Data, release func() error, err error) {
	d, release, err = mapNPY(path, o)
	if errors.Is(err, errors.ErrUnsupported) {
		d, err = Read(path, o)
		release = func() error { return nil }
	}
	return d, release, err
}

// mapNPY makes points of the pages of a file. The error is errors.ErrUnsupported if the file cannot
// be mapped but may be readable.
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
		_ = unmapPages(pages) // err is the error to return
		return nil, nil, err
	}
	return d, func() error { return unmapPages(pages) }, nil
}

// littleEndian reports whether the machine has the byte order of .npy files with "<".
func littleEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}
