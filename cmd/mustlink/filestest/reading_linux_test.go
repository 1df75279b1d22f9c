package filestest

import (
	"io"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// awaitReading waits until a command has read from the pipe to its standard input: then it handles
// signals. A pipe that is closed is not waited for.
func awaitReading(t *testing.T, pipe io.Writer) {
	t.Helper()
	file, is := pipe.(interface {
		SyscallConn() (syscall.RawConn, error)
	})
	if !is {
		return
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return
	}
	full := unread(conn)
	for end := time.Now().Add(time.Minute); full > 0 &&
		unread(conn) == full; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the command has not read its input for a minute")
		}
	}
}

// unread returns the number of bytes that wait in a pipe, 0 for one that is closed.
func unread(conn syscall.RawConn) (count int32) {
	if err := conn.Control(func(fd uintptr) {
		const fionread = 0x541b
		syscall.Syscall(syscall.SYS_IOCTL, fd, fionread, uintptr(unsafe.Pointer(&count)))
	}); err != nil {
		return 0
	}
	return count
}
