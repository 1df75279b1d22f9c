package parquet

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// column is a leaf of the schema.
type column struct {
	name   string
	at     int // index in the list of chunks of a row group
	kind   format.Type
	value  dataset.Value // of one value that is no string of bytes
	levels int           // maximum definition level, that of a value that is not null
	list   bool
	width  int // values of a row: those of a list, or 1
	fix    string
	what   string // its values if they are not numbers, "" for numbers
	mixed  meaning
	asText bool // the column is one of text in a mixed table
	length int  // bytes of a string of fixed length
	place  int  // of the feature in the names, or of the first of a list
}

// meaning is what values that are not plain numbers are in a mixed table.
type meaning uint8

const (
	unreadable meaning = iota
	words
	times // dates, clocks and instants
	decimals
	nothing // a column without values
	uuids
	sparkInstants // INT96: nanoseconds of a day, and its number in the Julian calendar
)

// schemaReader reads the elements of a schema, which are a tree in depth-first order.
type schemaReader struct {
	rest    []format.SchemaElement
	columns []*column
}

// readSchema returns the leaves of a schema.
func readSchema(elements []format.SchemaElement) ([]*column, error) {
	if len(elements) == 0 {
		return nil, fault.Data("", "it has no schema: want one")
	}
	r := &schemaReader{rest: elements[1:]}
	for range elements[0].NumChildren.V {
		if err := r.read(nil, &column{width: 1}); err != nil {
			return nil, err
		}
	}
	if len(r.rest) > 0 {
		return nil, fault.Data("", "its schema is damaged: %d elements belong to no column", len(r.rest))
	}
	return r.columns, nil
}

// read reads an element. path has the names of the elements above it; from parent it inherits the
// levels and whether it is in a list.
func (r *schemaReader) read(path []string, parent *column) error {
	if len(r.rest) == 0 || len(path) > maxDepth {
		return fault.Data("", "its schema is damaged: a column has fewer parts than it claims")
	}
	e := r.rest[0]
	r.rest = r.rest[1:]
	path = append(slices.Clip(path), e.Name)
	c := *parent
	switch e.RepetitionType.V {
	case format.Optional:
		c.levels++
	case format.Repeated:
		if c.list {
			return fault.Cell(-1, strings.Join(path, "."),
				"it has lists of lists: want numbers, or lists of numbers of one length")
		}
		c.list = true
		c.levels++
		// a list is a group around the repeated element
		c.name = strings.Join(path[:max(1, len(path)-1)], ".")
	}
	if e.Type.Valid {
		if !c.list {
			c.name = strings.Join(path, ".")
		}
		c.at = len(r.columns)
		c.typed(&e)
		r.columns = append(r.columns, &c)
		return nil
	}
	for range e.NumChildren.V {
		if err := r.read(path, &c); err != nil {
			return err
		}
	}
	return nil
}

// typed sets the type of the column's values.
func (c *column) typed(e *format.SchemaElement) {
	c.kind, c.length = e.Type.V, int(e.TypeLength.V)
	defer c.mean(e)
	logical, converted := e.LogicalType.Value, convertedOf(e)
	whole, isWhole := logical.(*format.IntType)
	_, isHalf := logical.(*format.Float16Type)
	c.value = map[format.Type]dataset.Value{
		format.Boolean: {Kind: dataset.Boolean, Bits: 64}, format.Float: {Kind: dataset.Float, Bits: 32},
		format.Double: {Kind: dataset.Float, Bits: 64}, format.Int32: {Kind: dataset.Signed, Bits: 32},
		format.Int64: {Kind: dataset.Signed, Bits: 64}, format.Int96: {Bits: 64},
		format.ByteArray:         {Kind: dataset.Float, Bits: 64}, // of decimals
		format.FixedLenByteArray: {Kind: dataset.Float, Bits: 16},
	}[c.kind]
	switch c.kind {
	case format.Boolean, format.Float, format.Double:
	case format.Int32, format.Int64:
		if isWhole && !whole.IsSigned || converted >= deprecated.Uint8 && converted <= deprecated.Uint64 {
			c.value.Kind = dataset.Unsigned
		}
		switch {
		case logical != nil && !isWhole:
			c.what, c.fix = "values of type "+logical.String(), "write it as double"
		case converted == deprecated.Decimal || oldTimes[converted].Kind != 0:
			c.what, c.fix = "decimals, dates or times", "write it as double"
		}
	case format.ByteArray:
		c.what, c.fix = "text", dataset.HintOfText
	case format.FixedLenByteArray:
		if isHalf && e.TypeLength.V == 2 {
			return
		}
		c.what, c.fix = "strings of "+strconv.Itoa(int(e.TypeLength.V))+" bytes",
			"write it as double, or remove it"
	default:
		c.what, c.fix = "values of type "+c.kind.String(), "write it as double, or remove it"
	}
}

// mean sets what the values are in a mixed table, if they are not plain numbers.
func (c *column) mean(e *format.SchemaElement) {
	if c.what == "" || !e.Type.Valid {
		return
	}
	switch t := e.LogicalType.Value.(type) {
	case *format.DecimalType:
		c.decimals(int(t.Scale))
	case *format.DateType:
		c.time(dataset.Date, 0)
	case *format.TimestampType:
		if t.Unit.Value != nil {
			c.time(dataset.Instant, t.Unit.Value.Duration())
		}
	case *format.TimeType:
		if t.Unit.Value != nil {
			c.time(dataset.Clock, t.Unit.Value.Duration())
		}
	case *format.NullType:
		if c.kind != format.ByteArray && c.kind != format.FixedLenByteArray {
			c.mixed = nothing
		}
	case *format.UUIDType:
		if c.length == 16 {
			c.mixed = uuids
		}
	case nil:
		switch old := oldTimes[convertedOf(e)]; {
		case c.kind == format.Int96:
			c.mixed, c.length = sparkInstants, 12
		case convertedOf(e) == deprecated.Decimal:
			c.decimals(int(e.Scale.V))
		case old.Kind != 0:
			c.time(old.Kind, old.Unit)
		case c.kind == format.ByteArray:
			c.mixed = words
		}
	default:
		if c.kind == format.ByteArray {
			c.mixed = words
		}
	}
	if c.list && c.mixed != decimals {
		c.mixed = unreadable
	}
}

// oldTimes are the times that were called so before there were logical types.
var oldTimes = map[deprecated.ConvertedType]dataset.Value{
	deprecated.Date:            {Kind: dataset.Date},
	deprecated.TimestampMillis: {Kind: dataset.Instant, Unit: time.Millisecond},
	deprecated.TimestampMicros: {Kind: dataset.Instant, Unit: time.Microsecond},
	deprecated.TimeMillis:      {Kind: dataset.Clock, Unit: time.Millisecond},
	deprecated.TimeMicros:      {Kind: dataset.Clock, Unit: time.Microsecond},
}

// convertedOf returns the type of a column from before there were logical types, -1 for none.
func convertedOf(e *format.SchemaElement) deprecated.ConvertedType {
	if e.ConvertedType.Valid {
		return e.ConvertedType.V
	}
	return -1
}

// time makes the values times, if they are whole numbers of the size that these have.
func (c *column) time(kind dataset.ValueKind, unit time.Duration) {
	if c.kind == format.Int32 && kind != dataset.Instant || c.kind == format.Int64 && kind != dataset.Date {
		c.mixed, c.value.Kind, c.value.Unit = times, kind, unit
	}
}

// decimals makes the values decimals: whole numbers, or strings of bytes that are read as the bits
// of their float64.
func (c *column) decimals(scale int) {
	if scale < 0 || scale > 400 || c.kind == format.FixedLenByteArray && (c.length < 1 || c.length > 64) {
		return
	}
	c.mixed, c.value.Scale = decimals, scale
	if c.kind == format.Int32 || c.kind == format.Int64 {
		c.value.Kind = dataset.DecimalNumber
	} else {
		c.value.Kind, c.value.Bits = dataset.Float, 64
	}
}

// isText reports whether a mixed table has the column as text: booleans too, as CSV has them, since
// their kind is not that of numbers.
func (c *column) isText() bool {
	return c.mixed == words || c.mixed == times || c.bytesAsText() || c.kind == format.Boolean && !c.list
}

// bytesAsText reports whether values are strings of bytes of one length that have a form as text.
func (c *column) bytesAsText() bool { return c.mixed == uuids || c.mixed == sparkInstants }

// isName reports whether the column can contain ids or labels.
func (c *column) isName() bool {
	return !c.list && c.mixed != decimals && c.mixed != sparkInstants && (c.mixed == uuids ||
		c.kind == format.ByteArray || c.what == "" && c.kind != format.FixedLenByteArray)
}
