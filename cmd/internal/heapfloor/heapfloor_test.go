package heapfloor

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

var sink []byte

// Garbage is collected once in so many bytes, where without a floor it is forty times as often.
func TestGarbageGrowsToTheFloor(t *testing.T) {
	const size, made = 64 << 20, 1 << 30
	collections := func() uint32 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range made >> 12 {
			sink = make([]byte, 1<<12)
		}
		runtime.ReadMemStats(&after)
		return after.NumGC - before.NumGC
	}
	t.Setenv("GOGC", "")
	runtime.GC()
	without := collections()
	release := Hold(size)
	with := collections()
	release()
	if with > 2*made/size || without < 4*made/size {
		t.Errorf("%d collections of 1 GiB of garbage, %d without a floor: want about %d", with, without, made/size)
	}
	if now := debug.SetGCPercent(100); now != 100 {
		t.Errorf("%d per cent after release: want 100", now)
	}
}

// With more in use than the floor, Go's own percentage is back.
func TestLargeHeap(t *testing.T) {
	const size = 16 << 20
	t.Setenv("GOGC", "")
	runtime.GC()
	release := Hold(size)
	defer release()
	if _, now := read(); now < 200 {
		t.Errorf("%d per cent of a small heap: want several hundred", now)
	}
	held := make([]byte, 2*size)
	wait(t, "100 per cent of a large heap", func(now int) bool { return now == 100 })
	runtime.KeepAlive(held)
	held = nil
	wait(t, "more when that is gone", func(now int) bool { return now > 200 })
}

// What the program or its user has chosen stands.
func TestAnotherChoice(t *testing.T) {
	t.Setenv("GOGC", "100")
	Hold(64 << 20)()
	release := Hold(64 << 20)
	if _, now := read(); now != 100 {
		t.Errorf("%d per cent with GOGC=100", now)
	}
	release()
	t.Setenv("GOGC", "")
	release = Hold(64 << 20)
	own := debug.SetGCPercent(77)
	for range 5 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // for what goes with a collection
	}
	if _, now := read(); now != 77 {
		t.Errorf("%d per cent: 77 was set", now)
	}
	release()
	if now := debug.SetGCPercent(77); now != 77 {
		t.Errorf("%d per cent after release: 77 was set", now)
	}
	debug.SetGCPercent(own)
	debug.SetGCPercent(100)
}

// wait collects until the percentage is as wanted.
func wait(t *testing.T, want string, is func(now int) bool) {
	t.Helper()
	now := 0
	for range 500 {
		runtime.GC()
		if _, now = read(); is(now) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d per cent: want %s", now, want)
}
