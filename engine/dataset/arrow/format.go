package arrow

import (
	"errors"
	"io"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// Format returns the format for [dataset.ReadOptions] and [dataset.WriteOptions]: files that end in
// .arrow, .feather or .ipc, and the name arrow.
func Format() dataset.Extension {
	return dataset.Extension{Name: "arrow", Endings: []string{".arrow", ".feather", ".ipc"}, Open: open, Write: write}
}

const (
	magic     = "ARROW1"           // at the begin and at the end of a file
	oldMagic  = "FEA1"             // at the begin of a Feather file of version 1
	headBytes = 8                  // the magic, padded
	tailBytes = 4 + 6              // after the footer: its length and the magic
	marker    = "\xff\xff\xff\xff" // before every message of today's streams and files
)

// checkMagic reports what is no Arrow file.
func (f *file) checkMagic() error {
	if f.size < headBytes+tailBytes {
		return fault.Data("", "it has %d bytes: want an Arrow file", f.size)
	}
	var head, tail [headBytes]byte
	if err := f.read(head[:], 0); err != nil {
		return err
	}
	if err := f.read(tail[:], f.size-headBytes); err != nil {
		return err
	}
	switch begin := string(head[:]); {
	case strings.HasPrefix(begin, oldMagic):
		return fault.Data("", "it is a Feather file of version 1: want version 2, as pandas and pyarrow write")
	case strings.HasPrefix(begin, marker):
		return fault.Data("", "it is an Arrow stream: want an Arrow file, which has an index at its end")
	case !strings.HasPrefix(begin, magic):
		return fault.Data("", "the content is not Arrow: want a file that begins with %s", magic)
	case !strings.HasSuffix(string(tail[:]), magic):
		return fault.Data("", "it does not end in %s, the file is cut off: %w", magic, io.ErrUnexpectedEOF)
	}
	return nil
}

// errDamaged is the cause of errors of metadata that contradict themselves.
var errDamaged = errors.New("the file is damaged")

func damaged(format string, args ...any) error {
	return fault.Data("", format+": %w", append(args, errDamaged)...)
}

// budget counts the memory in use in addition to the values of a block.
type budget struct{ used, limit int64 }

// defaultBudget is the limit if the caller has none: a file of a few bytes may claim gigabytes.
const defaultBudget = 4 << 30

// take reserves n bytes.
func (b *budget) take(n int64) error {
	if n > b.limit-b.used {
		return &fault.MemoryError{What: "a block of rows with its columns and dictionaries", Need: b.used + n, Limit: b.limit,
			Hint: "write the file with smaller record batches or fewer columns, or raise the limit"}
	}
	b.used += n
	return nil
}

func (b *budget) give(n int64) { b.used -= n }
