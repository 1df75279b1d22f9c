package job

import (
	"os"
	"sync"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
)

// Config is what every worker of a job needs to know. It travels with the DoFns.
type Config struct {
	Model        string // path, "" for none
	Workers      int    // goroutines that share the work in each process, 0 for all processors
	MemoryLimit  int64  // of one request, 0 for none
	Backend      string // of the linear algebra, "" for that of the build
	SIMD         string // kernels, "" for the best
	IgnoreLabels bool   // of the rows
	BadRows      Limit
	BadOutput    string // path after which the files of bad rows are named, "" for none
	Rows         int64  // of the set, for the limit as a share
}

// Worker is what a process has for its elements.
type Worker struct {
	Engine *engine.Engine
	Model  *mustlink.Model // nil for none
	slots  chan struct{}
	kept   sync.Map // of what Keep has made
}

// Cached returns what f makes, which is called once in this process for each key, for files that all
// elements need.
func Cached[T any](w *Worker, key string, f func() (T, error)) (T, error) {
	made, _ := w.kept.LoadOrStore(key, sync.OnceValues(f))
	return made.(func() (T, error))()
}

// processWorkers holds the workers of this process: runners make DoFns anew for every bundle of
// elements, which must not each load a model.
var processWorkers struct {
	sync.Mutex
	known map[workerKey]func() (*Worker, error)
}

// workerKey is what a worker is made of.
type workerKey struct {
	model         string
	size, changed int64 // of the model's file
	workers       int
	limit         int64
	backend, simd string
}

// Worker returns this process's worker, which is made at the first call.
func (c Config) Worker() (*Worker, error) {
	key := workerKey{model: c.Model, workers: c.Workers, limit: c.MemoryLimit, backend: c.Backend, simd: c.SIMD}
	if info, err := os.Stat(c.Model); err == nil {
		key.size, key.changed = info.Size(), info.ModTime().UnixNano()
	}
	processWorkers.Lock()
	open, ok := processWorkers.known[key]
	if !ok {
		open = sync.OnceValues(c.open)
		if processWorkers.known == nil {
			processWorkers.known = map[workerKey]func() (*Worker, error){}
		}
		processWorkers.known[key] = open
	}
	processWorkers.Unlock()
	return open()
}

// open makes an engine and loads the model.
func (c Config) open() (*Worker, error) {
	backend, err := backends.Open(backends.Options{Name: c.Backend, SIMD: c.SIMD, Threads: c.Workers})
	if err != nil {
		return nil, err
	}
	eng, err := engine.New(engine.Options{Backend: backend, Workers: c.Workers, MemoryLimit: c.MemoryLimit})
	if err != nil {
		return nil, err
	}
	w := &Worker{Engine: eng, slots: make(chan struct{}, eng.Workers())}
	if c.Model != "" {
		w.Model, err = mustlink.Load(c.Model, mustlink.Engine(eng))
	}
	return w, err
}
