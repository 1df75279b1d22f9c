package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/blend"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Fitted is the content of a model file: a model and the information needed to use it on other
// data.
type Fitted struct {
	Model    algorithms.Model
	Features []string                 // names of the training columns, nil for none
	Marks    map[string]dataset.Marks // of the numbers in columns of text files
	Pictures *dataset.Pictures        // whose pixels are features, nil for none
	Scaling  dataset.Transform        // prepares points for the model, nil for none
	Columns  []prepare.Column         // what the fit found in the table; nil if unknown, as after Load
	LeftOut  []string                 // names of columns of the training table that the model does not take
	Verdict  *verdict.Verdict         // on held-out links, nil for none

	Calibration *calibration.Calibration // of the learned distances, nil for none

	// Fingerprint is that of [Fitted.FingerprintOf] of the training points, "" if unknown. Files of
	// earlier versions have dataset.Fingerprint of their whole table.
	Fingerprint string
	// LibraryVersion and Build identify the program that fitted the model. If they are "", Save
	// writes those of the running program.
	LibraryVersion string
	Build          string
	// Single selects storage in single precision: half the bytes, and values rounded to 24 bits. A
	// loaded model has the rounded values. Computations are in double precision.
	Single bool
}

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

// BuildTags returns the tags of this build, and whether it uses cgo.
func BuildTags() (tags []string, cgo bool) {
	tags = []string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return tags, false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags":
			tags = strings.Split(s.Value, ",")
		case "CGO_ENABLED":
			cgo = s.Value == "1"
		}
	}
	return tags, cgo
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
	file.Header.LibraryVersion = cmp.Or(f.LibraryVersion, Version())
	file.Header.Build = cmp.Or(f.Build, fmt.Sprintf("%s %s/%s %s", backends.Default(), runtime.GOOS,
		runtime.GOARCH, runtime.Version()))
	if f.Scaling != nil {
		f.Scaling.Encode(file)
	}
	for _, extra := range []struct {
		name  string
		given bool
		value any
	}{{leftOut, len(f.LeftOut) > 0, f.LeftOut}, {numberMarks, len(f.Marks) > 0, f.Marks},
		{pictures, f.Pictures != nil, f.Pictures}, {verdictName, f.Verdict != nil, f.Verdict}} {
		if !extra.given {
			continue
		}
		if err := encodeExtra(extra.name, extra.value, file); err != nil {
			return nil, err
		}
	}
	if f.Calibration != nil {
		f.Calibration.Encode(file)
	}
	if f.Single {
		var err error
		if file, err = narrowed(file); err != nil {
			return nil, err
		}
	}
	file.Shrink()
	file.List()
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
const Updatable = "krca, npkl, kbeta, gml, itml or blend"

// Rows returns the prepared rows of the fit for a [algorithms.Linker] that stores all of them, nil
// for another model.
func (f *Fitted) Rows() points.Points {
	linker, ok := f.Model.(algorithms.Linker)
	if ok && linker.Links() != nil {
		x := f.Model.(interface{ Stored() points.Points }).Stored()
		if x != nil && x.Len() == linker.Links().N() {
			return x
		}
	}
	return nil
}

// Updating says how the model learns more links, and what this takes; "" for one that cannot.
func (f *Fitted) Updating() string {
	linker, ok := f.Model.(algorithms.Linker)
	_, updater := f.Model.(algorithms.Updater)
	switch {
	case f.CheckUpdate() != nil:
		return ""
	case updater:
		return "learns new rows that belong together, without those of the fit"
	case !ok || linker.Links() == nil:
		return ""
	}
	text := "learns more links between these rows, which it stores"
	if f.Rows() == nil {
		text = "learns more links between these rows, which it reads again"
		if f.Model.Method() == kbeta.Method {
			text = "learns more links between its landmarks, and reads these rows again"
		}
	}
	if f.Model.Method() == blend.Method {
		text += ", in the time of a fit"
	}
	return text
}

// CheckUpdate returns the error of an [algorithms.UpdateChecker], or that for a model that was
// stored in single precision: the equations on which an update relies no longer hold up to
// rounding.
func (f *Fitted) CheckUpdate() error {
	if f.Single {
		return &fault.ParamError{Param: "precision of the model", Value: model.Single,
			Want: "double for an update (fit it again, or store it in double precision)"}
	}
	if m, ok := f.Model.(algorithms.UpdateChecker); ok {
		return m.CheckUpdate()
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
	if err := file.Complete(); err != nil {
		return nil, err
	}
	h := file.Header
	if h.Precision != "" && h.Precision != model.Single {
		return nil, fault.Data("", "header of the model: precision is %q: want %q or none", h.Precision,
			model.Single)
	}
	method, err := Lookup(h.Method)
	if err != nil {
		return nil, err
	}
	file.Widen()
	f := &Fitted{Features: h.Features, Fingerprint: h.Fingerprint, LibraryVersion: h.LibraryVersion,
		Build: h.Build, Single: h.Precision == model.Single}
	if f.Model, err = method.decode(file); err != nil {
		return nil, err
	}
	if err := decodeExtra(leftOut, &f.LeftOut, file); err != nil {
		return nil, err
	}
	if err := decodeExtra(numberMarks, &f.Marks, file); err != nil {
		return nil, err
	}
	if err := decodeExtra(pictures, &f.Pictures, file); err != nil {
		return nil, err
	}
	for name, marks := range f.Marks {
		if !marks.Valid() {
			return nil, fault.Data("", "header of the model: the marks of column %q are %q: want us or eu",
				name, marks)
		}
	}
	if f.Verdict, err = decodeVerdict(file); err != nil {
		return nil, err
	}
	if f.Calibration, err = calibration.Decode(file); err != nil {
		return nil, err
	}
	want := f.modelDim()
	if f.Scaling, err = decodeTransform(file); err != nil {
		return nil, err
	}
	if got := f.preparedDim(); want >= 0 && got >= 0 && got != want {
		return nil, fault.Data("", "preparation to %d features: want %d", got, want)
	}
	if dim := f.InputDim(); dim >= 0 && f.Features != nil && len(f.Features) != dim {
		return nil, fault.Data("", "header of the model: %d feature names: want %d", len(f.Features), dim)
	}
	return f, nil
}

// InputDim returns the number of columns of the rows that [Fitted.Prepare] takes, -1 if it accepts
// any number.
func (f *Fitted) InputDim() int {
	if f.Scaling != nil {
		return f.Scaling.Features()
	}
	if dim := f.modelDim(); dim >= 0 || f.Features == nil {
		return dim
	}
	return len(f.Features)
}

// modelDim returns the number of features that the model itself takes, -1 for any number.
func (f *Fitted) modelDim() int {
	if m, ok := f.Model.(algorithms.Inputs); ok {
		return m.InputDim()
	}
	return -1
}

// Digest returns the SHA-256 of the metric in hexadecimal, for files that belong to it: of the
// model and the preparation of its rows, without what was added later (verdict, calibration) and
// without the version and build of the fit.
func (f *Fitted) Digest() (string, error) {
	metric := *f
	metric.Verdict, metric.Calibration, metric.LibraryVersion, metric.Build = nil, nil, "any", "any"
	file, err := Encode(&metric)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := file.WriteTo(sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// decodeTransform returns what prepares the points of a model, nil for nothing.
func decodeTransform(file *model.File) (dataset.Transform, error) {
	if t, err := prepare.Decode(file); t != nil || err != nil {
		return t, err
	}
	c, err := kernel.DecodeCorrection(file)
	if c == nil || err != nil {
		return nil, err
	}
	return c, nil
}

// Members of the header's Extra.
const (
	numberMarks = "number_marks" // of the columns of text files
	pictures    = "pictures"     // whose pixels are features
	leftOut     = "left_out"     // names of columns that the model does not take
	verdictName = "verdict"
)

// encodeExtra writes a member of the header's Extra.
func encodeExtra(name string, value any, file *model.File) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if file.Header.Extra == nil {
		file.Header.Extra = map[string]json.RawMessage{}
	}
	file.Header.Extra[name] = text
	return nil
}

// decodeExtra reads a member of the header's Extra into value, which stays as it is if there is
// none.
func decodeExtra(name string, value any, file *model.File) error {
	text, there := file.Header.Extra[name]
	if !there {
		return nil
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fault.Data("", "header of the model: %s: %v", name, err)
	}
	return nil
}

// decodeVerdict reads the verdict, nil for none.
func decodeVerdict(file *model.File) (v *verdict.Verdict, err error) {
	if err := decodeExtra(verdictName, &v, file); err != nil || v == nil {
		return nil, err
	}
	if err := v.Validate(); err != nil {
		return nil, fault.Data("", "header of the model: %s: %w", verdictName, err)
	}
	return v, nil
}

// Kinds returns the names of the columns that the model takes as texts and as numbers, for a reader
// of such rows.
func (f *Fitted) Kinds() (text, numbers []string) {
	if p := prepare.ByColumn(f.Scaling); p != nil {
		return p.Reading()
	}
	return nil, f.Features
}

// preparedDim returns the number of features after the transform, -1 without one.
func (f *Fitted) preparedDim() int {
	if f.Scaling == nil {
		return -1
	}
	if p := prepare.ByColumn(f.Scaling); p != nil {
		return p.Width()
	}
	return f.Scaling.Features()
}

// Preparation returns the name of the transformation of features before the model.
func (f *Fitted) Preparation() string {
	if f.Scaling == nil {
		return "none"
	}
	return f.Scaling.Name()
}

// Remarks collects, block by block, what is odd about the rows that a model is applied to. The zero
// value has no remarks.
type Remarks struct {
	unused  string
	unknown map[string]int // rows by column
}

// Add adds the remarks on a block of rows: columns that the model does not take, and texts that the
// fit did not see.
func (r *Remarks) Add(f *Fitted, d *dataset.Data) {
	r.unused = f.Unused(d.Features)
	by := prepare.ByColumn(f.Scaling)
	if by == nil {
		return
	}
	x, err := f.ownColumns(d)
	mixed, ok := x.(*points.Mixed)
	if err != nil || !ok {
		return
	}
	for column, rows := range by.Unknown(mixed) {
		if r.unknown == nil {
			r.unknown = map[string]int{}
		}
		r.unknown[column] += rows
	}
}

// Text returns a sentence for each remark.
func (r *Remarks) Text() (list []string) {
	if r.unused != "" {
		list = append(list, "the model does not take the columns "+r.unused)
	}
	for _, column := range slices.Sorted(maps.Keys(r.unknown)) {
		list = append(list, fmt.Sprintf("column %q: the fit did not see the texts of %s", column,
			fault.Count(r.unknown[column], "row")))
	}
	return list
}
