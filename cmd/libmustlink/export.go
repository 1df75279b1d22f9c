//go:build cgo

package main

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra
#include "mustlink.h"
*/
import "C"

import (
	"unsafe"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/libmustlink/internal/abi"
	"github.com/mustlink/mustlink/engine"
)

// handles are all engines and models that the calling program has.
var handles abi.Handles

// turns are those of all fits in this process.
var turns = abi.NewTurns()

// version is never freed.
var version = C.CString(catalog.Version())

// guarded runs the body of a function; nothing that happens there crosses into C but a code.
func guarded(message *C.char, body func() error) C.int { return finish(abi.Guard(body), message) }

// missing reports a place for a handle that is not there.
func missing[T any](out *T) error {
	if out == nil {
		return &abi.Error{Code: abi.BadArgument, Text: "the place for the handle is NULL"}
	}
	return nil
}

// withModel calls body with an engine and a model.
func withModel(e C.mustlink_engine, m C.mustlink_model, body func(*engine.Engine, *catalog.Fitted) error) error {
	eng, err := handles.Engine(uintptr(e))
	if err != nil {
		return err
	}
	fitted, err := handles.Model(uintptr(m))
	if err != nil {
		return err
	}
	return body(eng, fitted)
}

// give returns a model that was made to the caller.
func give(fitted *catalog.Fitted, err error, out *C.mustlink_model) error {
	if err == nil {
		*out = C.mustlink_model(handles.Put(fitted))
	}
	return err
}

//export mustlinkVersion
func mustlinkVersion() *C.char { return version }

//export mustlinkEngineNew
func mustlinkEngineNew(abiVersion C.int32_t, options *C.char, out *C.mustlink_engine, message *C.char) C.int {
	return guarded(message, func() error {
		if err := missing(out); err != nil {
			return err
		}
		e, err := abi.NewEngine(int32(abiVersion), text(options))
		if err == nil {
			*out = C.mustlink_engine(handles.Put(e))
		}
		return err
	})
}

//export mustlinkEngineInfo
func mustlinkEngineInfo(e C.mustlink_engine, buffer *C.char, capacity C.int64_t, size *C.int64_t, message *C.char) C.int {
	return guarded(message, func() error {
		eng, err := handles.Engine(uintptr(e))
		if err != nil {
			return err
		}
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(abi.EngineInfo(eng))
	})
}

//export mustlinkEngineFree
func mustlinkEngineFree(e C.mustlink_engine, message *C.char) C.int {
	return guarded(message, func() error { return handles.FreeEngine(uintptr(e)) })
}

//export mustlinkMethods
func mustlinkMethods(buffer *C.char, capacity C.int64_t, size *C.int64_t, message *C.char) C.int {
	return guarded(message, func() error {
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(abi.Methods())
	})
}

//export mustlinkSampleLinks
func mustlinkSampleLinks(label *C.int64_t, rows, must, cannot C.int64_t, seed C.uint64_t, pair *C.int64_t, message *C.char) C.int {
	return guarded(message, func() error {
		return abi.SampleLinks(unsafe.Pointer(label), int64(rows), int64(must), int64(cannot), uint64(seed), unsafe.Pointer(pair))
	})
}

//export mustlinkFit
func mustlinkFit(e C.mustlink_engine, method, options *C.char, points *C.mustlink_points, links *C.mustlink_links,
	control *C.mustlink_control, out *C.mustlink_model, message *C.char) C.int {
	return guarded(message, func() error {
		if err := missing(out); err != nil {
			return err
		}
		eng, err := handles.Engine(uintptr(e))
		if err != nil {
			return err
		}
		fitted, err := abi.Fit(turns, eng, text(method), text(options), pointsOf(points), linksOf(links), controlOf(control))
		return give(fitted, err, out)
	})
}

//export mustlinkUpdate
func mustlinkUpdate(e C.mustlink_engine, m C.mustlink_model, options *C.char, points *C.mustlink_points, links *C.mustlink_links,
	control *C.mustlink_control, out *C.mustlink_model, message *C.char) C.int {
	return guarded(message, func() error {
		if err := missing(out); err != nil {
			return err
		}
		return withModel(e, m, func(eng *engine.Engine, old *catalog.Fitted) error {
			fitted, err := abi.Update(turns, eng, old, text(options), pointsOf(points), linksOf(links), controlOf(control))
			return give(fitted, err, out)
		})
	})
}

//export mustlinkModelSize
func mustlinkModelSize(m C.mustlink_model, dimensions, features *C.int64_t, message *C.char) C.int {
	return guarded(message, func() error {
		fitted, err := handles.Model(uintptr(m))
		if err != nil {
			return err
		}
		if dimensions != nil {
			*dimensions = C.int64_t(fitted.Model.Dim())
		}
		if features != nil {
			*features = C.int64_t(abi.InputDim(fitted))
		}
		return nil
	})
}

//export mustlinkEmbed
func mustlinkEmbed(e C.mustlink_engine, m C.mustlink_model, points *C.mustlink_points, control *C.mustlink_control, out *C.mustlink_matrix, message *C.char) C.int {
	return guarded(message, func() error {
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		return withModel(e, m, func(eng *engine.Engine, fitted *catalog.Fitted) error {
			return abi.Embed(eng, fitted, pointsOf(points), controlOf(control), to)
		})
	})
}

//export mustlinkGram
func mustlinkGram(e C.mustlink_engine, m C.mustlink_model, x, y *C.mustlink_points, control *C.mustlink_control, out *C.mustlink_matrix, message *C.char) C.int {
	return guarded(message, func() error {
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		return withModel(e, m, func(eng *engine.Engine, fitted *catalog.Fitted) error {
			return abi.GramMatrix(eng, fitted, pointsOf(x), pointsOf(y), controlOf(control), to)
		})
	})
}

//export mustlinkDistances
func mustlinkDistances(e C.mustlink_engine, m C.mustlink_model, points *C.mustlink_points, pair *C.int64_t, pairs C.int64_t,
	control *C.mustlink_control, out *C.double, message *C.char) C.int {
	return guarded(message, func() error {
		return withModel(e, m, func(eng *engine.Engine, fitted *catalog.Fitted) error {
			return abi.Distances(eng, fitted, pointsOf(points), unsafe.Pointer(pair), int64(pairs), controlOf(control), unsafe.Pointer(out))
		})
	})
}

//export mustlinkModelInfo
func mustlinkModelInfo(m C.mustlink_model, buffer *C.char, capacity C.int64_t, size *C.int64_t, message *C.char) C.int {
	return guarded(message, func() error {
		fitted, err := handles.Model(uintptr(m))
		if err != nil {
			return err
		}
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(abi.ModelInfo(fitted))
	})
}

//export mustlinkSave
func mustlinkSave(m C.mustlink_model, path *C.char, message *C.char) C.int {
	return guarded(message, func() error {
		fitted, err := handles.Model(uintptr(m))
		if err != nil {
			return err
		}
		return catalog.Save(text(path), fitted)
	})
}

//export mustlinkLoad
func mustlinkLoad(e C.mustlink_engine, path *C.char, out *C.mustlink_model, message *C.char) C.int {
	return guarded(message, func() error {
		if err := missing(out); err != nil {
			return err
		}
		eng, err := handles.Engine(uintptr(e))
		if err != nil {
			return err
		}
		fitted, err := abi.Load(eng, text(path))
		return give(fitted, err, out)
	})
}

//export mustlinkSaveBytes
func mustlinkSaveBytes(m C.mustlink_model, buffer unsafe.Pointer, capacity C.int64_t, size *C.int64_t, message *C.char) C.int {
	return guarded(message, func() error {
		fitted, err := handles.Model(uintptr(m))
		if err != nil {
			return err
		}
		return bufferOf(buffer, capacity, size).SaveBytes(fitted)
	})
}

//export mustlinkLoadBytes
func mustlinkLoadBytes(e C.mustlink_engine, bytes unsafe.Pointer, size C.int64_t, out *C.mustlink_model, message *C.char) C.int {
	return guarded(message, func() error {
		if err := missing(out); err != nil {
			return err
		}
		eng, err := handles.Engine(uintptr(e))
		if err != nil {
			return err
		}
		fitted, err := abi.LoadBytes(eng, bytes, int64(size))
		return give(fitted, err, out)
	})
}

//export mustlinkModelFree
func mustlinkModelFree(m C.mustlink_model, message *C.char) C.int {
	return guarded(message, func() error { return handles.FreeModel(uintptr(m)) })
}
