package arrow

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/mustlink/mustlink/engine/dataset"
)

// The columns that are not features.
const (
	labelColumn = "label"
	idColumn    = "id"
)

// write writes a matrix, a batch for each block: the columns id, the numbers, and label; see
// [dataset.Extension].
func write(out io.Writer, columns []string, next func() (dataset.Rows, error)) error {
	var w *ipc.FileWriter
	for {
		rows, err := next()
		if err != nil && err != io.EOF {
			return err
		}
		if w == nil {
			if w, err = ipc.NewFileWriter(out, ipc.WithSchema(schemaOf(columns, rows))); err != nil {
				return err
			}
		}
		if len(rows.Data) == 0 {
			return w.Close()
		}
		if err := writeBatch(w, columns, rows); err != nil {
			return err
		}
	}
}

// schemaOf returns the columns of a file. The first block determines whether there are ids and
// labels.
func schemaOf(columns []string, rows dataset.Rows) *arrow.Schema {
	var fields []arrow.Field
	if rows.IDs != nil {
		fields = append(fields, arrow.Field{Name: idColumn, Type: arrow.BinaryTypes.String})
	}
	for _, name := range columns {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
	}
	if rows.Labels != nil {
		fields = append(fields, arrow.Field{Name: labelColumn, Type: arrow.BinaryTypes.String})
	}
	return arrow.NewSchema(fields, nil)
}

// writeBatch writes a block.
func writeBatch(w *ipc.FileWriter, columns []string, rows dataset.Rows) error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schemaOf(columns, rows))
	defer b.Release()
	at := 0
	if rows.IDs != nil {
		b.Field(0).(*array.StringBuilder).AppendStringValues(rows.IDs, nil)
		at = 1
	}
	width := len(columns)
	column := make([]float64, len(rows.Data)/width)
	for j := range columns {
		for i := range column {
			column[i] = rows.Data[i*width+j]
		}
		b.Field(at+j).(*array.Float64Builder).AppendValues(column, nil)
	}
	if rows.Labels != nil {
		b.Field(at+width).(*array.StringBuilder).AppendStringValues(rows.Labels, nil)
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return w.Write(batch)
}
