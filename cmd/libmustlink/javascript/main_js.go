// Command javascript is the WebAssembly program of the JavaScript package in this folder: it calls
// package abi for mustlink.js. `make wasm` builds the package; docs/javascript.md is the manual.
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

// program is what calls share.
type program struct {
	engine *engine.Engine
	models abi.Handles
	turns  abi.Turns
}

// main gives the global function that its argument names a function for all calls, and stays. That
// function takes two more, for the result and for the message of an error, the name of a call, and
// its arguments.
func main() {
	e, err := abi.NewEngine(abi.Version, fmt.Sprintf(`{"memory_limit": %d}`, limit))
	if err != nil {
		fmt.Fprintln(os.Stderr, "mustlink:", err)
		os.Exit(1)
	}
	p := &program{engine: e, turns: abi.NewTurns()}
	js.Global().Call(os.Args[1], js.FuncOf(func(_ js.Value, args []js.Value) any {
		go func() { // a call may wait for other goroutines, which an event of JavaScript must not
			var result any
			if err := abi.Guard(func() (err error) {
				result, err = p.call(args[2].String(), args[3:])
				return err
			}); err != nil {
				args[1].Invoke(err.Error())
				return
			}
			args[0].Invoke(result)
		}()
		return nil
	}))
	select {}
}

// call is one of the functions of the package. Arrays are in arguments and results as their bytes,
// models as their numbers.
func (p *program) call(name string, args []js.Value) (any, error) {
	for _, a := range args {
		if a.Type() != js.TypeObject {
			continue
		}
		if err := p.engine.Check("an array", int64(a.Length()), "pass less at a time"); err != nil {
			return nil, err
		}
	}
	var m *mustlink.Model
	var err error
	switch name {
	case "fit": // rows, columns, pairs of links, their signs, method, options
		pairs, signs := elements[int64](args[2]), elements[int8](args[3])
		links := &abi.Links{Pairs: int64(len(signs)), Pair: address(pairs), Sign: address(signs)}
		m, err = abi.Fit(p.turns, p.engine, args[4].String(), args[5].String(), points(args[0], args[1]),
			links, nil)
	case "load": // a file
		file := elements[byte](args[0])
		m, err = abi.LoadBytes(p.engine, address(file), int64(len(file)))
	default: // a model first
		m, err = abi.Get[*mustlink.Model](&p.models, uintptr(args[0].Int()))
	}
	if err != nil {
		return nil, err
	}
	switch name {
	case "embed": // rows, columns
		x := points(args[1], args[2])
		if err := p.engine.Check("coordinates", engine.MatrixBytes(int(x.Rows), m.Dim()),
			"embed fewer rows at a time"); err != nil {
			return nil, err
		}
		y := make([]float64, int(x.Rows)*m.Dim())
		err := abi.Embed(p.engine, m, x, nil, array(y, m.Dim()))
		return toBytes(y), err
	case "distances": // rows, columns, pairs
		pairs := elements[int64](args[3])
		d := make([]float64, len(pairs)/2)
		err := abi.Distances(m, points(args[1], args[2]), address(pairs), int64(len(d)), nil, false,
			address(d))
		return toBytes(d), err
	case "bytes":
		var file bytes.Buffer
		_, err := m.WriteTo(&file)
		return toBytes(file.Bytes()), err
	case "info":
		text, err := json.Marshal(abi.ModelInfo(m))
		return string(text), err
	case "free":
		return nil, abi.Free[*mustlink.Model](&p.models, uintptr(args[0].Int()))
	}
	return p.models.Put(m), nil
}

func points(rows, columns js.Value) *abi.Points {
	return &abi.Points{Kind: abi.Dense, Array: *array(elements[float64](rows), columns.Int())}
}

// array returns rows without gaps.
func array(x []float64, columns int) *abi.Array {
	return &abi.Array{Type: abi.Float64, Rows: int64(len(x) / max(1, columns)), Cols: int64(columns),
		Data: address(x), RowStride: int64(columns), ColStride: 1}
}

func address[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// elements returns a copy of the elements whose bytes are in a Uint8Array.
func elements[T any](from js.Value) []T {
	x := make([]T, from.Length()/int(unsafe.Sizeof(*new(T))))
	js.CopyBytesToGo(unsafe.Slice((*byte)(address(x)), from.Length()), from)
	return x
}

// toBytes returns the bytes of the elements as a Uint8Array.
func toBytes[T any](x []T) js.Value {
	size := len(x) * int(unsafe.Sizeof(*new(T)))
	to := js.Global().Get("Uint8Array").New(size)
	js.CopyBytesToJS(to, unsafe.Slice((*byte)(address(x)), size))
	return to
}
