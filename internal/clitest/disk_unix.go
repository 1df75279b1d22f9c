//go:build unix

package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// SmallDisk mounts a file system of 256 KiB at dir/disk for the time of the test. It skips the test
// if mounting is not allowed.
func SmallDisk(t testing.TB, dir string) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only the superuser of a Linux system mounts a tmpfs; TestNoRoom needs no privilege")
	}
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs",
		disk).CombinedOutput(); err != nil {
		t.Skipf("a tmpfs cannot be mounted here: %v, %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("unmounting: %v, %s", err, out)
		}
	})
	return disk
}

// Filler is the file with which [Fill] fills a disk.
const Filler = "filler"

// Fill writes to a [SmallDisk] until nothing more fits.
func Fill(t testing.TB, disk string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(disk, Filler), make([]byte, 1<<20), 0o644); err == nil {
		t.Fatal("a disk of 256 KiB took a mebibyte")
	}
}
