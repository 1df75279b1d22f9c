//go:build !netlib || !cgo || purego

package backends

// Release restores the thread count that the BLAS library had before its backend was used, for
// processes in which other code calls the library, too. It waits for running calls. In builds
// without such a library it does nothing.
func Release() {}

// extra lists the backends that only some builds have; here, none.
func extra() []entry { return nil }
