package engine

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/mustlink/mustlink/engine/fault"
)

// Cache keeps values that fits on the same points share, such as a neighbor graph, so that many
// fits compute them once. A key is a digest of content: equal points and parameters have equal keys
// wherever they came from, and a fit gives bit-identical results with and without a cache. A Cache
// is safe for concurrent use.
type Cache struct {
	limit int64

	mu      sync.Mutex
	used    int64
	entries map[CacheKey]*list.Element
	recent  *list.List // of *cacheEntry, the one used last in front
	stats   CacheStats
}

// CacheKey is a digest of everything that a value depends on; see [KeyOf].
type CacheKey [sha256.Size]byte

// CacheStats counts the requests to a cache and its contents.
type CacheStats struct {
	Hits, Misses int64
	Bytes        int64 // stored now
	Entries      int   // stored now
}

type cacheEntry struct {
	key   CacheKey
	value any
	bytes int64
	ready chan struct{} // closed when value or err is there
	err   error
}

// NewCache returns a cache of up to limit bytes; the least recently used value is dropped first. A
// limit below 1 is a *fault.ParamError.
func NewCache(limit int64) (*Cache, error) {
	if limit < 1 {
		return nil, fault.Param("cache limit", limit, "a number of bytes >= 1")
	}
	return &Cache{limit: limit, entries: map[CacheKey]*list.Element{}, recent: list.New()}, nil
}

// Stats returns the counts so far.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Bytes, s.Entries = c.used, len(c.entries)
	return s
}

// KeyOf returns the key of a value of the given kind that depends on the points with the given
// digest and on parts, which enter as %v prints them.
func KeyOf(kind string, points [sha256.Size]byte, parts ...any) CacheKey {
	h := sha256.New()
	fmt.Fprintf(h, "%q %x", kind, points)
	for _, p := range parts {
		fmt.Fprintf(h, " %q", fmt.Sprint(p))
	}
	return CacheKey(h.Sum(nil))
}

// Cached returns the value with the key key() from the engine's cache. If it is not there, Cached
// computes it, once for any number of concurrent callers. Without a cache it always computes.
// Values are shared: nobody may write to them. bytes returns the memory of a value. An error of
// compute is returned to every caller that waits for the value, unless it comes from the end of
// another caller's context; errors are not kept.
func Cached[T any](ctx context.Context, e *Engine, key func() CacheKey, bytes func(T) int64,
	compute func() (T, error)) (none T, err error) {
	if e.cache == nil {
		return compute()
	}
	k := e.own(key())
	for {
		entry, mine := e.cache.claim(k)
		if mine {
			value, err := e.cache.fill(entry, func() (any, int64, error) {
				v, err := compute()
				if err != nil {
					return nil, 0, err
				}
				return v, bytes(v), nil
			})
			if err != nil {
				return none, err
			}
			return value.(T), nil
		}
		select {
		case <-entry.ready:
		case <-ctx.Done():
			return none, ctx.Err()
		}
		if entry.err == nil {
			return entry.value.(T), nil
		}
		if err := ctx.Err(); err != nil {
			return none, err
		}
		// The computing caller failed, perhaps because its context ended: this caller tries itself.
	}
}

// Sharing returns an engine for several fits on the same points: the engine with a cache of at most
// limit bytes and at most an eighth of the memory limit, or the engine itself if it already has a
// cache. A limit below 1 is a *fault.ParamError.
func (e *Engine) Sharing(limit int64) (*Engine, error) {
	if e.cache != nil {
		return e, nil
	}
	if e.limit > 0 {
		limit = max(1, min(limit, e.limit/8))
	}
	c, err := NewCache(limit)
	if err != nil {
		return nil, err
	}
	return e.WithCache(c)
}

// own returns the key of a value of this engine: another backend, or other vector kernels, may
// round differently.
func (e *Engine) own(k CacheKey) CacheKey {
	return CacheKey(sha256.Sum256(fmt.Appendf(k[:], "%s %v", e.backend.Name(), e.backend.Kernels().Level)))
}

// claim returns the entry of k, and whether the caller is to fill it.
func (c *Cache) claim(k CacheKey) (entry *cacheEntry, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.entries[k]; ok {
		c.stats.Hits++
		c.recent.MoveToFront(at)
		return at.Value.(*cacheEntry), false
	}
	c.stats.Misses++
	entry = &cacheEntry{key: k, ready: make(chan struct{})}
	c.entries[k] = c.recent.PushFront(entry)
	return entry, true
}

// fill computes the value of a claimed entry. After an error or a panic the entry is removed.
func (c *Cache) fill(entry *cacheEntry, compute func() (any, int64, error)) (any, error) {
	entry.err = errAbandoned // unless compute returns
	var bytes int64
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(entry.ready)
		if entry.err != nil || bytes > c.limit {
			c.drop(entry)
			return
		}
		entry.bytes = bytes
		c.used += bytes
		c.shrink()
	}()
	entry.value, bytes, entry.err = compute()
	return entry.value, entry.err
}

var errAbandoned = errors.New("engine: the computation of a shared value was abandoned")

// shrink drops the least recently used values until the rest is within the limit. Entries that are
// being computed do not count yet.
func (c *Cache) shrink() {
	for at := c.recent.Back(); at != nil && c.used > c.limit; {
		entry, before := at.Value.(*cacheEntry), at.Prev()
		if entry.bytes > 0 {
			c.drop(entry)
		}
		at = before
	}
}

func (c *Cache) drop(entry *cacheEntry) {
	if at, ok := c.entries[entry.key]; ok && at.Value == entry {
		c.recent.Remove(at)
		delete(c.entries, entry.key)
		c.used -= entry.bytes
	}
}
