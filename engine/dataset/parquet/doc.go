// Package parquet (engine room: may change) reads and writes Apache Parquet files for package
// dataset.
//
//	o := dataset.ReadOptions{Extensions: []dataset.Extension{parquet.Format()}}
//	d, err := dataset.Read("data.parquet", o)
//
// The columns named id and label are what they are in CSV; every other column is a feature:
// booleans, whole numbers up to 2^53 in size, float16, float and double. A column of lists, all of
// one length k, is k features. A null, NaN or infinity is an error that names row and column, and
// so is a column of another type. Pages may be plain, of a dictionary, delta-encoded or split into
// streams of bytes, of version 1 or 2, as they are or compressed with snappy, gzip or zstd.
//
// A file is read a block of rows at a time; in memory are the block and the current page and
// dictionary of every column, which the memory limit counts (4 GiB for the latter, where there is
// none). Everything that a file says of itself is compared with the bytes that it has, or with the
// limit, before memory is set aside. [github.com/parquet-go/parquet-go] does neither, and its
// readers of pages bring assembly, so only its description of the metadata is used here; the tests
// compare with all of it.
//
// Written files have columns of doubles, and of text for ids and labels, in plain pages with
// checksums, in row groups of about 16 MiB.
package parquet
