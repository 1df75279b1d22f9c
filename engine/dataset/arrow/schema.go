package arrow

import (
	"github.com/mustlink/mustlink/engine/fault"
)

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
	value                     // of one value, for numbers and instants
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
	return [...]int64{nothing: 0, bits: 2, fixed: 2, texts: 3, largeTexts: 3, views: 2, lists: 2, largeLists: 2, fixedLists: 1, structs: 1,
		bare1: 1, bare2: 2, bare3: 3}[s]
}

// readSchema reads the columns.
func (f *file) readSchema(schema table, version int64) error {
	switch {
	case schema.f == nil:
		return fault.Data("", "its footer has no schema: want one")
	case version < version4:
		return fault.Data("", "its metadata have version %d: want 4 or 5, as pyarrow writes since 2017", version+1)
	case schema.int(schemaEndianness, 2, 0) != 0:
		return fault.Data("", "its numbers have the highest byte first: want the lowest first, as usual")
	}
	const least = 8 // bytes of a field
	r := &schemaReader{held: &f.held, left: int64(len(schema.f.b)) / least, unions: version < version5}
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
	held                  *budget
	left                  int64 // fields that the metadata have room for
	unions                bool  // unions have a buffer of nulls
	depth                 int
	nodes, buffers, views int64
	leaves                map[*column][]*column // of structs
}

// read reads a field below structs.
func (r *schemaReader) read(t table, above []*column) (*column, error) {
	const each, deepest = 512, 64 // approximate bytes of a column, and levels of fields in fields
	c := &column{name: t.text(fieldName), node: r.nodes, buffer: r.buffers, views: r.views, above: above, width: 1}
	if len(above) > 0 {
		c.name = above[len(above)-1].name + "." + c.name
	}
	r.left--
	r.depth++
	defer func() { r.depth-- }()
	if r.left < 0 || r.depth > deepest || t.f.bad {
		return nil, fault.Data("", "its schema is damaged: want the fields of an Arrow file")
	}
	if err := r.held.take(each + int64(len(c.name))); err != nil {
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
	inner := &schemaReader{held: r.held, left: r.left, unions: r.unions, depth: r.depth, nodes: 1, buffers: values.storage.buffers()}
	if err := inner.children(&values, field.vector(fieldChildren, 4)); err != nil {
		return err
	}
	r.left = inner.left
	if values.item != nil {
		values.kind = unreadable
	}
	c.dictionary, c.id, c.item, c.kind = &values, encoding.int(encodingID, 8, 0), nil, values.kind
	index := encoding.table(encodingIndex)
	width, signed := int64(32), int64(1)
	if index.f != nil {
		width, signed = index.int(0, 4, 0), index.int(1, 1, 0)
	}
	c.storage, c.size, c.value = fixed, width/8, whole(width, signed != 0)
	if c.value.number == nil {
		return fault.Data("", "the dictionary of column %s has numbers of %d bits: want 8, 16, 32 or 64", c.name, width)
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
