package parquet

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// expansion bounds the number of bytes that one compressed byte can expand to.
var expansion = map[format.CompressionCodec]int64{format.Snappy: 64, format.Gzip: 1100, format.Zstd: 1 << 16, format.Lz4Raw: 256}

// decompressor decompresses pages.
type decompressor struct{ zstd *zstd.Decoder }

// decompress fills dst with the decompressed src. It allocates nothing for the length that src
// claims.
func (d *decompressor) decompress(codec format.CompressionCodec, dst, src []byte) error {
	if len(dst) == 0 {
		return nil
	}
	return guarded(func() error {
		switch codec {
		case format.Snappy:
			return fromSnappy(dst, src)
		case format.Gzip:
			return fromGzip(dst, src)
		case format.Lz4Raw:
			return fromLZ4(dst, src)
		default:
			return d.fromZstd(dst, src)
		}
	})
}

func fromSnappy(dst, src []byte) error {
	n, err := snappy.DecodedLen(src)
	if err == nil && n != len(dst) {
		err = wrongLength(n, len(dst))
	}
	if err == nil {
		_, err = snappy.Decode(dst, src)
	}
	return err
}

// fromLZ4 decompresses one block.
func fromLZ4(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err == nil && n != len(dst) {
		err = wrongLength(n, len(dst))
	}
	return err
}

func fromGzip(dst, src []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return err
	}
	if n, err := io.ReadFull(z, dst); err != nil {
		return fmt.Errorf("%w after %d of %d bytes", err, n, len(dst))
	}
	if n, err := z.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return fmt.Errorf("%w: more than %d bytes (%v)", errDamaged, len(dst), err)
	}
	return nil
}

func (d *decompressor) fromZstd(dst, src []byte) (err error) {
	if d.zstd == nil {
		if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(defaultBudget)); err != nil {
			return err
		}
	}
	out, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = wrongLength(len(out), len(dst))
	}
	return err
}

func wrongLength(got, want int) error {
	return fmt.Errorf("%w: a page has %d bytes: want %d", errDamaged, got, want)
}
