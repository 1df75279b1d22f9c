//go:build !netlib || !cgo || purego

package backends

// extra lists the backends that only some builds hold; here, none.
func extra() []entry { return nil }
