//go:build unix

package dataset

import "testing"

// A mapped file takes no memory: it may be larger than the limit.
func TestMapTakesNoMemory(t *testing.T) {
	values, shape := large()
	path := write(t, "x.npy", aligned(npyFile("<f8", false, shape, values), len(values)))
	if _, err := Read(path, ReadOptions{MemoryLimit: 1 << 20}); err == nil {
		t.Error("Read with too low a memory limit: no error")
	}
	_, release, err := Map(path, ReadOptions{MemoryLimit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
