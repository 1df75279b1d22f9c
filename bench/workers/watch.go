package workers

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/bench/measure"
)

const (
	// interval is the time between two looks at the fit.
	interval = 4 * time.Millisecond
	// alone is the number of processors below which others are idle.
	alone = 1.5
	// listed is the number of stages of a result, each with at least this share.
	listed, smallest = 8, 0.005
	project          = "github.com/mustlink/mustlink/"
)

// fewAtWork reports whether hardly more than one processor was at work.
func fewAtWork(passed, used float64) bool { return used < alone*passed }

// watch looks at the calling goroutine and at the processor time until the function that it returns
// is called, which writes into r where the fit was when waiting said, of the seconds that passed
// and the processors' seconds used, that others wait.
func watch(r *Result, waiting func(passed, used float64) bool) (stop func()) {
	end, seen := make(chan struct{}), make(chan map[string]float64)
	own := goroutine()
	go func() {
		waits := map[string]float64{}
		stacks := make([]byte, 1<<20)
		last, before := time.Now(), measure.ProcessorTime()
		for {
			select {
			case <-end:
				seen <- waits
				return
			case <-time.After(interval):
			}
			now, used := time.Now(), measure.ProcessorTime()
			if passed := now.Sub(last).Seconds(); waiting(passed, used-before) {
				waits[place(string(stacks[:runtime.Stack(stacks, true)]), own)] += passed
			}
			last, before = now, used
		}
	}()
	return func() {
		close(end)
		waits := <-seen
		for _, seconds := range waits {
			r.Alone += seconds / r.Seconds
		}
		r.Stages = stages(waits, r.Seconds)
	}
}

// stages returns the functions with the largest shares of so many seconds.
func stages(waits map[string]float64, seconds float64) []Stage {
	var list []Stage
	names := slices.SortedFunc(maps.Keys(waits), func(a, b string) int {
		return cmp.Or(cmp.Compare(waits[b], waits[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(listed, len(names))] {
		if share := waits[name] / seconds; share >= smallest {
			list = append(list, Stage{name, share})
		}
	}
	return list
}

// goroutine returns the first line of the stack of the calling goroutine up to its number.
func goroutine() string {
	line := make([]byte, 64)
	line = line[:runtime.Stack(line, false)]
	return string(line[:strings.Index(string(line), "[")])
}

// place returns the innermost functions of the project on the stack of a goroutine.
func place(stacks, of string) string {
	_, stack, _ := strings.Cut("\n\n"+stacks, "\n\n"+of)
	stack, _, _ = strings.Cut(stack, "\n\n")
	return functions(stack)
}

// functions returns the innermost functions of the project on a stack.
func functions(stack string) string {
	const depth = 4
	var names []string
	for line := range strings.Lines(stack) {
		name, found := strings.CutPrefix(line, project)
		if !found || len(names) == depth {
			continue
		}
		name = name[:strings.LastIndex(name, "(")]
		names = append(names, name[strings.LastIndex(name, "/")+1:])
	}
	return strings.Join(names, " < ")
}
