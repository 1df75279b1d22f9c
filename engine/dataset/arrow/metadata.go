package arrow

import flatbuffers "github.com/google/flatbuffers/go"

// The types of messages and columns that are written, as the format numbers them.
const (
	schemaHeader = 1
	floatType    = 3
	textType     = 5
	doubles      = 2 // the precision of a floating-point type
)

// writtenField is a column of the file: of texts or of doubles.
type writtenField struct {
	name   string
	isText bool
}

// schemaMessage returns the metadata of the message that begins a file.
func schemaMessage(fields []writtenField) []byte {
	b := flatbuffers.NewBuilder(0)
	return finishMessage(b, schemaHeader, schemaOf(b, fields), 0)
}

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
func schemaOf(b *flatbuffers.Builder, fields []writtenField) flatbuffers.UOffsetT {
	const members = 4
	list := make([]flatbuffers.UOffsetT, len(fields))
	for i, f := range fields {
		list[i] = f.add(b)
	}
	at := b.CreateVectorOfTables(list)
	b.StartObject(members)
	b.PrependUOffsetTSlot(schemaFields, at, 0)
	return b.EndObject()
}

// add adds a field. Readers expect a list of its children, which is empty.
func (f writtenField) add(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	const members, precision = 7, 0
	name, children := b.CreateString(f.name), b.CreateVectorOfTables(nil)
	id := byte(floatType)
	b.StartObject(1)
	if f.isText {
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
func footerOf(fields []writtenField, blocks []block) []byte {
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
