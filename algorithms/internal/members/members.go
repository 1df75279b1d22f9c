// Package members stores models that are made of other models.
package members

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/model"
)

// prefix begins the names of a member's tensors.
func prefix(method string, k int) string { return fmt.Sprintf("%s.%d.", method, k) }

// File returns the file of a member without the time of its fit, which that of the whole includes.
func File(m algorithms.Model) (model.File, error) {
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
func Decoder[M algorithms.Model](decode func(*model.File) (M, error)) func(*model.File) (algorithms.Model, error) {
	return func(f *model.File) (algorithms.Model, error) { return decode(f) }
}

// Store adds the tensors of the members' files to that of the named method. Tensors that equal its
// own of the same name, such as training points, are stored once.
func Store(f *model.File, method string, files []model.File) {
	for k := range files {
		for name, t := range files[k].Tensors {
			if shared, is := f.Tensors[name]; !is || !reflect.DeepEqual(shared, t) {
				f.Tensors[prefix(method, k)+name] = t
			}
		}
	}
}

// Read returns the file of member k, which has that header.
func Read(f *model.File, method string, k int, header model.Header) *model.File {
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
