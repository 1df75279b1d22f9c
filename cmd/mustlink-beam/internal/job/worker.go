package job

import (
	"os"
	"sync"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
)

// Config is the configuration of every worker of a job. It is sent with the DoFns.
type Config struct {
	Model        string // path of the model, "" for none
	Workers      int    // goroutines of each process, 0 for one a processor
	MemoryLimit  int64  // bytes of one request, 0 for no limit
	Backend      string // of the linear algebra, "" for the build's default
	SIMD         string // variant of the kernels, "" for the best
	IgnoreLabels bool   // read no labels
	BadRows      Limit
	BadOutput    string // path that names the lists of bad rows, "" for none
	Rows         int64  // number of rows of the set, for a limit that is a share
}

// Worker holds what a process needs for its elements.
type Worker struct {
	Engine *engine.Engine
	Model  *mustlink.Model // nil for none
	slots  chan struct{}
	cache  sync.Map // values of Cached
}

// Cached returns the value of f, which is called once in this process for each key. It is for files
// that all elements need.
func Cached[T any](w *Worker, key string, f func() (T, error)) (T, error) {
	made, _ := w.cache.LoadOrStore(key, sync.OnceValues(f))
	return made.(func() (T, error))()
}

// processWorkers are the workers of this process. Runners make new DoFns for every bundle of
// elements, and these must not each load a model.
var processWorkers struct {
	sync.Mutex
	byKey map[workerKey]func() (*Worker, error)
}

// workerKey identifies the configuration of a worker.
type workerKey struct {
	model         string
	size, changed int64 // of the model file
	workers       int
	limit         int64
	backend, simd string
}

// Worker returns the worker of this process for a configuration, which is made at the first call.
func (c Config) Worker() (*Worker, error) {
	key := workerKey{model: c.Model, workers: c.Workers, limit: c.MemoryLimit, backend: c.Backend,
		simd: c.SIMD}
	if info, err := os.Stat(c.Model); err == nil {
		key.size, key.changed = info.Size(), info.ModTime().UnixNano()
	}
	processWorkers.Lock()
	open, ok := processWorkers.byKey[key]
	if !ok {
		open = sync.OnceValues(c.open)
		if processWorkers.byKey == nil {
			processWorkers.byKey = map[workerKey]func() (*Worker, error){}
		}
		processWorkers.byKey[key] = open
	}
	processWorkers.Unlock()
	return open()
}

// open creates an engine and loads the model.
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
