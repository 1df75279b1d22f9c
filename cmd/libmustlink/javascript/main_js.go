// Command javascript is the WebAssembly program of the JavaScript package in this folder: it gives
// mustlink.js the functions of package abi, each as one that settles a promise. `make wasm` builds
// the package; docs/javascript.md is the manual.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"syscall/js"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/cmd/libmustlink/internal/abi"
	"github.com/mustlink/mustlink/engine"
)

// limit is the largest request of a call in bytes. All memory of WebAssembly is 4 GiB.
const limit = 1 << 30

// program is what the functions share.
type program struct {
	engine *engine.Engine
	models abi.Handles
	turns  abi.Turns
}

// main calls the global function that its argument names with an object of all functions, and stays
// for their calls.
func main() {
	e, err := abi.NewEngine(abi.Version, fmt.Sprintf(`{"memory_limit": %d}`, limit))
	if err != nil {
		fmt.Fprintln(os.Stderr, "mustlink:", err)
		os.Exit(1)
	}
	p := &program{engine: e, turns: abi.NewTurns()}
	functions := map[string]any{}
	for name, f := range map[string]func([]js.Value) (any, error){"fit": p.fit, "load": p.load,
		"embed": p.embed, "distances": p.distances, "bytes": p.bytes, "info": p.info, "free": p.free} {
		functions[name] = promised(f)
	}
	js.Global().Call(os.Args[1], functions)
	select {}
}

// promised returns f as a function of JavaScript whose first two arguments are called with the
// result or with the message of the error, which may be a panic.
func promised(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		go func() { // a call may wait for other goroutines, which an event of JavaScript must not
			var result any
			if err := abi.Guard(func() (err error) {
				result, err = f(args[2:])
				return err
			}); err != nil {
				args[1].Invoke(err.Error())
				return
			}
			args[0].Invoke(result)
		}()
		return nil
	})
}

// fit takes rows, columns, the pairs of links, their signs, a method and options of abi.Fit.
func (p *program) fit(args []js.Value) (any, error) {
	x, err := p.points(args[0], args[1])
	if err != nil {
		return nil, err
	}
	pairs, err := elements[int64](p.engine, "links", args[2])
	if err != nil {
		return nil, err
	}
	signs, err := elements[int8](p.engine, "links", args[3])
	if err != nil {
		return nil, err
	}
	links := &abi.Links{Pairs: int64(len(signs)), Pair: address(pairs), Sign: address(signs)}
	return p.keep(abi.Fit(p.turns, p.engine, args[4].String(), args[5].String(), x, links, nil))
}

// load takes the bytes of a model file.
func (p *program) load(args []js.Value) (any, error) {
	file, err := elements[byte](p.engine, "model", args[0])
	if err != nil {
		return nil, err
	}
	return p.keep(abi.LoadBytes(p.engine, address(file), int64(len(file))))
}

// keep returns the number of a new model.
func (p *program) keep(m *mustlink.Model, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return p.models.Put(m), nil
}

// embed takes a model, rows and columns.
func (p *program) embed(args []js.Value) (any, error) {
	m, err := p.model(args[0])
	if err != nil {
		return nil, err
	}
	x, err := p.points(args[1], args[2])
	if err != nil {
		return nil, err
	}
	if err := p.engine.Check("coordinates", engine.MatrixBytes(int(x.Rows), m.Dim()),
		"embed fewer rows at a time"); err != nil {
		return nil, err
	}
	y := make([]float64, int(x.Rows)*m.Dim())
	if err := abi.Embed(p.engine, m, x, nil, array(y, m.Dim())); err != nil {
		return nil, err
	}
	return toBytes(y), nil
}

// distances takes a model, rows, columns and pairs of rows.
func (p *program) distances(args []js.Value) (any, error) {
	m, err := p.model(args[0])
	if err != nil {
		return nil, err
	}
	x, err := p.points(args[1], args[2])
	if err != nil {
		return nil, err
	}
	pairs, err := elements[int64](p.engine, "pairs", args[3])
	if err != nil {
		return nil, err
	}
	d := make([]float64, len(pairs)/2)
	if err := abi.Distances(p.engine, m, x, address(pairs), int64(len(d)), nil, false,
		address(d)); err != nil {
		return nil, err
	}
	return toBytes(d), nil
}

// bytes takes a model and returns its file.
func (p *program) bytes(args []js.Value) (any, error) {
	m, err := p.model(args[0])
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		return nil, err
	}
	return toBytes(file.Bytes()), nil
}

// info takes a model and returns JSON.
func (p *program) info(args []js.Value) (any, error) {
	m, err := p.model(args[0])
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(abi.ModelInfo(m))
	return string(text), err
}

// free takes a model.
func (p *program) free(args []js.Value) (any, error) {
	return nil, abi.Free[*mustlink.Model](&p.models, uintptr(args[0].Int()))
}

func (p *program) model(number js.Value) (*mustlink.Model, error) {
	return abi.Get[*mustlink.Model](&p.models, uintptr(number.Int()))
}

// points returns a copy of rows without gaps.
func (p *program) points(rows, columns js.Value) (*abi.Points, error) {
	x, err := elements[float64](p.engine, "rows", rows)
	if err != nil {
		return nil, err
	}
	return &abi.Points{Kind: abi.Dense, Array: *array(x, columns.Int())}, nil
}

func array(x []float64, columns int) *abi.Array {
	return &abi.Array{Type: abi.Float64, Rows: int64(len(x) / max(1, columns)), Cols: int64(columns),
		Data: address(x), RowStride: int64(columns), ColStride: 1}
}

func address[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// elements returns a copy of the elements whose bytes are in a Uint8Array.
func elements[T any](e *engine.Engine, what string, from js.Value) ([]T, error) {
	size := from.Length()
	if err := e.Check(what, int64(size), "pass fewer at a time"); err != nil {
		return nil, err
	}
	x := make([]T, size/int(unsafe.Sizeof(*new(T))))
	js.CopyBytesToGo(unsafe.Slice((*byte)(address(x)), size), from)
	return x, nil
}

// toBytes returns the bytes of the elements as a Uint8Array.
func toBytes[T any](x []T) js.Value {
	size := len(x) * int(unsafe.Sizeof(*new(T)))
	to := js.Global().Get("Uint8Array").New(size)
	js.CopyBytesToJS(to, unsafe.Slice((*byte)(address(x)), size))
	return to
}
