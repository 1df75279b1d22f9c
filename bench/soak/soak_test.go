package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRun: a short soak fits and embeds, and finds no fault.
func TestRun(t *testing.T) {
	reports := 0
	r, err := Run(context.Background(), enginetest.New(t, 2),
		Options{For: 2 * time.Second, Goroutines: 3, Seed: 4,
			Progress: func(time.Duration, int) { reports++ }})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := r.Check(1e9); len(wrong) > 0 {
		t.Errorf("faults: %q", wrong)
	}
	failed := 0
	for _, n := range r.Errors {
		failed += n
	}
	if r.Fits == 0 || r.Embeds < 2*r.Fits || r.Fits+failed != r.Jobs || reports == 0 {
		t.Errorf("%+v after %d reports: want fits, and two embeddings of each", r, reports)
	}
	if r.LargestMemory < r.EndMemory || r.EndMemory <= 0 || r.WarmMemory <= 0 {
		t.Errorf("memory %d, then %d, largest %d", r.WarmMemory, r.EndMemory, r.LargestMemory)
	}
}

// TestInterrupted: the report so far comes with the error of the context.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	r, err := Run(ctx, enginetest.New(t, 2), Options{For: time.Hour, Goroutines: 2, Seed: 4})
	if !errors.Is(err, context.DeadlineExceeded) || r.Seconds > 60 || len(r.Check(1e9)) > 0 {
		t.Errorf("%+v, error %v", r, err)
	}
}

// TestJobsAreDrawn: a number always gives the same job, all methods occur, and most jobs succeed.
func TestJobsAreDrawn(t *testing.T) {
	methods, parameters := map[string]bool{}, 0
	for number := range uint64(400) {
		a, err := newJob(1, number)
		if err != nil {
			t.Fatalf("job %d: %v", number, err)
		}
		b, _ := newJob(1, number)
		if fmt.Sprintf("%+v", a.config) != fmt.Sprintf("%+v", b.config) || a.method.Name != b.method.Name ||
			!reflect.DeepEqual(a.x, b.x) ||
			!reflect.DeepEqual(a.fresh, b.fresh) ||
			fmt.Sprint(a.set.Must(), a.set.Cannot(), a.more.Must()) != fmt.Sprint(b.set.Must(),
				b.set.Cannot(), b.more.Must()) {
			t.Fatalf("job %d differs the second time", number)
		}
		if err := a.x.Validate(); err != nil {
			t.Fatalf("job %d: %v", number, err)
		}
		methods[a.method.Name] = true
		parameters += len(a.config.Params)
	}
	if len(methods) != len(catalog.Methods()) || parameters < 100 {
		t.Errorf("%d of %d methods and %d parameters in 400 jobs", len(methods), len(catalog.Methods()),
			parameters)
	}
}

// TestFaults: the report has an answer that changed, an error that the input did not cause,
// goroutines that are left, and memory that grew.
func TestFaults(t *testing.T) {
	r := &run{answers: map[uint64]answer{},
		report: Report{Methods: map[string]int{}, Errors: map[string]int{}}}
	j, err := newJob(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	r.note(1, j, answer{digest: [32]byte{1}}, nil)
	r.note(1, j, answer{digest: [32]byte{1}}, nil)
	r.note(2, j, answer{}, &fault.ParamError{Param: "p"})
	if len(r.report.Faults) != 0 || r.report.Repeats != 1 || r.report.Errors["parameter"] != 1 {
		t.Errorf("report %+v: want one repeat and one parameter error", r.report)
	}
	r.note(1, j, answer{digest: [32]byte{2}}, nil)
	r.note(2, j, answer{}, nil)
	r.note(3, j, answer{}, fmt.Errorf("%w: index out of range", errPanic))
	r.note(4, j, answer{}, errLoaded)
	for i, words := range []string{"changed", "changed", "panic", "read back"} {
		if i >= len(r.report.Faults) || !strings.Contains(r.report.Faults[i], words) {
			t.Errorf("faults %q: want %q as number %d", r.report.Faults, words, i)
		}
	}
	// 40 samples: the tenth after the first quarter is 10 to 13, the last tenth 36 to 39.
	for i := range 40 {
		r.samples = append(r.samples, int64(100+i))
	}
	r.memory()
	if r.report.WarmMemory != 112 || r.report.EndMemory != 138 || r.report.LargestMemory != 139 {
		t.Errorf("memory %d, then %d, largest %d: want 112, 138 and 139", r.report.WarmMemory,
			r.report.EndMemory, r.report.LargestMemory)
	}
	r.report.Faults, r.report.GoroutinesAtStart, r.report.GoroutinesAtEnd = nil, 5, 7
	wrong := strings.Join(r.report.Check(5), "; ")
	if !strings.Contains(wrong, "2 goroutines") || !strings.Contains(wrong, "23.2 %") {
		t.Errorf("found %q: want two goroutines and 23.2 %% of memory", wrong)
	}
	if wrong := r.report.Check(24); len(wrong) != 1 {
		t.Errorf("found %q: want only the goroutines", wrong)
	}
}

// TestRepeats: about one job in eight repeats an earlier one, and the others are new.
func TestRepeats(t *testing.T) {
	r, rng := &run{answers: map[uint64]answer{}}, rand.New(rand.NewPCG(1, 1))
	seen, repeats := map[uint64]bool{}, 0
	for range 800 {
		number := r.take(rng)
		if seen[number] {
			repeats++
			continue
		}
		seen[number] = true
		r.remember(number, answer{})
	}
	if repeats < 60 || repeats > 140 || len(seen) != 800-repeats {
		t.Errorf("%d of 800 jobs were repeated: want about 100", repeats)
	}
}

// TestForgets: the number of kept answers is bounded, and the oldest are dropped first.
func TestForgets(t *testing.T) {
	r := &run{answers: map[uint64]answer{}}
	for number := range uint64(remembered + 10) {
		r.remember(number, answer{})
	}
	if _, there := r.answers[9]; there || len(r.answers) != remembered || len(r.order) != remembered ||
		r.order[0] != 10 {
		t.Errorf("%d answers of %d numbers from %d on: want %d from 10 on", len(r.answers), len(r.order),
			r.order[0], remembered)
	}
}
