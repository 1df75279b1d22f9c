//go:build cgo

package main

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra
#cgo windows CFLAGS: -DMUSTLINK_EXPORT
#cgo windows LDFLAGS: -Wl,-Bstatic -lpthread -Wl,-Bdynamic
#include "mustlink.h"
*/
import "C"

import (
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/cmd/libmustlink/internal/abi"
	"github.com/mustlink/mustlink/engine"
)

func init() { instead = ", not a program: want -buildmode=c-shared or -buildmode=c-archive" }

// handles are all engines, models and indexes of the calling program.
var handles abi.Handles

// turns limits the fits that run at a time in this process.
var turns = abi.NewTurns()

// version is the version as a C string, which is never freed.
var version = C.CString(catalog.Version())

// guarded runs the body of a function. Only a code crosses into C, even after a panic.
func guarded(message *C.char, body func() error) C.int { return finish(abi.Guard(body), message) }

// put returns a handle of a new object to the caller.
func put(out *C.uintptr_t, build func() (any, error)) error {
	if out == nil {
		return &abi.Error{Code: abi.BadArgument, Text: "the output for the handle is NULL: want a pointer"}
	}
	object, err := build()
	if err == nil {
		*out = C.uintptr_t(handles.Put(object))
	}
	return err
}

// with calls body with the object of a handle: an engine, a model or an index.
func with[T any](number C.uintptr_t, message *C.char, body func(T) error) C.int {
	return guarded(message, func() error {
		object, err := abi.Get[T](&handles, uintptr(number))
		if err != nil {
			return err
		}
		return body(object)
	})
}

// withModel calls body with an engine and a model that runs on it.
func withModel(e C.mustlink_engine, m C.mustlink_model, message *C.char,
	body func(*engine.Engine, *mustlink.Model) error) C.int {
	return with(e, message, func(eng *engine.Engine) error {
		model, err := modelOn(eng, m)
		if err != nil {
			return err
		}
		return body(eng, model)
	})
}

// modelOn returns a model that runs on the given engine, which need not be the one that it was made
// on.
func modelOn(eng *engine.Engine, m C.mustlink_model) (*mustlink.Model, error) {
	model, err := abi.Get[*mustlink.Model](&handles, uintptr(m))
	if err != nil {
		return nil, err
	}
	return mustlink.NewModel(model.Record(), eng), nil
}

// made calls body with an engine, and returns a handle of what it makes to the caller.
func made(e C.mustlink_engine, out *C.uintptr_t, message *C.char,
	body func(*engine.Engine) (any, error)) C.int {
	return guarded(message, func() error {
		return put(out, func() (any, error) {
			eng, err := abi.Get[*engine.Engine](&handles, uintptr(e))
			if err != nil {
				return nil, err
			}
			return body(eng)
		})
	})
}

// madeBy is made with a model that runs on the engine.
func madeBy(e C.mustlink_engine, m C.mustlink_model, out *C.uintptr_t, message *C.char,
	body func(*engine.Engine, *mustlink.Model) (any, error)) C.int {
	return made(e, out, message, func(eng *engine.Engine) (any, error) {
		model, err := modelOn(eng, m)
		if err != nil {
			return nil, err
		}
		return body(eng, model)
	})
}

//export mustlinkVersion
func mustlinkVersion() *C.char { return version }

//export mustlinkEngineNew
func mustlinkEngineNew(abiVersion C.int32_t, options *C.char, out *C.mustlink_engine, message *C.char) C.int {
	return guarded(message, func() error {
		return put(out, func() (any, error) { return abi.NewEngine(int32(abiVersion), text(options)) })
	})
}

//export mustlinkEngineInfo
func mustlinkEngineInfo(e C.mustlink_engine, buffer *C.char, capacity C.int64_t, size *C.int64_t,
	message *C.char) C.int {
	return with(e, message, func(eng *engine.Engine) error {
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(abi.EngineInfo(eng))
	})
}

//export mustlinkEngineFree
func mustlinkEngineFree(e C.mustlink_engine, message *C.char) C.int {
	return guarded(message, func() error { return abi.Free[*engine.Engine](&handles, uintptr(e)) })
}

//export mustlinkMethods
func mustlinkMethods(buffer *C.char, capacity C.int64_t, size *C.int64_t, message *C.char) C.int {
	return guarded(message, func() error {
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(abi.Methods())
	})
}

//export mustlinkSampleLinks
func mustlinkSampleLinks(label *C.int64_t, rows, must, cannot C.int64_t, seed C.uint64_t, pair *C.int64_t,
	message *C.char) C.int {
	return guarded(message, func() error {
		return abi.SampleLinks(unsafe.Pointer(label), int64(rows), int64(must), int64(cannot), uint64(seed),
			unsafe.Pointer(pair))
	})
}

//export mustlinkFit
func mustlinkFit(e C.mustlink_engine, method, options *C.char, points *C.mustlink_points,
	links *C.mustlink_links,
	control *C.mustlink_control, out *C.mustlink_model, message *C.char) C.int {
	return made(e, out, message, func(eng *engine.Engine) (any, error) {
		if err := checkText(method, "the method"); err != nil {
			return nil, err
		}
		return abi.Fit(turns, eng, text(method), text(options), pointsOf(points), linksOf(links),
			controlOf(control))
	})
}

//export mustlinkUpdate
func mustlinkUpdate(e C.mustlink_engine, m C.mustlink_model, options *C.char, points *C.mustlink_points,
	links *C.mustlink_links,
	control *C.mustlink_control, out *C.mustlink_model, message *C.char) C.int {
	return madeBy(e, m, out, message, func(_ *engine.Engine, old *mustlink.Model) (any, error) {
		return abi.Update(turns, old, text(options), pointsOf(points), linksOf(links), controlOf(control))
	})
}

//export mustlinkModelSize
func mustlinkModelSize(m C.mustlink_model, dimensions, features *C.int64_t, message *C.char) C.int {
	return with(m, message, func(model *mustlink.Model) error {
		if dimensions != nil {
			*dimensions = C.int64_t(model.Dim())
		}
		if features != nil {
			*features = C.int64_t(model.Record().InputDim())
		}
		return nil
	})
}

//export mustlinkEmbed
func mustlinkEmbed(e C.mustlink_engine, m C.mustlink_model, points *C.mustlink_points,
	control *C.mustlink_control, out *C.mustlink_matrix, message *C.char) C.int {
	return withModel(e, m, message, func(eng *engine.Engine, model *mustlink.Model) error {
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		return abi.Embed(eng, model, pointsOf(points), controlOf(control), to)
	})
}

//export mustlinkGram
func mustlinkGram(e C.mustlink_engine, m C.mustlink_model, x, y *C.mustlink_points,
	control *C.mustlink_control, out *C.mustlink_matrix, message *C.char) C.int {
	return withModel(e, m, message, func(eng *engine.Engine, model *mustlink.Model) error {
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		return abi.GramMatrix(eng, model, pointsOf(x), pointsOf(y), controlOf(control), to)
	})
}

//export mustlinkEuclideanDistances
func mustlinkEuclideanDistances(e C.mustlink_engine, m C.mustlink_model, points *C.mustlink_points,
	pair *C.int64_t, pairs C.int64_t,
	control *C.mustlink_control, out *C.double, message *C.char) C.int {
	return distances(e, m, points, pair, pairs, control, false, out, message)
}

//export mustlinkDistances
func mustlinkDistances(e C.mustlink_engine, m C.mustlink_model, points *C.mustlink_points, pair *C.int64_t,
	pairs C.int64_t,
	control *C.mustlink_control, out *C.double, message *C.char) C.int {
	return distances(e, m, points, pair, pairs, control, true, out, message)
}

func distances(e C.mustlink_engine, m C.mustlink_model, points *C.mustlink_points, pair *C.int64_t,
	pairs C.int64_t,
	control *C.mustlink_control, squared bool, out *C.double, message *C.char) C.int {
	return withModel(e, m, message, func(_ *engine.Engine, model *mustlink.Model) error {
		return abi.Distances(model, pointsOf(points), unsafe.Pointer(pair), int64(pairs), controlOf(control),
			squared, unsafe.Pointer(out))
	})
}

//export mustlinkCalibrate
func mustlinkCalibrate(e C.mustlink_engine, m C.mustlink_model, options *C.char, points *C.mustlink_points,
	links *C.mustlink_links, control *C.mustlink_control, out *C.mustlink_model, message *C.char) C.int {
	return madeBy(e, m, out, message, func(_ *engine.Engine, model *mustlink.Model) (any, error) {
		return abi.Calibrate(model, text(options), pointsOf(points), linksOf(links), controlOf(control))
	})
}

//export mustlinkPairsFind
func mustlinkPairsFind(e C.mustlink_engine, m C.mustlink_model, options *C.char, points *C.mustlink_points,
	control *C.mustlink_control, out *C.mustlink_pairs, message *C.char) C.int {
	return madeBy(e, m, out, message, func(_ *engine.Engine, model *mustlink.Model) (any, error) {
		return abi.FindPairs(model, text(options), pointsOf(points), controlOf(control))
	})
}

//export mustlinkPairsSuggest
func mustlinkPairsSuggest(e C.mustlink_engine, m C.mustlink_model, options *C.char, points *C.mustlink_points,
	links *C.mustlink_links, control *C.mustlink_control, out *C.mustlink_pairs, message *C.char) C.int {
	return madeBy(e, m, out, message, func(eng *engine.Engine, model *mustlink.Model) (any, error) {
		return abi.SuggestPairs(eng, model, text(options), pointsOf(points), linksOf(links),
			controlOf(control))
	})
}

//export mustlinkPairsInfo
func mustlinkPairsInfo(p C.mustlink_pairs, buffer *C.char, capacity C.int64_t, size *C.int64_t,
	message *C.char) C.int {
	return with(p, message, func(pairs *abi.Pairs) error {
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(pairs)
	})
}

//export mustlinkPairsCopy
func mustlinkPairsCopy(p C.mustlink_pairs, pair *C.int64_t, distance, probability *C.double,
	message *C.char) C.int {
	return with(p, message, func(pairs *abi.Pairs) error {
		return pairs.Copy(unsafe.Pointer(pair), unsafe.Pointer(distance), unsafe.Pointer(probability))
	})
}

//export mustlinkPairsFree
func mustlinkPairsFree(p C.mustlink_pairs, message *C.char) C.int {
	return guarded(message, func() error { return abi.Free[*abi.Pairs](&handles, uintptr(p)) })
}

//export mustlinkGroupsFind
func mustlinkGroupsFind(e C.mustlink_engine, m C.mustlink_model, options *C.char, points *C.mustlink_points,
	links *C.mustlink_links, columns *C.mustlink_distinct, count C.int64_t, control *C.mustlink_control,
	out *C.mustlink_groups, message *C.char) C.int {
	return withColumns(e, m, columns, count, out, message,
		func(model *mustlink.Model, distinct []abi.Distinct) (any, error) {
			return abi.FindGroups(model, text(options), pointsOf(points), linksOf(links), distinct,
				controlOf(control))
		})
}

//export mustlinkEntitiesFind
func mustlinkEntitiesFind(e C.mustlink_engine, m C.mustlink_model, options *C.char,
	points, texts *C.mustlink_points, links *C.mustlink_links, columns *C.mustlink_distinct, count C.int64_t,
	control *C.mustlink_control, out *C.mustlink_pairs, label *C.int64_t, probability *C.double,
	message *C.char) C.int {
	return withColumns(e, m, columns, count, out, message,
		func(model *mustlink.Model, distinct []abi.Distinct) (any, error) {
			return abi.FindEntities(model, text(options), pointsOf(points), pointsOf(texts), linksOf(links),
				distinct, controlOf(control), unsafe.Pointer(label), unsafe.Pointer(probability))
		})
}

// withColumns calls body with a model, that of the points as they are for 0, and distinct columns.
func withColumns(e C.mustlink_engine, m C.mustlink_model, columns *C.mustlink_distinct, count C.int64_t,
	out *C.uintptr_t, message *C.char,
	body func(model *mustlink.Model, distinct []abi.Distinct) (any, error)) C.int {
	return made(e, out, message, func(eng *engine.Engine) (any, error) {
		model, err := mustlink.Unlearned(eng, nil, nil), error(nil)
		if m != 0 {
			if model, err = modelOn(eng, m); err != nil {
				return nil, err
			}
		}
		distinct, err := distinctOf(columns, count)
		if err != nil {
			return nil, err
		}
		return body(model, distinct)
	})
}

//export mustlinkGroupsInfo
func mustlinkGroupsInfo(g C.mustlink_groups, buffer *C.char, capacity C.int64_t, size *C.int64_t,
	message *C.char) C.int {
	return with(g, message, func(groups *abi.Groups) error {
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(groups)
	})
}

//export mustlinkGroupsCopy
func mustlinkGroupsCopy(g C.mustlink_groups, label, child *C.int64_t, height *C.double, forbidden *C.int64_t,
	message *C.char) C.int {
	return with(g, message, func(groups *abi.Groups) error {
		return groups.Copy(unsafe.Pointer(label), unsafe.Pointer(child), unsafe.Pointer(height),
			unsafe.Pointer(forbidden))
	})
}

//export mustlinkGroupsFree
func mustlinkGroupsFree(g C.mustlink_groups, message *C.char) C.int {
	return guarded(message, func() error { return abi.Free[*abi.Groups](&handles, uintptr(g)) })
}

//export mustlinkClassify
func mustlinkClassify(e C.mustlink_engine, m C.mustlink_model, known *C.mustlink_points, label *C.int64_t,
	fresh *C.mustlink_points, k C.int64_t, control *C.mustlink_control, out *C.int64_t,
	message *C.char) C.int {
	return withModel(e, m, message, func(_ *engine.Engine, model *mustlink.Model) error {
		return abi.Classify(model, pointsOf(known), unsafe.Pointer(label), pointsOf(fresh), int64(k),
			controlOf(control), unsafe.Pointer(out))
	})
}

//export mustlinkModelInfo
func mustlinkModelInfo(m C.mustlink_model, buffer *C.char, capacity C.int64_t, size *C.int64_t,
	message *C.char) C.int {
	return with(m, message, func(model *mustlink.Model) error {
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(abi.ModelInfo(model))
	})
}

//export mustlinkRemarks
func mustlinkRemarks(m C.mustlink_model, points *C.mustlink_points, buffer *C.char, capacity C.int64_t,
	size *C.int64_t, message *C.char) C.int {
	return with(m, message, func(model *mustlink.Model) error {
		remarks, err := abi.Remarks(model, pointsOf(points))
		if err != nil {
			return err
		}
		return bufferOf(unsafe.Pointer(buffer), capacity, size).WriteJSON(remarks)
	})
}

//export mustlinkSave
func mustlinkSave(m C.mustlink_model, path *C.char, message *C.char) C.int {
	return with(m, message, func(model *mustlink.Model) error {
		if err := checkText(path, "the path"); err != nil {
			return err
		}
		return model.Save(text(path))
	})
}

//export mustlinkExport
func mustlinkExport(e C.mustlink_engine, m C.mustlink_model, path, precision *C.char, message *C.char) C.int {
	return withModel(e, m, message, func(eng *engine.Engine, model *mustlink.Model) error {
		if err := checkText(path, "the path"); err != nil {
			return err
		}
		return abi.Export(eng, model, text(path), text(precision))
	})
}

//export mustlinkLoad
func mustlinkLoad(e C.mustlink_engine, path *C.char, out *C.mustlink_model, message *C.char) C.int {
	return made(e, out, message, func(eng *engine.Engine) (any, error) {
		if err := checkText(path, "the path"); err != nil {
			return nil, err
		}
		return mustlink.Load(text(path), mustlink.Engine(eng))
	})
}

//export mustlinkSaveBytes
func mustlinkSaveBytes(m C.mustlink_model, buffer unsafe.Pointer, capacity C.int64_t, size *C.int64_t,
	message *C.char) C.int {
	return with(m, message, func(model *mustlink.Model) error {
		return bufferOf(buffer, capacity, size).SaveBytes(model)
	})
}

//export mustlinkLoadBytes
func mustlinkLoadBytes(e C.mustlink_engine, bytes unsafe.Pointer, size C.int64_t, out *C.mustlink_model,
	message *C.char) C.int {
	return made(e, out, message, func(eng *engine.Engine) (any, error) {
		return abi.LoadBytes(eng, bytes, int64(size))
	})
}

//export mustlinkModelFree
func mustlinkModelFree(m C.mustlink_model, message *C.char) C.int {
	return guarded(message, func() error { return abi.Free[*mustlink.Model](&handles, uintptr(m)) })
}

//export mustlinkIndexNew
func mustlinkIndexNew(e C.mustlink_engine, points *C.mustlink_points, neighbors C.int64_t, seed C.uint64_t,
	control *C.mustlink_control, out *C.mustlink_index, message *C.char) C.int {
	return made(e, out, message, func(eng *engine.Engine) (any, error) {
		return abi.NewIndex(eng, pointsOf(points), int64(neighbors), uint64(seed), controlOf(control))
	})
}

//export mustlinkIndexSave
func mustlinkIndexSave(x C.mustlink_index, path *C.char, message *C.char) C.int {
	return with(x, message, func(index *neighborindex.Searcher) error {
		if err := checkText(path, "the path"); err != nil {
			return err
		}
		return index.WriteFile(text(path))
	})
}

//export mustlinkIndexLoad
func mustlinkIndexLoad(e C.mustlink_engine, path *C.char, m C.mustlink_model, points *C.mustlink_points,
	control *C.mustlink_control, out *C.mustlink_index, neighbors *C.int64_t, message *C.char) C.int {
	return made(e, out, message, func(eng *engine.Engine) (any, error) {
		err := checkText(path, "the path")
		var model *mustlink.Model
		if m != 0 && err == nil {
			model, err = abi.Get[*mustlink.Model](&handles, uintptr(m))
		}
		if err != nil {
			return nil, err
		}
		x, err := abi.LoadIndex(eng, text(path), model, pointsOf(points), controlOf(control))
		if err == nil && neighbors != nil {
			*neighbors = C.int64_t(x.Neighbors())
		}
		return x, err
	})
}

//export mustlinkIndexSearch
func mustlinkIndexSearch(x C.mustlink_index, points *C.mustlink_points, k C.int64_t, recall C.double,
	control *C.mustlink_control, neighbor *C.int64_t, distance, measured *C.double, message *C.char) C.int {
	return with(x, message, func(index *neighborindex.Searcher) error {
		return abi.Search(index, pointsOf(points), int64(k), float64(recall), controlOf(control),
			unsafe.Pointer(neighbor), unsafe.Pointer(distance), (*float64)(unsafe.Pointer(measured)))
	})
}

//export mustlinkIndexFree
func mustlinkIndexFree(x C.mustlink_index, message *C.char) C.int {
	return guarded(message, func() error { return abi.Free[*neighborindex.Searcher](&handles, uintptr(x)) })
}
