package session

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// An untouched block takes no memory. The test runs in its own process, because the runtime clears
// memory that was used before.
func TestTakesNoMemory(t *testing.T) {
	const own = "MUSTLINK_BALLAST_TEST"
	if os.Getenv(own) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTakesNoMemory$")
		cmd.Env = append(os.Environ(), own+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	resident := func() int {
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Skip("no /proc here")
		}
		pages, err := strconv.Atoi(string(bytes.Fields(text)[1]))
		if err != nil {
			t.Fatal(err)
		}
		return pages * os.Getpagesize()
	}
	before := resident()
	b := make(ballast, 1<<30)
	if more := resident() - before; more > 64<<20 {
		t.Errorf("a ballast of 1 GiB takes %d MiB", more>>20)
	}
	runtime.KeepAlive(b)
}

var sink []byte

// collections returns the number of garbage collections while so many bytes are allocated.
func collections(made int) int {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range made >> 12 {
		sink = make([]byte, 1<<12)
	}
	runtime.ReadMemStats(&after)
	return int(after.NumGC - before.NumGC)
}

// Garbage is collected once in the size of the ballast, and several times as often without it. On a
// busy machine a collection takes long enough for much more garbage, so the counts may be lower.
func TestGarbageGrows(t *testing.T) {
	const size, made = 128 << 20, 1 << 30
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	b := make(ballast, size)
	with := collections(made)
	restore := b.drop()
	without := collections(made)
	restore()
	again := collections(made)
	for _, n := range []int{with, again} {
		if n > 2*made/size || n < 1 {
			t.Errorf("%d collections of 1 GiB of garbage: want %d or fewer, at least one", n, 2*made/size)
		}
		if without < 2*n {
			t.Errorf("%d collections without, %d with the ballast: want several times as many", without, n)
		}
	}
	runtime.KeepAlive(b)
}

// A limit below the heap that a process begins with leaves room for it, and a large one overflows
// nothing.
func TestCollectionLimit(t *testing.T) {
	small, large := collectionLimit(400<<10), collectionLimit(1<<30)
	if small < 4<<20 || small > 64<<20 || large < 1<<30 || large > 1<<30+64<<20 {
		t.Errorf("limits of collection %d and %d", small, large)
	}
	if huge := collectionLimit(math.MaxInt64 - 1); huge != math.MaxInt64 {
		t.Errorf("limit of collection %d", huge)
	}
}

func TestByteSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"0", 0}, {"1073741824", 1 << 30}, {"8GiB", 8 << 30}, {"1.5g", 3 << 29}, {"500MB", 500e6},
		{"2 KiB", 2048}, {"7b", 7}, {"1t", 1 << 40},
	} {
		var b ByteSize
		if err := b.Set(c.text); err != nil || int64(b) != c.want {
			t.Errorf("%q: %d, %v: want %d", c.text, int64(b), err, c.want)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "NaN", "inf", "8 parsecs", "1e300", "0x"} {
		var b ByteSize
		if err := b.Set(text); err == nil {
			t.Errorf("%q is taken as %d: want an error", text, int64(b))
		}
	}
}
