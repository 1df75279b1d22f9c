//go:build unix

package main

import "syscall"

// The modes of files do not depend on the user.
func init() { syscall.Umask(0o022) }
