package blend

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// about is the members of the header besides those of the map.
type about struct {
	Members []stub `json:"members,omitempty"`
}

// stub is the header of a member's own model, and its scale.
type stub struct {
	Header model.Header `json:"header"`
	Scale  float64      `json:"scale"`
}

// prefix begins the names of a member's tensors. Tensors that equal the blend's of the same name,
// the training points, are stored once.
func prefix(k int) string { return fmt.Sprintf("%s.%d.", Method, k) }

// encode stores the member's own model without the time of its fit, which the blend's time
// includes.
func (m member) encode(f *model.File) error {
	if err := m.Encode(f); err != nil {
		return err
	}
	status := m.Status()
	status.Elapsed = 0
	text, err := json.Marshal(status)
	f.Header.Status = text
	return err
}

// Encode stores nothing but the table: a model stores its members itself.
func (*extension) Encode(_ *model.File, _ string, table maps.About) any { return table }

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	var head about
	files := make([]model.File, len(m.members))
	for k, each := range m.members {
		if err := each.encode(&files[k]); err != nil {
			return err
		}
		head.Members = append(head.Members, stub{files[k].Header, each.scale})
	}
	if err := m.EncodeWith(f, head); err != nil {
		return err
	}
	for k := range files {
		for name, t := range files[k].Tensors {
			if shared, is := f.Tensors[name]; !is || !reflect.DeepEqual(shared, t) {
				f.Tensors[prefix(k)+name] = t
			}
		}
	}
	return nil
}

// Decode returns the model that [Model.Encode] stored. An unusable tensor or part of the header is
// a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	var members []member
	var head about
	var table maps.About
	r, err := record.Decode[Params](Method, f, func(method string, f *model.File) (*maps.Map, error) {
		_, x, err := maps.ReadSupport(f, table)
		if err != nil {
			return nil, err
		}
		for k, s := range head.Members {
			m, err := s.read(f, k)
			if err != nil {
				return nil, fmt.Errorf("member %d: %w", k, err)
			}
			members = append(members, m)
		}
		if len(members) == 0 {
			return nil, stored.InHeader(fault.Data("", "%s has no members: want at least one", method))
		}
		return newMap(members, x), nil
	}, &head, &table)
	if err != nil {
		return nil, err
	}
	return &Model{r, members}, nil
}

// read returns member k of the file.
func (s stub) read(f *model.File, k int) (member, error) {
	if !(s.Scale > 0) || math.IsInf(s.Scale, 0) {
		return member{}, stored.InHeader(fault.Data("", "scale is %g: want a finite number > 0", s.Scale))
	}
	own := &model.File{Header: s.Header, Tensors: map[string]model.Tensor{}}
	own.Header.Precision = f.Header.Precision
	for name, t := range f.Tensors {
		if !strings.HasPrefix(name, Method+".") {
			own.Tensors[name] = t
		}
	}
	for name, t := range f.Tensors {
		if rest, is := strings.CutPrefix(name, prefix(k)); is {
			own.Tensors[rest] = t
		}
	}
	for _, each := range kinds() {
		if each.name == s.Header.Method {
			m, err := each.decode(own)
			return member{m, s.Scale}, err
		}
	}
	return member{}, stored.InHeader(fault.Data("", "member of method %q: want lleratio, npkl or krca", s.Header.Method))
}
