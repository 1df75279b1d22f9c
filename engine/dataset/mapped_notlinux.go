//go:build !linux

package dataset

func restPages([]byte) {}
