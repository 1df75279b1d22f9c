package dataset

// Bytes that a line of a file takes once it is read, about, with what is made of it: the limit on
// memory is for files without an end, not for the last byte.
const (
	linkBytes  = 200 // a link or a row of a chunklet, in lists that grow and in the set
	labelBytes = 100 // a label, of which the text may be new
)

// eachWithin is each for lines that take bytes of memory each, up to a limit, 0 for none. Going beyond it
// is a *fault.MemoryError.
func (r *records) eachWithin(limit int64, bytes int, f func(fields []string, line int) error) error {
	o := ReadOptions{MemoryLimit: limit}
	return r.each(func(fields []string, line int) error {
		if err := f(fields, line); err != nil {
			return err
		}
		return checkBytes(o, r.rep.file, int64(r.row+1)*int64(bytes))
	})
}
