package abi

import (
	"fmt"
	"sync"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
)

// Handles are the objects that the calling program knows by number. A number is never given twice, so
// that one which was freed stays invalid. The zero value is empty.
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

func (h *Handles) get(number uintptr) any {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.objects[number]
}

// Engine returns an engine by its number.
func (h *Handles) Engine(number uintptr) (*engine.Engine, error) {
	if e, ok := h.get(number).(*engine.Engine); ok {
		return e, nil
	}
	return nil, badHandle(number, "an engine")
}

// Model returns a model by its number.
func (h *Handles) Model(number uintptr) (*catalog.Fitted, error) {
	if m, ok := h.get(number).(*catalog.Fitted); ok {
		return m, nil
	}
	return nil, badHandle(number, "a model")
}

// FreeEngine forgets an engine. Calls that use it go on.
func (h *Handles) FreeEngine(number uintptr) error {
	if _, err := h.Engine(number); err != nil {
		return err
	}
	return h.free(number, "an engine")
}

// FreeModel forgets a model. Calls that use it go on.
func (h *Handles) FreeModel(number uintptr) error {
	if _, err := h.Model(number); err != nil {
		return err
	}
	return h.free(number, "a model")
}

// free reports a number that another thread has freed since it was looked up.
func (h *Handles) free(number uintptr, kind string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.objects[number]; !ok {
		return badHandle(number, kind)
	}
	delete(h.objects, number)
	return nil
}

// Len returns the number of objects.
func (h *Handles) Len() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.objects)
}

func badHandle(number uintptr, kind string) error {
	return &Error{BadHandle, fmt.Sprintf("handle %d is not %s: it was freed, or never given out", number, kind)}
}
