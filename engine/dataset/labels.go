package dataset

import (
	"io"

	"github.com/mustlink/mustlink/engine/fault"
)

// ReadLabels reads the labels of a labels file, or of data with labels: the column label of
// a CSV file, the first words of an svmlight file, the second words of the headers of a
// FASTA file, the whole numbers of an IDX vector. What is not known by its name is CSV.
// Other columns are not looked at. A file without labels, or with an empty one, is a
// *fault.DataError. Labels that take more than limit bytes, 0 for no limit, are a *fault.MemoryError.
func ReadLabels(path string, limit int64) ([]string, error) {
	labels, _, err := readLabels(path, ReadOptions{MemoryLimit: limit})
	return labels, err
}

// DecodeLabels is [ReadLabels] for a stream of CSV that messages call name. gz says that it
// is compressed.
// Errors are the same.
func DecodeLabels(r io.Reader, name string, gz bool, limit int64) ([]string, error) {
	src := newSource(name, r, -1, gz)
	src.limit = limit
	labels, _, err := decodeLabels(src, 0)
	return labels, err
}

func readLabels(path string, o ReadOptions) (labels, ids []string, err error) {
	decode := decodeLabels
	if f := formatNamed(path, nil); f.labels != nil {
		decode = f.labels
	}
	src, err := open(path, isGzip(path))
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	src.limit = o.MemoryLimit
	return decode(src, o.MaxLine)
}

// decodeLabels also returns the ids, nil when there are none.
func decodeLabels(src *source, maxLine int) (labels, ids []string, err error) {
	rep := &report{file: src.name, max: 1}
	err = func() error {
		r, err := openRecords(src, maxLine, rep)
		if err != nil {
			return err
		}
		label, err := labelsOf(r)
		if err != nil {
			return err
		}
		id := idNames(r.column(idColumn))
		err = r.eachWithin(src.limit, labelBytes, func(fields []string, line int) error {
			if err := label.add(r, fields, line); err != nil {
				return err
			}
			return id.add(r, fields, line)
		})
		labels, ids = label.values, id.values
		return err
	}()
	if err := rep.outcome(err); err != nil {
		return nil, nil, err
	}
	return labels, ids, nil
}

// labelsFor reads the labels of a data file of n rows from a file of their own. When both
// files have ids these must agree row by row.
func labelsFor(path, data string, n int, dataIDs []string, o ReadOptions) ([]string, error) {
	labels, ids, err := readLabels(path, o)
	if err != nil {
		return nil, err
	}
	if len(labels) != n {
		return nil, fault.Data(path, "it has %s: want %d, one for each row of %s", count(len(labels), "label"), n, data)
	}
	if ids == nil || dataIDs == nil {
		return labels, nil
	}
	for i, id := range ids {
		if id != dataIDs[i] {
			e := fault.Data(path, "the id is %s, but %s in %s: want the same order", quote(id), quote(dataIDs[i]), data)
			e.Row, e.Column = i, idColumn
			return nil, e
		}
	}
	return labels, nil
}
