package arrow

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// The types of messages and columns that are written, as the format numbers them.
const (
	schemaHeader = 1
	floatType    = 3
	textType     = 5
	doubles      = 2 // the precision of a floating-point type
)

// finishMessage returns a message with some header.
func finishMessage(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT, bodyLength int64) []byte {
	const messageVersion, messageBody, fields = 0, 3, 5
	b.StartObject(fields)
	b.PrependInt16Slot(messageVersion, version5, 0)
	b.PrependByteSlot(messageType, kind, 0)
	b.PrependUOffsetTSlot(messageHeader, header, 0)
	b.PrependInt64Slot(messageBody, bodyLength, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// schemaOf adds the schema.
func schemaOf(b *flatbuffers.Builder, fields []dataset.WrittenColumn) flatbuffers.UOffsetT {
	const members = 4
	list := make([]flatbuffers.UOffsetT, len(fields))
	for i, f := range fields {
		list[i] = addField(b, f)
	}
	at := b.CreateVectorOfTables(list)
	b.StartObject(members)
	b.PrependUOffsetTSlot(schemaFields, at, 0)
	return b.EndObject()
}

// addField adds a field. Readers expect a list of its children, which is empty.
func addField(b *flatbuffers.Builder, f dataset.WrittenColumn) flatbuffers.UOffsetT {
	const members, precision = 7, 0
	name, children := b.CreateString(f.Name), b.CreateVectorOfTables(nil)
	id := byte(floatType)
	b.StartObject(1)
	if f.Texts != nil {
		id = textType
	} else {
		b.PrependInt16Slot(precision, doubles, 0)
	}
	of := b.EndObject()
	b.StartObject(members)
	b.PrependUOffsetTSlot(fieldName, name, 0)
	b.PrependByteSlot(fieldTypeID, id, 0)
	b.PrependUOffsetTSlot(fieldType, of, 0)
	b.PrependUOffsetTSlot(fieldChildren, children, 0)
	return b.EndObject()
}

// batchMessage returns the metadata of a record batch of n rows.
func batchMessage(n, columns int, y body) []byte {
	const members = 5
	b := flatbuffers.NewBuilder(0)
	b.StartVector(bufferBytes, len(y.buffers), 8)
	for i := len(y.buffers) - 1; i >= 0; i-- {
		b.PrependInt64(y.buffers[i][1])
		b.PrependInt64(y.buffers[i][0])
	}
	buffers := b.EndVector(len(y.buffers))
	b.StartVector(nodeBytes, columns, 8)
	for range columns { // the number of values and that of nulls
		b.PrependInt64(0)
		b.PrependInt64(int64(n))
	}
	nodes := b.EndVector(columns)
	b.StartObject(members)
	b.PrependInt64Slot(batchLength, int64(n), 0)
	b.PrependUOffsetTSlot(batchNodes, nodes, 0)
	b.PrependUOffsetTSlot(batchBuffers, buffers, 0)
	return finishMessage(b, recordBatch, b.EndObject(), int64(len(y.b)))
}

// footerOf returns the footer: the schema and the positions of the batches.
func footerOf(fields []dataset.WrittenColumn, blocks []block) []byte {
	const members = 5
	b := flatbuffers.NewBuilder(0)
	schema := schemaOf(b, fields)
	b.StartVector(blockBytes, len(blocks), 8)
	for i := len(blocks) - 1; i >= 0; i-- {
		b.PrependInt64(blocks[i].body)
		b.Pad(4)
		b.PrependInt32(int32(blocks[i].meta))
		b.PrependInt64(blocks[i].at)
	}
	batches := b.EndVector(len(blocks))
	b.StartVector(blockBytes, 0, 8)
	dictionaries := b.EndVector(0)
	b.StartObject(members)
	b.PrependInt16Slot(footerVersion, version5, 0)
	b.PrependUOffsetTSlot(footerSchema, schema, 0)
	b.PrependUOffsetTSlot(footerDictionaries, dictionaries, 0)
	b.PrependUOffsetTSlot(footerBatches, batches, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// flat is a flatbuffer, the form of the metadata. Every place is compared with the bytes. The first
// one that is wrong sets bad; from then on everything that is read is zero.
type flat struct {
	b   []byte
	bad bool
}

// uint returns the number of size bytes at a place.
func (f *flat) uint(at, size int64) uint64 {
	if f.bad || at < 0 || at > int64(len(f.b))-size {
		f.bad = true
		return 0
	}
	v := dataset.Value{Bits: int(8 * size)}
	return v.LittleEndian(f.b[at:])
}

// int is uint for a signed number.
func (f *flat) int(at, size int64) int64 {
	free := 64 - 8*size
	return int64(f.uint(at, size)<<free) >> free
}

// follow returns the table to which the offset at a place points.
func (f *flat) follow(at int64) table { return table{f, at + int64(f.uint(at, 4))} }

// table is a table of a flatbuffer. The zero table has no fields.
type table struct {
	f  *flat
	at int64
}

// field returns the place of the k-th field, 0 for one that is not there.
func (t table) field(k int64) int64 {
	if t.f == nil {
		return 0
	}
	fields := t.at - t.f.int(t.at, 4)
	if 4+2*k+2 > int64(t.f.uint(fields, 2)) {
		return 0
	}
	if offset := int64(t.f.uint(fields+4+2*k, 2)); offset != 0 {
		return t.at + offset
	}
	return 0
}

// int returns a number of size bytes, or the preset.
func (t table) int(k, size, preset int64) int64 {
	if at := t.field(k); at != 0 {
		return t.f.int(at, size)
	}
	return preset
}

// table returns a field that is a table.
func (t table) table(k int64) table {
	if at := t.field(k); at != 0 {
		return t.f.follow(at)
	}
	return table{}
}

// text returns a field that is a text.
func (t table) text(k int64) string {
	if v := t.vector(k, 1); v.n > 0 {
		return string(v.f.b[v.at : v.at+v.n])
	}
	return ""
}

// vector returns a field that is a list of elements of some size.
func (t table) vector(k, size int64) vector {
	at := t.field(k)
	if at == 0 {
		return vector{}
	}
	at += int64(t.f.uint(at, 4))
	n := int64(t.f.uint(at, 4))
	if at+4 > int64(len(t.f.b))-n*size { // both are below 2^36
		t.f.bad = true
	}
	if t.f.bad {
		return vector{}
	}
	return vector{t.f, at + 4, n, size}
}

// vector is a list of n elements.
type vector struct {
	f           *flat
	at, n, size int64
}

// int returns the number of size bytes that is some bytes into the i-th element.
func (v vector) int(i, into, size int64) int64 { return v.f.int(v.at+i*v.size+into, size) }

// table returns the i-th element of a list of tables.
func (v vector) table(i int64) table { return v.f.follow(v.at + i*v.size) }

// The fields of the tables of a schema, as Schema.fbs of Apache Arrow numbers them.
const (
	schemaEndianness = 0
	schemaFields     = 1
	fieldName        = 0
	fieldTypeID      = 2
	fieldType        = 3
	fieldDictionary  = 4
	fieldChildren    = 5
	encodingID       = 0
	encodingIndex    = 1

	version4, version5 = 3, 4 // of the metadata
)

// column is a field of the schema, or of a struct or list in it.
type column struct {
	name                string
	what                string // its values, in words
	kind                kind
	storage             storage
	size                int64 // bytes of a value; the length of a list of fixed size
	node, buffer, views int64 // the first of its nodes and buffers in a batch; columns of views before it
	value               dataset.Value
	above               []*column
	item                *column // of a list
	dictionary          *column // the values, if the column has their numbers
	id                  int64   // of the dictionary
	words               cells   // the values of the dictionary, once they are read

	width  int  // features: the length of lists, 1 for other columns
	asText bool // it is read as text
}

// kind is what the values of a column can be.
type kind uint8

const (
	unreadable kind = iota
	number
	decimal // a number in a mixed table
	text
	instant // a date or a time, which a mixed table has as text
)

// storage is how the values of a column are stored.
type storage uint8

const (
	nothing storage = iota // only nulls
	bits
	fixed
	texts      // offsets of 32 bits, and bytes
	largeTexts // offsets of 64 bits, and bytes
	views
	lists
	largeLists
	fixedLists
	structs
	bare1 // other types, by the number of their buffers
	bare2
	bare3
)

// buffers returns the number of buffers that a column has in each batch, without those of views.
func (s storage) buffers() int64 {
	return [...]int64{nothing: 0, bits: 2, fixed: 2, texts: 3, largeTexts: 3, views: 2, lists: 2,
		largeLists: 2, fixedLists: 1, structs: 1,
		bare1: 1, bare2: 2, bare3: 3}[s]
}

// readSchema reads the columns.
func (f *file) readSchema(schema table, version int64) error {
	switch {
	case schema.f == nil:
		return fault.Data("", "its footer has no schema: want one")
	case version < version4:
		return fault.Data("", "its metadata have version %d: want 4 or 5, as pyarrow writes since 2017",
			version+1)
	case schema.int(schemaEndianness, 2, 0) != 0:
		return fault.Data("", "its numbers have the highest byte first: want the lowest first, as usual")
	}
	const least = 8 // bytes of a field
	r := &schemaReader{held: &f.Held, left: int64(len(schema.f.b)) / least, unions: version < version5}
	fields := schema.vector(schemaFields, 4)
	for i := range fields.n {
		c, err := r.read(fields.table(i), nil)
		if err != nil {
			return err
		}
		f.columns = append(f.columns, r.flatten(c)...)
	}
	f.nodes = r.nodes
	if schema.f.bad {
		return fault.Data("", "its footer is damaged: want that of an Arrow file")
	}
	return nil
}

// schemaReader reads the fields of a schema, which are a tree in depth-first order.
type schemaReader struct {
	held                  *dataset.Budget
	left                  int64 // fields that the metadata have room for
	unions                bool  // unions have a buffer of nulls
	depth                 int
	nodes, buffers, views int64
	leaves                map[*column][]*column // of structs
}

// read reads a field below structs.
func (r *schemaReader) read(t table, above []*column) (*column, error) {
	const each, deepest = 512, 64 // approximate bytes of a column, and levels of fields in fields
	c := &column{name: t.text(fieldName), node: r.nodes, buffer: r.buffers, views: r.views, above: above,
		width: 1}
	if len(above) > 0 {
		c.name = above[len(above)-1].name + "." + c.name
	}
	r.left--
	r.depth++
	defer func() { r.depth-- }()
	if r.left < 0 || r.depth > deepest || t.f.bad {
		return nil, fault.Data("", "its schema is damaged: want the fields of an Arrow file")
	}
	if err := r.held.Take(each + int64(len(c.name))); err != nil {
		return nil, err
	}
	c.typed(t.int(fieldTypeID, 1, 0), t.table(fieldType), r.unions)
	if e := t.table(fieldDictionary); e.f != nil {
		return c, r.encoded(c, e, t)
	}
	r.count(c)
	return c, r.children(c, t.vector(fieldChildren, 4))
}

// count counts the nodes and buffers of a column.
func (r *schemaReader) count(c *column) {
	r.nodes++
	r.buffers += c.storage.buffers()
	if c.storage == views {
		r.views++
	}
}

// encoded makes a column one of the numbers of values in a dictionary. Batches have the numbers.
func (r *schemaReader) encoded(c *column, encoding, field table) error {
	values := *c
	values.node, values.buffer, values.views = 0, 0, 0
	values.above = nil
	inner := &schemaReader{held: r.held, left: r.left, unions: r.unions, depth: r.depth, nodes: 1,
		buffers: values.storage.buffers()}
	if err := inner.children(&values, field.vector(fieldChildren, 4)); err != nil {
		return err
	}
	r.left = inner.left
	if values.item != nil {
		values.kind = unreadable
	}
	c.dictionary, c.id, c.item = &values, encoding.int(encodingID, 8, 0), nil
	index := encoding.table(encodingIndex)
	width, signed := int64(32), int64(1)
	if index.f != nil {
		width, signed = index.int(0, 4, 0), index.int(1, 1, 0)
	}
	c.size = 0
	if c.set(values.kind, c.what, width, wholeKind(signed != 0)); c.size == 0 {
		return fault.Data("", "the dictionary of column %s has numbers of %d bits: want 8, 16, 32 or 64",
			c.name, width)
	}
	r.count(c)
	return nil
}

// children reads the fields of a column.
func (r *schemaReader) children(c *column, fields vector) error {
	above := append(c.above[:len(c.above):len(c.above)], c)
	if c.storage != structs {
		above = nil
	}
	isList := c.storage == lists || c.storage == largeLists || c.storage == fixedLists
	for i := range fields.n {
		child, err := r.read(fields.table(i), above)
		if err != nil {
			return err
		}
		switch {
		case c.storage == structs:
			if r.leaves == nil {
				r.leaves = make(map[*column][]*column)
			}
			r.leaves[c] = append(r.leaves[c], r.flatten(child)...)
		case isList && (child.kind == number || child.kind == decimal) && child.item == nil:
			c.item, c.kind = child, child.kind
		}
	}
	if isList && (c.item == nil || fields.n != 1) {
		c.item, c.kind = nil, unreadable
	}
	return nil
}

// flatten returns the columns of a struct, or the column itself.
func (r *schemaReader) flatten(c *column) []*column {
	if c.storage == structs && c.dictionary == nil {
		return r.leaves[c]
	}
	return []*column{c}
}

// isName reports whether the column can contain ids or labels.
func (c *column) isName() bool { return c.item == nil && (c.kind == number || c.kind == text) }
