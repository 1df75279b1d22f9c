package abi

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// NewEngine implements mustlink_engine_new.
func NewEngine(version int32, options string) (*engine.Engine, error) {
	if version != Version {
		return nil, &Error{BadVersion, fmt.Sprintf("the program was compiled for version %d of the interface: want %d, the version of this library; install the matching library", version, Version)}
	}
	var o engineOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	if o.BLASThreads < 0 {
		return nil, &fault.ParamError{Param: "blas_threads", Value: o.BLASThreads, Want: "a number >= 0 (0 for as many as workers)"}
	}
	threads := o.BLASThreads
	if threads == 0 {
		threads = max(0, o.Workers)
	}
	backend, err := backends.Open(backends.Options{Name: o.Backend, SIMD: o.SIMD, Threads: threads})
	if err != nil {
		return nil, fault.Data("", "%w", err)
	}
	return engine.New(engine.Options{Backend: backend, Workers: o.Workers, MemoryLimit: o.MemoryLimit})
}

// engineInfo is the output of mustlink_engine_info. Its members are those of `mustlink info
// --json`.
type engineInfo struct {
	ABI           int      `json:"abi"`
	Version       string   `json:"version"`
	Go            string   `json:"go"`
	Platform      string   `json:"platform"`
	BuildTags     []string `json:"build_tags"`
	Backend       string   `json:"backend"`
	BackendDetail string   `json:"backend_detail"`
	Advice        string   `json:"advice,omitempty"`
	Backends      []string `json:"backends"`
	SIMDLevels    []string `json:"simd_levels"`
	Workers       int      `json:"workers"`
	MemoryLimit   int64    `json:"memory_limit_bytes"`
}

// EngineInfo implements mustlink_engine_info.
func EngineInfo(e *engine.Engine) any {
	info := engineInfo{
		ABI: Version, Version: catalog.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, BuildTags: buildTags(),
		Backend: e.Backend().Name(), BackendDetail: e.Backend().Describe(), Advice: blas.Advice(e.Backend()), Backends: backends.Names(),
		Workers: e.Workers(), MemoryLimit: e.MemoryLimit(),
	}
	for _, l := range asm.Supported() {
		info.SIMDLevels = append(info.SIMDLevels, l.String())
	}
	return info
}

func buildTags() []string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return []string{}
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return strings.Split(s.Value, ",")
		}
	}
	return []string{}
}
