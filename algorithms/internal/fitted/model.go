package fitted

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// Validate returns a *fault.ParamError for the first invalid value of the parameters of a method.
// If their tags do not say all that they must be, the parameters have a method Validate.
func Validate(params any) error {
	if own, has := params.(interface{ Validate() error }); has {
		return own.Validate()
	}
	return param.Validate(params)
}

// Model is a fitted metric. It is immutable and safe for concurrent use. With a linear map the
// methods Embed, Gram and Distances of [algorithms.Model] are exact and take 2 d Dim flops per
// point.
type Model[P any] struct {
	*Map
	params P
	status algorithms.Status
	share  aboutShare
}

// aboutShare is the member of the header for the share of the learned distance that the embedding
// holds.
type aboutShare struct {
	Share float64 `json:"embedded_share,omitempty"` // of the training points; 0 if it is not known
}

var (
	_ algorithms.Model          = (*Model[any])(nil)
	_ algorithms.Inputs         = (*Model[any])(nil)
	_ algorithms.Describer      = (*Model[any])(nil)
	_ algorithms.SingleEmbedder = (*Model[any])(nil)
	_ algorithms.Formulas       = (*Model[any])(nil)
	_ algorithms.Objective      = (*Traced[any])(nil)
	_ algorithms.Trace          = (*Traced[any])(nil)
)

// New returns the model of a map.
func New[P any](m *Map, params P, status algorithms.Status) *Model[P] {
	return &Model[P]{Map: m, params: params, status: status}
}

// Params returns the parameters of the fit.
func (m *Model[P]) Params() P { return m.params }

// Status returns the status of the fit.
func (m *Model[P]) Status() algorithms.Status { return m.status }

// Note adds a notice to the status. It is for fits, before others see the model.
func (m *Model[P]) Note(notice string) {
	m.status.Notices = append(slices.Clip(m.status.Notices), notice)
}

// Hold notes the share of the learned distance that the embedding of the training points holds, 0
// if it is not known. It is for fits, before others see the model.
func (m *Model[P]) Hold(share float64) { m.share.Share = share }

// Share returns the share of [Model.Hold].
func (m *Model[P]) Share() float64 { return m.share.Share }

// Held returns the share as a statistic, and none if it is unknown or rounds to 1.
func (m *Model[P]) Held() []algorithms.Statistic {
	share := math.Round(1e4*m.share.Share) / 1e4
	if share == 0 || share == 1 {
		return nil
	}
	return []algorithms.Statistic{{Name: "share of the learned squared distance in the embedding of the " +
		"training rows", Value: share}}
}

// Describe returns the statistics of the model.
func (m *Model[P]) Describe() []algorithms.Statistic {
	k, rows := m.Kernel().String(), m.Coordinates().Rows
	count, width := m.First()
	switch {
	case width > 0:
		return []algorithms.Statistic{{Name: "kernel", Value: k}, {Name: "points", Value: count},
			{Name: "kernel principal coordinates", Value: width}, {Name: "dim", Value: m.Dim()}}
	case k == "":
		list := []algorithms.Statistic{{Name: "features", Value: m.InputDim()},
			{Name: "dimensions", Value: m.Dim()}}
		if m.Directed() {
			list = append(list, algorithms.Statistic{Name: "scaled to unit length",
				Value: "rows and coordinates"})
		}
		return list
	case rows == 0:
		return []algorithms.Statistic{{Name: "kernel", Value: k}, {Name: "dim", Value: m.Dim()}}
	}
	return []algorithms.Statistic{{Name: "kernel", Value: k}, {Name: "points", Value: rows},
		{Name: "dim", Value: m.Dim()}}
}

// Encode stores the model in f.
func (m *Model[P]) Encode(f *model.File) error { return m.EncodeWith(f) }

// EncodeWith stores the model in f, with more members of the method's entry in the header: the
// members of the structs extra.
func (m *Model[P]) EncodeWith(f *model.File, extra ...any) error {
	all := append([]any{m.Map.Encode(f)}, extra...)
	if m.share.Share > 0 {
		all = append(all, m.share)
	}
	return SetHeader(f, m.Method(), m.params, m.status, all...)
}

// Decode returns the model that [Model.Encode] stored; extra are pointers to the structs of
// [Model.EncodeWith]. An unusable tensor or member of the header is a *fault.DataError.
func Decode[P any](method string, f *model.File, read Reader, extra ...any) (*Model[P], error) {
	m, err := DecodeHeader[P](method, f, extra...)
	if err != nil {
		return nil, err
	}
	if m.Map, err = read(method, f); err != nil {
		return nil, err
	}
	m.Map, err = ReadComposed(f, m.Map)
	return m, err
}

// DecodeHeader is [Decode] without the map, for methods whose parameters determine how to read it.
func DecodeHeader[P any](method string, f *model.File, extra ...any) (*Model[P], error) {
	m := &Model[P]{}
	if f.Header.Extra[method] != nil {
		extra = append(slices.Clip(extra), &m.share)
	}
	if err := ReadHeader(f, method, &m.params, &m.status, extra...); err != nil {
		return nil, err
	}
	if !(m.share.Share >= 0 && m.share.Share <= 1) {
		return nil, InHeader(fault.Data("", "embedded_share is %g: want a number from 0 to 1", m.share.Share))
	}
	if err := Validate(m.params); err != nil {
		return nil, InHeader(err)
	}
	return m, nil
}

// Result returns the model of a fit, or its error as [input.Failed] returns it.
func Result[M algorithms.Model](ctx context.Context, doing string, m M, err error) (algorithms.Model, error) {
	if err != nil {
		return nil, input.Failed(ctx, doing, err)
	}
	return m, nil
}

// Descent holds the objective after every step of a solver.
type Descent struct{ trace []float64 }

// NewDescent returns the descent of a trace, which must have at least one objective.
func NewDescent(trace []float64) Descent { return Descent{trace} }

// Trace returns the objective after every step. For most methods the first one is that of the
// start.
func (d Descent) Trace() []float64 { return slices.Clone(d.trace) }

// Objective returns the last objective.
func (d Descent) Objective() float64 { return d.trace[len(d.trace)-1] }

// trace is the suffix of the tensor of a trace.
const trace = ".trace"

// EncodeTo stores the objectives in f.
func (d Descent) EncodeTo(f *model.File, method string) { f.SetFloat64s(method+trace, d.trace) }

// DecodeDescent returns the descent that [Descent.EncodeTo] stored. An unusable tensor is a
// *fault.DataError.
func DecodeDescent(method string, f *model.File) (Descent, error) {
	values, err := ReadFinite(f, method+trace, -1)
	if err == nil && len(values) == 0 {
		err = EmptyTensor(method + trace)
	}
	return Descent{values}, err
}

// Traced is a [Model] of an iterative solver, with the objective after every step.
type Traced[P any] struct {
	*Model[P]
	Descent
}

// NewTraced returns the model of a map with the objectives at the start and after every iteration.
func NewTraced[P any](m *Map, params P, status algorithms.Status, trace []float64) *Traced[P] {
	return &Traced[P]{New(m, params, status), Descent{trace}}
}

// Describe returns the statistics of the model.
func (m *Traced[P]) Describe() []algorithms.Statistic {
	return append(m.Model.Describe(), algorithms.Statistic{Name: "objective at the start", Value: m.trace[0]},
		algorithms.Statistic{Name: "objective", Value: m.Objective()})
}

// Encode stores the model in f.
func (m *Traced[P]) Encode(f *model.File) error { return m.EncodeWith(f) }

// EncodeWith stores the model in f, with more members of the method's entry in the header.
func (m *Traced[P]) EncodeWith(f *model.File, extra ...any) error {
	m.EncodeTo(f, m.Method())
	return m.Model.EncodeWith(f, extra...)
}

// DecodeTraced returns the model that [Traced.Encode] stored; extra are pointers to the structs of
// [Traced.EncodeWith]. An unusable tensor or member of the header is a *fault.DataError.
func DecodeTraced[P any](method string, f *model.File, read Reader, extra ...any) (*Traced[P], error) {
	m, err := Decode[P](method, f, read, extra...)
	if err != nil {
		return nil, err
	}
	d, err := DecodeDescent(method, f)
	return &Traced[P]{m, d}, err
}

// Bounded returns the status of a fit with an upper bound of the objective's gap to the minimum.
func Bounded(trace []float64, converged bool, gap float64) algorithms.Status {
	status := algorithms.Status{Converged: converged, Iterations: len(trace) - 1}
	if !converged {
		status.Message = fmt.Sprintf(
			"after %d iterations the objective may be %.2g above its minimum: raise max_iter or tol",
			status.Iterations, gap)
	}
	return status
}

// SetHeader stores the method, its parameters and its status in the header, and the members of all
// extra structs in an entry with the method's name. A nil extra has no members.
func SetHeader(f *model.File, method string, params, status any, extra ...any) (err error) {
	f.Header.Method = method
	if f.Header.Params, err = object(method, params); err != nil {
		return err
	}
	if f.Header.Status, err = object(method, status); err != nil {
		return err
	}
	own, err := object(method, extra...)
	if err == nil && own != nil {
		if f.Header.Extra == nil {
			f.Header.Extra = map[string]json.RawMessage{}
		}
		f.Header.Extra[method] = own
	}
	return err
}

// object returns a JSON object with the members of all parts, nil for none.
func object(method string, parts ...any) (json.RawMessage, error) {
	var out json.RawMessage
	for _, part := range parts {
		if part == nil {
			continue
		}
		text, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("%s: header: %w", method, err)
		}
		switch {
		case len(out) <= len("{}"):
			out = text
		case len(text) > len("{}"):
			out = append(append(out[:len(out)-1], ','), text[1:]...)
		}
	}
	return out, nil
}

// ReadHeader reads what [SetHeader] stored. A header that does not parse, or that of another
// method, is a *fault.DataError.
func ReadHeader(f *model.File, method string, params, status any, extra ...any) error {
	if f.Header.Method != method {
		return fault.Data("", "model of method %q: want %q", f.Header.Method, method)
	}
	if err := ReadParams(f, params); err != nil {
		return err
	}
	if err := member("status", f.Header.Status, status); err != nil {
		return err
	}
	return ReadExtra(f, method, extra...)
}

// ReadParams reads the parameters of the header.
func ReadParams(f *model.File, to any) error { return member("params", f.Header.Params, to) }

// ReadExtra reads the structs of a method's own entry in the header.
func ReadExtra(f *model.File, method string, to ...any) error {
	for _, part := range to {
		if err := member(method, f.Header.Extra[method], part); err != nil {
			return err
		}
	}
	return nil
}

func member(name string, text json.RawMessage, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return fault.Data("", "header of the model, %s: %w", name, err)
	}
	return nil
}

// InHeader adds to an error that it is about the header.
func InHeader(err error) error { return fault.Data("", "header of the model: %w", err) }

// ReadKernel reads the kernel of the header.
func ReadKernel(f *model.File) (kernel.Kernel, error) {
	spec, err := kernel.Parse(f.Header.Kernel)
	if err != nil {
		return kernel.Kernel{}, InHeader(err)
	}
	k, err := kernel.New(spec)
	if err != nil {
		return kernel.Kernel{}, InHeader(err)
	}
	return k, nil
}

// EmptyTensor returns the error of a tensor without values.
func EmptyTensor(name string) error {
	return fault.Data("", "tensor %s is empty: want at least one value", name)
}

// prefix begins the names of a member's tensors.
func prefix(method string, k int) string { return fmt.Sprintf("%s.%d.", method, k) }

// MemberFile returns the file of a member without the time of its fit, which that of the whole
// includes.
func MemberFile(m algorithms.Model) (model.File, error) {
	var f model.File
	if err := m.Encode(&f); err != nil {
		return f, err
	}
	status := m.Status()
	status.Elapsed = 0
	text, err := json.Marshal(status)
	f.Header.Status = text
	return f, err
}

// Decoder returns the function that decodes the models of a method, for a table of methods.
func Decoder[M algorithms.Model](decode func(*model.File) (M,
	error)) func(*model.File) (algorithms.Model, error) {
	return func(f *model.File) (algorithms.Model, error) {
		decoded, err := decode(f)
		if err != nil {
			return nil, err // decoded is a nil pointer, which must not become a non-nil interface
		}
		return decoded, nil
	}
}

// StoreMembers adds the tensors of the members' files to that of the named method. Tensors that
// equal its own of the same name, such as training points, are stored once, and so are vectors that
// are some of its own.
func StoreMembers(f *model.File, method string, files []model.File) {
	own, ix := f.Tensors[tensorDense], (*points.Index)(nil)
	if own.F64 != nil {
		ix = points.NewIndex(&points.Dense{N: own.Shape[0], D: own.Shape[1], Data: own.F64})
	}
	for k := range files {
		for name, t := range files[k].Tensors {
			if shared, is := f.Tensors[name]; is && reflect.DeepEqual(shared, t) {
				continue
			}
			if name == tensorDense && ix != nil {
				x, rows := &points.Dense{N: t.Shape[0], D: t.Shape[1], Data: t.F64}, []int64(nil)
				for i := range x.N {
					rows = append(rows, int64(ix.Find(x, i)))
				}
				if x.N <= own.Shape[0] && !slices.Contains(rows, -1) {
					name, t = tensorShared, model.Tensor{Shape: []int{x.N}, I64: rows}
				}
			}
			f.Tensors[prefix(method, k)+name] = t
		}
	}
}

// ReadMember returns the file of member k, which has that header.
func ReadMember(f *model.File, method string, k int, header model.Header) *model.File {
	own := &model.File{Header: header, Tensors: map[string]model.Tensor{}}
	own.Header.Precision = f.Header.Precision
	for name, t := range f.Tensors {
		if !strings.HasPrefix(name, method+".") {
			own.Tensors[name] = t
		}
	}
	for name, t := range f.Tensors {
		if rest, is := strings.CutPrefix(name, prefix(method, k)); is {
			own.Tensors[rest] = t
		}
	}
	return own
}
