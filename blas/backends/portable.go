//go:build !netlib || !cgo || purego

package backends

// Release gives the BLAS library back the threads that it had before its backend was used, for
// processes in which others call it too; it waits for calls under way. Nothing happens in builds
// without such a library.
func Release() {}

// extra lists the backends that only some builds hold; here, none.
func extra() []entry { return nil }
