package parts

import (
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// about is the headers of the parts' own models, in the header.
type about struct {
	Parts []model.Header `json:"parts"`
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	var head about
	files := make([]model.File, len(m.parts))
	for k, part := range m.parts {
		var err error
		if files[k], err = fitted.MemberFile(part); err != nil {
			return err
		}
		head.Parts = append(head.Parts, files[k].Header)
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
	out := &Model{}
	var head about
	r, err := fitted.Decode[Params](Method, f, func(method string, f *model.File) (*fitted.Map, error) {
		if len(head.Parts) == 0 {
			return nil, fitted.InHeader(fault.Data("", "it has no parts: want at least one"))
		}
		var all []*fitted.Map
		for k, header := range head.Parts {
			part, err := read(f, k, header)
			if err != nil {
				return nil, fmt.Errorf("part %d: %w", k, err)
			}
			out.parts = append(out.parts, part)
			all = append(all, part.(fitted.Member).Parent())
		}
		return fitted.ReadTurned(method, f, all)
	}, &head)
	out.Model = r
	return out, err
}

// read returns part k of the file.
func read(f *model.File, k int, header model.Header) (algorithms.Model, error) {
	kind, is := kinds()[header.Method]
	if !is {
		return nil, fitted.InHeader(fault.Data("", "method %q: want lleratio, krca or gml", header.Method))
	}
	return kind.decode(fitted.ReadMember(f, Method, k, header))
}
