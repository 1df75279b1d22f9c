package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The codecs, as the format numbers them.
const (
	lz4Codec  = 0
	zstdCodec = 1
)

// expansion bounds the number of bytes that one compressed byte can expand to, by codec.
var expansion = [...]int64{lz4Codec: 256, zstdCodec: 1 << 16}

// decompressed returns the bytes of a compressed buffer. The batch keeps them.
func (b *batch) decompressed(at, offset, length int64) ([]byte, error) {
	const prefix = 8 // the decompressed length, or -1 for bytes that are not compressed
	if whole, ok := b.whole[at]; ok {
		return whole, nil
	}
	if length < prefix {
		return nil, damaged("batch %d has a compressed buffer of %d bytes", b.at, length)
	}
	source, err := b.f.bytes(b.block.at+b.block.meta+offset, length)
	if err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint64(source))
	source = source[prefix:]
	if n == -1 {
		b.held += length
		b.whole[at] = source
		return source, nil
	}
	defer b.f.held.give(length)
	if n < 0 || n/expansion[b.codec] > length {
		return nil, damaged("batch %d has %d compressed bytes that claim to be %d", b.at, length, n)
	}
	if err := b.f.held.take(n); err != nil {
		return nil, err
	}
	b.held += n
	whole := make([]byte, n)
	if err := b.f.codec.decompress(b.codec, whole, source); err != nil {
		return nil, damaged("the compressed values of batch %d: %w", b.at, err)
	}
	b.whole[at] = whole
	return whole, nil
}

// decompressor decompresses buffers.
type decompressor struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
}

// decompress fills dst with the decompressed src. A library may panic on damaged bytes; that is an
// error too.
func (d *decompressor) decompress(codec int64, dst, src []byte) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	if codec == zstdCodec {
		return d.fromZstd(dst, src)
	}
	if d.lz4 == nil {
		d.lz4 = lz4.NewReader(nil)
	}
	d.lz4.Reset(bytes.NewReader(src))
	if n, err := io.ReadFull(d.lz4, dst); err != nil {
		return fmt.Errorf("%w after %d of %d bytes", err, n, len(dst))
	}
	if n, err := d.lz4.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return fmt.Errorf("more than %d bytes (%v)", len(dst), err)
	}
	return nil
}

func (d *decompressor) fromZstd(dst, src []byte) (err error) {
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(defaultBudget))
		if err != nil {
			return err
		}
	}
	out, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = fmt.Errorf("%d bytes: want %d", len(out), len(dst))
	}
	return err
}
