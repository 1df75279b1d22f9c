package abi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/calibration"
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
		return nil, &Error{BadVersion,
			fmt.Sprintf("the program was compiled for version %d of the interface: want %d, the version of "+
				"this library; install the matching library", version, Version)}
	}
	var o engineOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	if o.BLASThreads < 0 {
		return nil, fault.Param("blas_threads", o.BLASThreads, "a number >= 0 (0 for as many as workers)")
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
	tags, _ := catalog.BuildTags()
	info := engineInfo{
		ABI: Version, Version: catalog.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" +
			runtime.GOARCH, BuildTags: tags,
		Backend: e.Backend().Name(), BackendDetail: e.Backend().Describe(), Advice: blas.Advice(e.Backend()),
		Backends: backends.Names(),
		Workers:  e.Workers(), MemoryLimit: e.MemoryLimit(),
	}
	for _, l := range asm.Supported() {
		info.SIMDLevels = append(info.SIMDLevels, l.String())
	}
	return info
}

// methodInfo is one method in the output of mustlink_methods.
type methodInfo struct {
	Name            string          `json:"name"`
	Summary         string          `json:"summary"`
	Paper           string          `json:"paper"`
	DefaultKernel   string          `json:"default_kernel"`
	Baseline        bool            `json:"baseline"`
	UsesCannotLinks bool            `json:"uses_cannot_links"`
	UsesTriplets    bool            `json:"uses_triplets"`
	UsesTargets     bool            `json:"uses_targets"`
	Pairwise        bool            `json:"pairwise"`
	Parameters      []parameterInfo `json:"parameters"`
}

type parameterInfo struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Help    string `json:"help"`
	// Type is int, float, bool or text; Range holds bounds such as ">= 0, < 1".
	Type  string `json:"type"`
	Range string `json:"range,omitempty"`
	// Choices are the values of a text parameter, or the words that are accepted instead of a
	// number.
	Choices []string `json:"choices,omitempty"`
}

// Methods implements mustlink_methods.
func Methods() any {
	var out []methodInfo
	for _, m := range catalog.Methods() {
		info := methodInfo{m.Name, m.Summary, m.Paper, m.DefaultKernel, m.Baseline, m.UsesCannotLinks,
			m.UsesTriplets, m.UsesTargets, m.Pairwise, nil}
		info.Parameters = []parameterInfo{}
		for _, p := range m.Parameters {
			one := parameterInfo{Name: p.Name, Default: p.Default, Help: p.Help, Type: string(p.Type),
				Range: p.Range}
			for _, c := range slices.Concat(p.Choices, p.Words) {
				one.Choices = append(one.Choices, c.Name)
			}
			info.Parameters = append(info.Parameters, one)
		}
		out = append(out, info)
	}
	return out
}

// modelInfo is the output of mustlink_model_info.
type modelInfo struct {
	Method     string         `json:"method"`
	Chosen     string         `json:"chosen"` // why the method auto took this one
	Kernel     string         `json:"kernel"`
	Dim        int            `json:"dim"`
	Share      *float64       `json:"embedded_share"` // null if it is unknown
	InputDim   int            `json:"input_dim"`      // -1 for any number
	Features   []string       `json:"features"`
	Scaling    string         `json:"scaling"`
	Columns    []columnInfo   `json:"columns"`  // null if unknown
	Prepared   []string       `json:"prepared"` // a line for each column that the model takes
	LeftOut    []string       `json:"left_out"` // names of other columns of the fit
	Converged  bool           `json:"converged"`
	Iterations int            `json:"iterations"`
	Message    string         `json:"message"`
	Seconds    float64        `json:"seconds"`
	Updating   string         `json:"updating"` // what an update learns; "" for none
	Notices    []string       `json:"notices"`
	Objective  *float64       `json:"objective"`
	Figures    map[string]any `json:"figures"`
	Verdict    *verdictInfo   `json:"verdict"` // null for a fit without hold_out
	// null without a calibration
	Calibration    *calibration.Summary `json:"calibration"`
	Fingerprint    string               `json:"fingerprint"`
	LibraryVersion string               `json:"library_version"`
	Build          string               `json:"build"`
}

// verdictInfo is the verdict of a fit.
type verdictInfo struct {
	*mustlink.Verdict
	Finding string   `json:"finding"`
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"` // what it rests on, in lines for people
}

// columnInfo is one column of the table of a fit.
type columnInfo struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Missing  int    `json:"missing"`
	Distinct int    `json:"distinct"`
	Range    string `json:"range"`
	Example  string `json:"example"`
	Outputs  int    `json:"outputs"`
	Does     string `json:"does"`
	Warning  string `json:"warning"`
}

// ModelInfo implements mustlink_model_info.
func ModelInfo(m *mustlink.Model) any {
	d := m.Describe()
	info := modelInfo{
		Method: d.Method, Chosen: d.Chosen, Kernel: d.Kernel, Dim: d.Dim, InputDim: d.Columns,
		Features: d.Features, Scaling: d.Preparation, Prepared: d.Prepared,
		LeftOut: m.Record().LeftOut, Converged: d.Converged, Iterations: d.Iterations, Message: d.Message,
		Seconds:  d.Elapsed.Seconds(),
		Updating: d.Updating, Notices: d.Notices,
		Figures: map[string]any{}, Fingerprint: d.Fingerprint, LibraryVersion: d.Version, Build: d.Build,
	}
	for _, c := range m.Record().Columns {
		info.Columns = append(info.Columns, columnInfo{c.Name, string(c.Kind), c.Missing, c.Distinct,
			c.Range(), c.Example, c.Outputs, c.Does, c.Warning})
	}
	if v := m.Verdict(); v != nil {
		info.Verdict = &verdictInfo{v, string(v.Finding()), v.String(), v.Details()}
	}
	info.Calibration = m.Calibration().Summary()
	if v := d.Objective; !math.IsNaN(v) && !math.IsInf(v, 0) {
		info.Objective = &v
	}
	if d.Share > 0 {
		info.Share = &d.Share
	}
	for _, s := range d.Statistics {
		info.Figures[s.Name] = printable(s.Value)
	}
	return info
}

// printable replaces values that JSON cannot represent.
func printable(v any) any {
	if _, err := json.Marshal(v); err != nil {
		return fmt.Sprint(v)
	}
	return v
}

// Buffer is the caller's memory for output of unknown length.
type Buffer struct {
	Data     unsafe.Pointer
	Capacity int64
	Size     *int64
}

// check returns an error for an impossible buffer.
func (b *Buffer) check() error {
	switch {
	case b.Size == nil:
		return argument("the output for the size is NULL: want a pointer")
	case b.Capacity < 0:
		return argument("the capacity of the buffer is %d: want a number >= 0", b.Capacity)
	case b.Data == nil && b.Capacity > 0:
		return argument("the buffer is NULL and its capacity is %d: want a pointer, or a capacity of 0",
			b.Capacity)
	}
	return nil
}

// done stores the size, and returns an error when the buffer was too small.
func (b *Buffer) done(size int64) error {
	*b.Size = size
	if size > b.Capacity {
		return &Error{TooSmall, fmt.Sprintf("the buffer holds %d bytes: want %d", b.Capacity, size)}
	}
	return nil
}

// WriteJSON stores v as JSON text with a zero byte at the end.
func (b *Buffer) WriteJSON(v any) error {
	if err := b.check(); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := b.done(int64(len(text)) + 1); err != nil {
		return err
	}
	copy(list[byte](b.Data, b.Capacity), append(text, 0))
	return nil
}

// countingWriter is a writer into memory that counts bytes beyond its end without writing them.
type countingWriter struct {
	to   []byte
	size int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.size < int64(len(w.to)) {
		copy(w.to[w.size:], p)
	}
	w.size += int64(len(p))
	return len(p), nil
}

// SaveBytes stores the bytes of a model file.
func (b *Buffer) SaveBytes(m *mustlink.Model) error {
	if err := b.check(); err != nil {
		return err
	}
	w := countingWriter{to: list[byte](b.Data, b.Capacity)}
	if _, err := m.WriteTo(&w); err != nil {
		return err
	}
	return b.done(w.size)
}

// LoadBytes implements mustlink_load_bytes.
func LoadBytes(e *engine.Engine, data unsafe.Pointer, size int64) (*mustlink.Model, error) {
	if size < 0 || size > 0 && data == nil {
		return nil, argument(
			"the bytes of the model are NULL or their number is %d: want a pointer and a number >= 0", size)
	}
	return mustlink.LoadFrom(bytes.NewReader(list[byte](data, size)), size, mustlink.Engine(e))
}
