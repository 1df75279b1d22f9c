package abi

import (
	"fmt"
	"sync"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/engine"
)

// Handles maps numbers to the objects of the calling program. Numbers are never reused, so that a
// freed one stays invalid. The zero value is empty.
type Handles struct {
	mu      sync.RWMutex
	objects map[uintptr]any
	last    uintptr
}

// Put stores an object until it is freed, and returns its number.
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

// The kinds of objects, for messages.
const (
	anEngine = "an engine"
	aModel   = "a model"
	anIndex  = "an index"
)

// Engine returns the engine with a number.
func (h *Handles) Engine(number uintptr) (*engine.Engine, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return of[*engine.Engine](h, number, anEngine)
}

// Model returns the model with a number.
func (h *Handles) Model(number uintptr) (*mustlink.Model, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return of[*mustlink.Model](h, number, aModel)
}

// Index returns the index with a number.
func (h *Handles) Index(number uintptr) (*neighborindex.Searcher, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return of[*neighborindex.Searcher](h, number, anIndex)
}

// FreeEngine removes an engine. Running calls may still use it.
func (h *Handles) FreeEngine(number uintptr) error { return free[*engine.Engine](h, number, anEngine) }

// FreeModel removes a model. Running calls may still use it.
func (h *Handles) FreeModel(number uintptr) error { return free[*mustlink.Model](h, number, aModel) }

// FreeIndex removes an index. Running calls may still use it.
func (h *Handles) FreeIndex(number uintptr) error {
	return free[*neighborindex.Searcher](h, number, anIndex)
}

// free removes an object of a type.
func free[T any](h *Handles, number uintptr, kind string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := of[T](h, number, kind)
	if err == nil {
		delete(h.objects, number)
	}
	return err
}

// of returns an object of a type. The caller has locked h.
func of[T any](h *Handles, number uintptr, kind string) (T, error) {
	object, ok := h.objects[number].(T)
	if !ok {
		return object, &Error{BadHandle, fmt.Sprintf("handle %d is not %s: want one that exists and was not freed", number, kind)}
	}
	return object, nil
}

// Len returns the number of objects.
func (h *Handles) Len() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.objects)
}
