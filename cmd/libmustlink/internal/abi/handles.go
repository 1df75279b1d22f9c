package abi

import (
	"fmt"
	"sync"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine"
)

// Handles are the objects that the calling program knows by number. A number is never given twice,
// so that one which was freed stays invalid. The zero value is empty.
type Handles struct {
	mu      sync.RWMutex
	objects map[uintptr]any
	last    uintptr
}

// Put returns the number of an object, which lives until it is freed.
func (h *Handles) Put(object any) uintptr {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.objects == nil {
		h.objects = map[uintptr]any{}
	}
	h.last++
	h.objects[h.last] = object
	return h.last
}

// The kinds of objects, as messages name them.
const (
	anEngine = "an engine"
	aModel   = "a model"
)

// Engine returns an engine by its number.
func (h *Handles) Engine(number uintptr) (*engine.Engine, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return of[*engine.Engine](h, number, anEngine)
}

// Model returns a model by its number.
func (h *Handles) Model(number uintptr) (*mustlink.Model, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return of[*mustlink.Model](h, number, aModel)
}

// FreeEngine forgets an engine. Calls that use it go on.
func (h *Handles) FreeEngine(number uintptr) error { return free[*engine.Engine](h, number, anEngine) }

// FreeModel forgets a model. Calls that use it go on.
func (h *Handles) FreeModel(number uintptr) error { return free[*mustlink.Model](h, number, aModel) }

// free forgets an object of a type.
func free[T any](h *Handles, number uintptr, kind string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := of[T](h, number, kind)
	if err == nil {
		delete(h.objects, number)
	}
	return err
}

// of returns an object of a type; the caller holds the lock.
func of[T any](h *Handles, number uintptr, kind string) (T, error) {
	object, ok := h.objects[number].(T)
	if !ok {
		return object, &Error{BadHandle, fmt.Sprintf("handle %d is not %s: it was freed, or never given out", number, kind)}
	}
	return object, nil
}

// Len returns the number of objects.
func (h *Handles) Len() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.objects)
}
