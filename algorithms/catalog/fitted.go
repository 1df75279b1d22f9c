package catalog

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// Fitted is the content of a model file: a model and the information needed to use it on other
// data.
type Fitted struct {
	Model    algorithms.Model
	Features []string          // names of the training columns, nil for none
	Scaling  dataset.Transform // applied to points before the model, nil for none

	Fingerprint string // dataset.Fingerprint of the training points, "" if unknown
	// LibraryVersion and Build identify the program that fitted the model. If they are "", Save writes
	// those of the running program.
	LibraryVersion string
	Build          string
	// Single selects storage in single precision: half the bytes, and values rounded to 24 bits. A
	// loaded model has the rounded values. Computations are in double precision.
	Single bool
}

// Names of the tensors that hold the scaling.
const (
	scalingMean  = "scaling.mean"
	scalingScale = "scaling.scale"
	termWeights  = "tfidf.weight"
)

// NewFitted returns the Fitted of a model without scaling. eng is the engine of the fit; features
// are the names of the columns, nil for none.
func NewFitted(eng *engine.Engine, m algorithms.Model, features []string) *Fitted {
	return &Fitted{Model: m, Features: features, Build: BuildOf(eng)}
}

// BuildOf describes the build of an engine: backend, platform and Go version.
func BuildOf(e *engine.Engine) string {
	return fmt.Sprintf("%s, %s/%s, %s", e.Backend().Name(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// Version returns the version of this library as the build recorded it: "v1.2.3", or
// "(devel)" for a build from a working tree.
func Version() string {
	const module = "github.com/mustlink/mustlink"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != module {
			continue
		}
		if m.Replace != nil { // by a folder, in the other modules of this repository
			m = m.Replace
		}
		if m.Version != "" {
			return m.Version
		}
	}
	return "(devel)"
}

// Save writes f to path as a whole or not at all (see model.File.WriteFile for errors).
func Save(path string, f *Fitted) error {
	file, err := Encode(f)
	if err != nil {
		return err
	}
	return file.WriteFile(path)
}

// Encode returns the content of the model file of f, for a destination other than a path.
func Encode(f *Fitted) (*model.File, error) {
	file := &model.File{}
	if err := f.Model.Encode(file); err != nil {
		return nil, err
	}
	file.Header.Features = f.Features
	file.Header.Fingerprint = f.Fingerprint
	file.Header.LibraryVersion = f.LibraryVersion
	if f.LibraryVersion == "" {
		file.Header.LibraryVersion = Version()
	}
	file.Header.Build = f.Build
	if f.Build == "" {
		file.Header.Build = fmt.Sprintf("%s %s/%s %s", backends.Default(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	}
	switch t := f.Scaling.(type) {
	case *dataset.Scaling:
		file.SetFloat64s(scalingMean, t.Mean)
		file.SetFloat64s(scalingScale, t.Scale)
	case *dataset.TFIDF:
		file.SetFloat64s(termWeights, t.Weight)
	}
	if f.Single {
		return narrowed(file)
	}
	return file, nil
}

// narrowed returns file in single precision. It returns an error if the result does not decode: a
// model may require a number that single precision cannot represent.
func narrowed(file *model.File) (*model.File, error) {
	out, err := file.Narrowed()
	if err == nil {
		_, err = Decode(out)
	}
	if err != nil {
		return nil, fmt.Errorf("the model cannot be stored in single precision: %w", err)
	}
	return out, nil
}

// Updatable lists the methods whose models accept updates.
const Updatable = "krca, npkl, kbeta, gml or itml"

// CheckUpdate returns an error for a model that was stored in single precision: the equations on
// which an update relies no longer hold up to rounding.
func (f *Fitted) CheckUpdate() error {
	if f.Single {
		return &fault.ParamError{Param: "precision of the model", Value: model.Single, Want: "double for an update (fit it again, or store it in double precision)"}
	}
	return nil
}

// Load reads a model file of any method in the catalog. An unusable file is a *fault.DataError with
// the path. For an unknown method it wraps a *fault.ParamError that lists the methods.
func Load(path string) (*Fitted, error) { return LoadWithin(path, 0) }

// LoadWithin is [Load] with a limit on the size of the file in bytes, 0 for none, for untrusted
// files. The error for a larger file wraps a *fault.MemoryError; the file is not read.
func LoadWithin(path string, limit int64) (*Fitted, error) {
	file, err := model.ReadFileWithin(path, limit)
	if err != nil {
		return nil, err
	}
	f, err := Decode(file)
	if err != nil {
		return nil, inFile(err, path)
	}
	return f, nil
}

// inFile returns err as a *fault.DataError about the file at path.
func inFile(err error, path string) error {
	if e, ok := errors.AsType[*fault.DataError](err); ok && e.File == "" {
		moved := *e
		moved.File = path
		return &moved
	}
	return fault.Data(path, "%w", err)
}

// Decode returns the model of a file. The errors are those of [Load], without a path.
func Decode(file *model.File) (*Fitted, error) {
	h := file.Header
	if h.Precision != "" && h.Precision != model.Single {
		return nil, fault.Data("", "header of the model: precision is %q: want %q or none", h.Precision, model.Single)
	}
	method, err := Lookup(h.Method)
	if err != nil {
		return nil, err
	}
	f := &Fitted{Features: h.Features, Fingerprint: h.Fingerprint, LibraryVersion: h.LibraryVersion, Build: h.Build, Single: h.Precision == model.Single}
	if f.Model, err = method.decode(file); err != nil {
		return nil, err
	}
	dim := f.InputDim()
	if dim >= 0 && f.Features != nil && len(f.Features) != dim {
		return nil, fault.Data("", "header of the model: %d feature names: want %d", len(f.Features), dim)
	}
	if f.Scaling, err = decodeScaling(file); err != nil {
		return nil, err
	}
	if dim >= 0 && f.Scaling != nil && f.Scaling.Features() != dim {
		return nil, fault.Data("", "scaling of %d features: want %d", f.Scaling.Features(), dim)
	}
	return f, nil
}

func decodeScaling(file *model.File) (dataset.Transform, error) {
	if file.Has(termWeights) {
		weights, err := file.Float64s(termWeights, -1)
		if err != nil {
			return nil, err
		}
		for j, w := range weights {
			if !(w >= 0) || math.IsInf(w, 0) {
				return nil, fault.Data("", "tensor %s: weight %g of term %d: want a finite number >= 0", termWeights, w, j)
			}
		}
		return &dataset.TFIDF{Weight: weights}, nil
	}
	if !file.Has(scalingMean) && !file.Has(scalingScale) {
		return nil, nil
	}
	mean, err := file.Float64s(scalingMean, -1)
	if err != nil {
		return nil, err
	}
	scale, err := file.Float64s(scalingScale, len(mean))
	if err != nil {
		return nil, err
	}
	for j := range mean {
		if m, s := mean[j], scale[j]; m-m != 0 || s-s != 0 || s < 0 {
			return nil, fault.Data("", "scaling of column %d is mean %g, scale %g: want finite numbers, scale >= 0", j, m, s)
		}
	}
	return &dataset.Scaling{Mean: mean, Scale: scale}, nil
}

// InputDim returns the number of input features of the model, -1 if it accepts any number.
func (f *Fitted) InputDim() int {
	if m, ok := f.Model.(algorithms.Inputs); ok {
		return m.InputDim()
	}
	if f.Features != nil {
		return len(f.Features)
	}
	return -1
}

// Preparation returns the name of the transformation of features before the model.
func (f *Fitted) Preparation() string {
	switch f.Scaling.(type) {
	case *dataset.Scaling:
		return "standardize"
	case *dataset.TFIDF:
		return "tfidf"
	}
	return "none"
}
