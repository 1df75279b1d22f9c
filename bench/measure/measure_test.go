package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scripted returns a contender whose calls take the given times, round after round, and records the
// order in which contenders are timed. The first call of each round takes long and must not count.
func scripted(name string, order *[]string, perCall ...time.Duration) Contender {
	turn := -1 // the calibration
	return Contender{name, func(calls int) (time.Duration, error) {
		turn++
		switch {
		case turn == 0:
			return time.Duration(calls) * perCall[0], nil
		case turn%2 == 1:
			return time.Hour, nil
		}
		*order = append(*order, name)
		return time.Duration(calls) * perCall[turn/2-1], nil
	}}
}

const ms = time.Millisecond

// TestRatiosAreOfOneRound: ratios are taken round by round, so they do not change if the machine
// halves its speed in the middle.
func TestRatiosAreOfOneRound(t *testing.T) {
	var order []string
	w := Work{Name: "w", Size: "n=1", Flops: 1e6, Contenders: []Contender{
		scripted("ours", &order, 128*ms, 256*ms, 512*ms),
		scripted("theirs", &order, 384*ms, 512*ms, 1536*ms),
	}}
	got, err := Run(context.Background(), []Work{w}, Options{Rounds: 3, Pause: -1})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := got[0].Entries[0], got[0].Entries[1]
	if want := (Spread{3, 2, 3}); theirs.Ratio != want {
		t.Errorf("ratio %v: want %v", theirs.Ratio, want)
	}
	if want := (Spread{1, 1, 1}); ours.Ratio != want {
		t.Errorf("own ratio %v: want %v", ours.Ratio, want)
	}
	if want := (Spread{0.256, 0.128, 0.512}); ours.Seconds != want {
		t.Errorf("seconds %v: want %v", ours.Seconds, want)
	}
	if want := 1e6 / ours.Seconds.Median / 1e9; ours.GFlops != want || want < 0.0039 || want > 0.0040 {
		t.Errorf("%v GF/s: want %v", ours.GFlops, want)
	}
	if want := []string{"ours", "theirs", "theirs", "ours", "ours", "theirs"}; !slices.Equal(order, want) {
		t.Errorf("order %v: want %v", order, want)
	}
}

// TestCalibration: short work is called often enough to fill the time.
func TestCalibration(t *testing.T) {
	for _, c := range []struct {
		perCall time.Duration
		want    int
	}{{time.Microsecond, 1000}, {300 * time.Microsecond, 4}, {time.Hour, 1}} {
		var seen int
		work := Contender{"c", func(calls int) (time.Duration, error) {
			seen = calls
			return time.Duration(calls) * c.perCall, nil
		}}
		_, err := Run(context.Background(), []Work{{Contenders: []Contender{work}}},
			Options{Rounds: 1, MinTime: ms, Pause: -1})
		if err != nil || seen != c.want {
			t.Errorf("%v a call: %d calls in a round, error %v: want %d", c.perCall, seen, err, c.want)
		}
	}
}

// TestWarmUp: short calls are made an extra time before they are timed; long calls are not.
func TestWarmUp(t *testing.T) {
	for perCall, want := range map[time.Duration]int{time.Second: 1 + 3, time.Millisecond: 1 + 2*3} {
		turns := 0
		work := Contender{"c", func(calls int) (time.Duration, error) {
			turns++
			return time.Duration(calls) * perCall, nil
		}}
		_, err := Run(context.Background(), []Work{{Contenders: []Contender{work}}},
			Options{Rounds: 3, MinTime: ms, Pause: -1, WarmUpTo: 100 * ms})
		if err != nil || turns != want {
			t.Errorf("%v a call: %d turns, error %v: want %d", perCall, turns, err, want)
		}
	}
}

// TestPeakOf: the maximum memory of a process, where it is known, is at least what it allocated.
// The test runs itself as that process.
func TestPeakOf(t *testing.T) {
	const variable = "MUSTLINK_TEST_HOLDS"
	if text := os.Getenv(variable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		held := make([]byte, n)
		for i := 0; i < len(held); i += 1 << 10 {
			held[i] = 1
		}
		runtime.KeepAlive(held)
		return
	}
	peak := func(holds int) int64 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestPeakOf$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, holds))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return PeakOf(cmd.ProcessState)
	}
	const much = 64 << 20
	few, many := peak(1), peak(much)
	if runtime.GOOS != "linux" {
		if few != 0 {
			t.Errorf("%d bytes: want 0 where it is not known", few)
		}
	} else if few <= 0 || few >= much || many < much {
		t.Errorf("%d bytes, and with 64 MiB more %d", few, many)
	}
}

// TestRunEnds: a contender that fails and a context that ends both end the run.
func TestRunEnds(t *testing.T) {
	broken := errors.New("broken")
	fails := Contender{"theirs", func(int) (time.Duration, error) { return 0, broken }}
	_, err := Run(context.Background(), []Work{{Name: "gemm", Size: "n=3", Contenders: []Contender{fails}}},
		Options{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "gemm, n=3: theirs") {
		t.Errorf("error %v: want an error that names work and contender", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	canceled := Contender{"c", func(int) (time.Duration, error) { cancel(); return time.Second, nil }}
	if _, err := Run(ctx, []Work{{Contenders: []Contender{canceled}}}, Options{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v: want that of the context", err)
	}
}

// TestFunc: the preparation of a call is not timed.
func TestFunc(t *testing.T) {
	var prepared, ran int
	c := Func("c", func() { prepared++; time.Sleep(30 * ms) }, func() { ran++ })
	d, err := c.Time(3)
	if err != nil || prepared != 3 || ran != 3 || d >= 90*ms {
		t.Errorf("%d prepared, %d ran, %v, error %v: want 3 of each, and the time of run alone", prepared,
			ran, d, err)
	}
}

func TestSpread(t *testing.T) {
	if got, want := SpreadOf([]float64{4, 1, 3, 2}), (Spread{2.5, 1, 4}); got != want {
		t.Errorf("%v: want %v", got, want)
	}
}
