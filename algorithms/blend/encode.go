package blend

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// about is the stages in the header.
type about struct {
	Stages []stub `json:"stages,omitempty"`
}

// stub is the header of a stage's own model, and what the blend adds to it.
type stub struct {
	Header model.Header `json:"header"`
	From   int          `json:"from,omitempty"`  // see stage
	Scale  float64      `json:"scale,omitempty"` // see stage
}

// Encode stores nothing but the table: a model stores its stages itself.
func (*extension) Encode(_ *model.File, _ string, table fitted.MapHeader) any { return table }

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	var head about
	files := make([]model.File, len(m.stages))
	for k, each := range m.stages {
		var err error
		if files[k], err = fitted.MemberFile(each); err != nil {
			return err
		}
		head.Stages = append(head.Stages, stub{files[k].Header, each.from, each.scale})
	}
	if err := m.EncodeWith(f, head); err != nil {
		return err
	}
	fitted.StoreMembers(f, Method, files)
	return nil
}

// Decode returns the model that [Model.Encode] stored. An unusable tensor or part of the header is
// a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	var stages []stage
	var head about
	var table fitted.MapHeader
	r, err := fitted.Decode[Params](Method, f, func(method string, f *model.File) (*fitted.Map, error) {
		t, err := fitted.ReadTable(method, f, table)
		if err != nil {
			return nil, err
		}
		for k, each := range head.Stages {
			s, err := each.read(f, k)
			if err == nil && s.from > 0 {
				err = s.takes(stages[s.from-1].Dim())
			}
			if err != nil {
				return nil, fmt.Errorf("stage %d: %w", k, err)
			}
			stages = append(stages, s)
		}
		if d := columns(stages); d != t.Dim {
			return nil, fitted.InHeader(fault.Data("", "the members have %d dimensions: want %d, those of the coordinates", d, t.Dim))
		}
		return fitted.Extended(method, t, &extension{stages}), nil
	}, &head, &table)
	if err != nil {
		return nil, err
	}
	return &Model{r, stages}, nil
}

// takes returns an error if the stage's input does not have d features.
func (s stage) takes(d int) error {
	if m, is := s.Model.(interface{ InputDim() int }); is && m.InputDim() != d {
		return fitted.InHeader(fault.Data("", "it takes %d features: want %d, those of the stage before it", m.InputDim(), d))
	}
	return nil
}

// read returns stage k of the file.
func (s stub) read(f *model.File, k int) (stage, error) {
	if !(s.Scale >= 0) || math.IsInf(s.Scale, 0) {
		return stage{}, fitted.InHeader(fault.Data("", "scale is %g: want a finite number >= 0", s.Scale))
	}
	if s.From < 0 || s.From > k {
		return stage{}, fitted.InHeader(fault.Data("", "from is %d: want 0 to %d, an earlier stage", s.From, k))
	}
	kind, is := kinds()[s.Header.Method]
	if !is {
		return stage{}, fitted.InHeader(fault.Data("", "stage of method %q: want lleratio, npkl or krca", s.Header.Method))
	}
	m, err := kind.decode(fitted.ReadMember(f, Method, k, s.Header))
	return stage{m, s.From, s.Scale}, err
}
