// Package arrow (engine room: may change) reads and writes Apache Arrow IPC files, which are also
// called Feather files of version 2, for package dataset.
//
//	o := dataset.ReadOptions{Extensions: []dataset.Extension{arrow.Format()}}
//	d, err := dataset.Read("data.arrow", o)
//
// The columns id and label have the same meaning as in CSV; every other column is a feature:
// booleans, whole numbers up to 2^53 in size, and floating-point numbers of any width. A column of
// lists of a fixed size k is k features. A null, NaN or infinity is an error that names row and
// column, and so is a column of another type.
//
// With ReadOptions.Mixed, nulls and NaN are missing cells, decimals are numbers too, and columns of
// text, dictionaries of text, dates, times and time stamps are texts, the latter in ISO form, UTC
// also for times without a zone.
//
// A file is read a record batch at a time. [github.com/apache/arrow-go] reads the batches, within
// the memory limit, or 4 GiB without one.
package arrow
