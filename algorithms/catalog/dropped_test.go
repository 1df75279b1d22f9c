package catalog_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/model"
)

// optional lists the tensors that a golden model may lack, by their file. They are from before
// files listed their tensors. A model without them has the same metric, but takes no links.
var optional = map[string][]string{
	"blend.safetensors": {"blend.3.gml.taught.links"},
}

// TestDroppedTensors: a model file from which a tensor is missing is refused by the name of a
// tensor: files of the first version and of today.
func TestDroppedTensors(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "v1", "*.safetensors"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden models: ", err)
	}
	dropped, passed := 0, 0
	drop := func(name string, file *model.File, optional []string) {
		for _, tensor := range slices.Sorted(maps.Keys(file.Tensors)) {
			if tensor == goldenDistances {
				continue
			}
			less := &model.File{Header: file.Header, Tensors: maps.Clone(file.Tensors)}
			delete(less.Tensors, tensor)
			_, err := catalog.Decode(less)
			switch may := slices.Contains(optional, tensor); {
			case may && err != nil:
				t.Errorf("%s without %s, which is optional: %v", name, tensor, err)
			case may:
				passed++
			case err == nil:
				t.Errorf("%s without %s: passed", name, tensor)
			default:
				wantInput(t, name+" without "+tensor, err)
				dropped++
			}
		}
	}
	for _, path := range paths {
		file, err := model.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		drop(name, file, optional[name])
	}
	for _, v := range victims(t) {
		drop(v.name, v.file, nil)
	}
	t.Logf("tensors dropped: %d refused, %d optional", dropped, passed)
}
