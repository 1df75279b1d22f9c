// Package panics brings panics of other goroutines back to the one that started them.
package panics

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Panic is a panic of another goroutine: its value, and the stack on which it was raised.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) String() string { return fmt.Sprintf("%v\n\nworker's stack:\n%s", p.Value, p.Stack) }

// Error makes the runtime print the value in full when it is not recovered.
func (p *Panic) Error() string { return p.String() }

// Unwrap returns the value if it was an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Recovered returns the value of recover as a panic to raise on another goroutine, nil for nil. It
// must be called where the panic was recovered.
func Recovered(v any) *Panic {
	switch p := v.(type) {
	case nil:
		return nil
	case *Panic: // an inner call has wrapped it already
		return p
	}
	return &Panic{Value: v, Stack: debug.Stack()}
}

// Faults returns a function for other goroutines to call first. Accesses to pages that are not
// there are then panics on them if they are on this goroutine; see [debug.SetPanicOnFault].
func Faults() func() {
	on := debug.SetPanicOnFault(true)
	debug.SetPanicOnFault(on)
	return func() { debug.SetPanicOnFault(on) }
}

// Run calls f on the given number of goroutines, including this one, and waits for all. A panic of
// one of them is raised again on this one.
func Run(workers int, f func()) {
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		first  *Panic
		faults = Faults()
	)
	for range workers - 1 {
		wg.Go(func() {
			defer func() {
				if p := Recovered(recover()); p != nil {
					mu.Lock()
					defer mu.Unlock()
					first = p
				}
			}()
			faults()
			f()
		})
	}
	defer func() { // also after a panic of f on this goroutine, which goes on afterwards
		wg.Wait()
		if first != nil {
			panic(first)
		}
	}()
	f()
}
