// Package parquet (engine room: may change) reads and writes Apache Parquet files for package
// dataset.
//
//	o := dataset.ReadOptions{Extensions: []dataset.Extension{parquet.Format()}}
//	d, err := dataset.Read("data.parquet", o)
//
// The columns id and label have the same meaning as in CSV; every other column is a feature:
// booleans, whole numbers up to 2^53 in size, float16, float and double. A column of lists, all of
// one length k, is k features. A null, NaN or infinity is an error that names row and column, and
// so is a column of another type.
//
// With ReadOptions.Mixed, nulls and NaN are missing cells, decimals are numbers too, and columns of
// UTF-8 text, booleans, dates, times and time stamps are texts, the latter in ISO form: 2006-01-02,
// 15:04:05 and 2006-01-02T15:04:05Z, also for times without a zone.
//
// Pages may be plain, dictionary-encoded, delta-encoded or split
// into streams of bytes, of version 1 or 2, uncompressed or compressed with snappy, gzip,
// zstd or lz4_raw.
//
// A file is read a block of rows at a time. Memory contains the block and the current page and
// dictionary of every column, which the memory limit counts (4 GiB for pages and dictionaries if
// there is no limit). Every size that a file claims is compared with its actual bytes, or with the
// limit, before memory is allocated. [github.com/parquet-go/parquet-go] does neither, and its page
// readers need assembly, so only its description of the metadata is used here; the tests compare
// with the whole library.
//
// Written files have columns of doubles, and of text for ids and labels, in plain pages with
// checksums, in row groups of about 16 MiB.
package parquet
