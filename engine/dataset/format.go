package dataset

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// format is one entry of the table of file formats. Functions that a format does not support are
// nil.
type format struct {
	name string
	// endings are those of file names, without .gz; the first is the usual one.
	endings []string
	decode  func(src *source, o ReadOptions, rep *report) (*table, error)
	rows    func(src *source, o ReadOptions, rep *report) (rowReader, error) // reads one block at a time
	labels  func(src *source, maxLine int) (labels, ids []string, err error)
	encode  func(w *matrixWriter) error
	named   bool // its columns have names
}

func (f format) readable() bool { return f.decode != nil }
func (f format) writable() bool { return f.encode != nil }

const (
	npyName   = "npy"
	tsvEnding = ".tsv"
)

// withTabs reads CSV text as if it were called .tsv.
func withTabs[T any](read func(src *source, o ReadOptions, rep *report) (T, error)) func(src *source, o ReadOptions, rep *report) (T, error) {
	return func(src *source, o ReadOptions, rep *report) (T, error) {
		src.tabs = true
		return read(src, o, rep)
	}
}

// formats returns the table, with the formats of other packages at the end. A new format is a new
// entry here.
func formats(extra []Extension) []format {
	table := []format{
		{"csv", []string{".csv"}, decodeCSV, openCSVStream, decodeLabels, encodeCSV, true},
		{"tsv", []string{tsvEnding}, withTabs(decodeCSV), withTabs(openCSVStream), decodeLabels, encodeTSV, true},
		{npyName, []string{".npy"}, decodeNPY, openNPYRows, nil, encodeNPY, false},
		{"svm", []string{".svm", ".svmlight", ".libsvm"}, decodeSVM, nil, labelsSVM, nil, false},
		{"idx", []string{".idx", "-ubyte"}, decodeIDX, nil, labelsIDX, nil, false},
		{"fasta", []string{".fasta", ".fa", ".faa", ".fna"}, decodeFASTA, nil, labelsFASTA, nil, false},
	}
	for _, x := range extra {
		table = append(table, x.format())
	}
	return table
}

// Formats returns the names of the input formats; each may be followed by ".gz".
func Formats(extra ...Extension) []string { return formatNames(extra, format.readable) }

// OutputFormats returns the names of the formats for matrices that are written.
func OutputFormats(extra ...Extension) []string { return formatNames(extra, format.writable) }

func formatNames(extra []Extension, usable func(format) bool) []string {
	var names []string
	for _, f := range formats(extra) {
		if usable(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// FormatOf returns the name of the format that a file's name implies, "" for none.
func FormatOf(path string, extra ...Extension) string { return formatNamed(path, extra).name }

// formatNamed returns the format that a file's name implies, or the zero format.
func formatNamed(path string, extra []Extension) format {
	base, _ := cutGzip(filepath.Base(path))
	for _, f := range formats(extra) {
		for _, e := range f.endings {
			if strings.HasSuffix(base, e) {
				return f
			}
		}
	}
	return format{}
}

// cutGzip returns a name in lower case without .gz, and whether it had that ending.
func cutGzip(name string) (string, bool) { return strings.CutSuffix(strings.ToLower(name), ".gz") }

// input returns the format to read a file in, and whether it is compressed; name is the default of
// o.Format.
func (o ReadOptions) input(path, name string) (format, bool, error) {
	return lookupFormat(path, cmp.Or(o.Format, name), o.Extensions, format.readable)
}

func outputFormat(path, name string, extra []Extension) (format, bool, error) {
	return lookupFormat(path, name, extra, format.writable)
}

// lookupFormat finds a format by name ("csv", "npy.gz", also by another of its extensions)
// or else by the name of path; a stream "-" without a name is CSV. A path that ends in .gz
// is compressed whatever the name says.
func lookupFormat(path, name string, extra []Extension, usable func(format) bool) (format, bool, error) {
	if path == "-" && name == "" {
		name = "csv"
	}
	given, gzName := cutGzip(name)
	for _, f := range formats(extra) {
		if usable(f) && name != "" && (f.name == given || slices.Contains(f.endings, "."+given)) {
			return f, gzName || isGzip(path), nil
		}
	}
	if name != "" {
		return format{}, false, fault.Unknown("format", name, formatNames(extra, usable))
	}
	if f := formatNamed(path, extra); f.name != "" && usable(f) {
		return f, isGzip(path), nil
	}
	base, _ := cutGzip(filepath.Base(path))
	return format{}, false, &fault.ParamError{Param: "format of " + path, Value: filepath.Ext(base),
		Want: "one of ." + strings.Join(formatNames(extra, usable), ", .") + " (each also .gz), or the name of a format"}
}
