// Package arrow (engine room: may change) reads and writes Apache Arrow IPC files, which are also
// called Feather files of version 2, for package dataset.
//
//	o := dataset.ReadOptions{Extensions: []dataset.Extension{arrow.Format()}}
//	d, err := dataset.Read("data.arrow", o)
//
// The columns id and label have the same meaning as in CSV; every other column is a feature:
// booleans, whole numbers up to 2^53 in size, and floating-point numbers of any width. A column of
// lists, all of one length k, is k features; the fields of a struct are columns. A null, NaN or
// infinity is an error that names row and column, and so is a column of another type.
//
// With ReadOptions.Mixed, nulls and NaN are missing cells, decimals are numbers too, and columns of
// UTF-8 text, booleans, dates, times and time stamps are texts, the latter in ISO form: 2006-01-02,
// 15:04:05 and 2006-01-02T15:04:05Z, also for times without a zone. A dictionary (pandas calls it a
// column of categories) is read as its values.
//
// A file is read a block of rows at a time: of the columns that are used, the bytes of these rows.
// A compressed column (lz4 or zstd) is decompressed a record batch at a time. The memory limit
// counts both, and the dictionaries (4 GiB if there is no limit). Every place and size that a file
// claims is compared with its actual bytes, or with the limit, before memory is allocated.
// [github.com/apache/arrow-go] does not, it needs assembly, and it makes a program 8 MB larger, so
// only the tests use it, to compare.
//
// Written files have columns of doubles, and of text for ids and labels, in record batches of about
// 16 MiB, uncompressed.
package arrow
