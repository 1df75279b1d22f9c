package paper

import (
	"context"
	"errors"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
)

// TestRunPanics: a panic of a trial or of the progress function, on any goroutine, reaches the
// caller of Run, and the engine can run the table afterwards.
func TestRunPanics(t *testing.T) {
	cause, want := errors.New("a panic"), mustRun(t, toy(), Options{Workers: 2})
	panicking := toy()
	panicking.Trial = func(_ context.Context, _ *engine.Engine, tr Trial) ([][]float64, error) {
		if tr.Number == 7 {
			panic(cause)
		}
		return [][]float64{{1, 1}, {1, 1}}, nil
	}
	reports := 0
	for name, run := range map[string]func() (*Result, error){
		"trial": func() (*Result, error) {
			return Run(context.Background(), newEngine(t), panicking, Options{Workers: 2})
		},
		"listener": func() (*Result, error) {
			return Run(context.Background(), newEngine(t), toy(),
				Options{Workers: 2, Progress: func(algorithms.Progress) {
					if reports++; reports == 5 {
						panic(cause)
					}
				}})
		},
	} {
		func() {
			defer func() {
				if got, ok := recover().(*engine.Panic); !ok || !errors.Is(got, cause) {
					t.Errorf("%s: the panic arrives as %v", name, got)
				}
			}()
			_, err := run()
			t.Errorf("%s: no panic, error %v", name, err)
		}()
	}
	sameResults(t, mustRun(t, toy(), Options{Workers: 2}), want)
}
