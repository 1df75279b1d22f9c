package forest

import (
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// Tensors of a model. The nodes of all trees are in preorder, which determines the trees.
const (
	tensorFeatures    = Method + ".features"    // [nodes]: features of the splits, counted from 1; 0 for leaves
	tensorThresholds  = Method + ".thresholds"  // [nodes]: values up to this one go left
	tensorCoordinates = Method + ".coordinates" // [leaves, dims]
	tensorCenter      = Method + ".center"      // [dims]
)

// Encode stores the trees and the coordinates of their leaves in f.
func (e *forest) Encode(f *model.File) any {
	features, thresholds := make([]int64, len(e.nodes)), make([]float64, len(e.nodes))
	for k, n := range e.nodes {
		features[k], thresholds[k] = int64(n.feature)+1, n.threshold
	}
	f.SetInt64s(tensorFeatures, features)
	f.SetFloat64s(tensorThresholds, thresholds)
	fitted.SetMatrix(f, tensorCoordinates, e.p)
	f.SetFloat64s(tensorCenter, e.center)
	return fitted.MapHeader{InputDim: e.features}
}

// Decode returns the model that Encode stored in f. An unusable tensor or part of the header is
// a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	var about fitted.MapHeader
	var e *forest
	r, err := fitted.Decode[Params](Method, f, func(method string, f *model.File) (m *fitted.Map, err error) {
		if e, err = read(f, about.InputDim); err != nil {
			return nil, err
		}
		return fitted.OfFunction(method, e), nil
	}, &about)
	if err != nil {
		return nil, err
	}
	return &Model{r, e.trees}, nil
}

func read(f *model.File, features int) (*forest, error) {
	if features < 1 || features > math.MaxInt32 {
		return nil, fitted.InHeader(fault.Data("", "input_dim is %d: want 1 to %d", features, math.MaxInt32))
	}
	e := &forest{features: features}
	of, err := f.Int64s(tensorFeatures, -1)
	if err != nil {
		return nil, err
	}
	thresholds, err := fitted.ReadFinite(f, tensorThresholds, len(of))
	if err != nil {
		return nil, err
	}
	if e.center, err = fitted.ReadFinite(f, tensorCenter, -1); err != nil {
		return nil, err
	}
	if len(e.center) == 0 {
		return nil, fitted.EmptyTensor(tensorCenter)
	}
	if e.trees, err = rebuilt(of, thresholds, features); err != nil {
		return nil, err
	}
	data, err := fitted.ReadFinite(f, tensorCoordinates, e.leaves, len(e.center))
	if err != nil {
		return nil, err
	}
	e.p = blas.MatrixOf(e.leaves, len(e.center), data)
	return e, nil
}

// rebuilt returns the trees of nodes in preorder. A split has two subtrees: the node after a leaf
// is the right child of the last split that has none yet, or the root of the next tree.
func rebuilt(features []int64, thresholds []float64, dim int) (trees, error) {
	if len(features) == 0 || len(features) > math.MaxInt32 {
		return trees{}, fitted.EmptyTensor(tensorFeatures)
	}
	t, open := trees{nodes: make([]node, len(features))}, []int(nil) // open: splits without a right child
	root := true
	for k, feature := range features {
		if root {
			t.roots = append(t.roots, k)
		}
		if feature < 0 || feature > int64(dim) {
			return trees{}, fault.Data("", "tensor %q: feature %d of node %d: want 0 to %d", tensorFeatures, feature, k, dim)
		}
		t.nodes[k] = node{thresholds[k], int32(feature - 1), int32(t.leaves)}
		if root = false; feature > 0 {
			open = append(open, k)
			continue
		}
		t.leaves++
		if root = len(open) == 0; !root {
			t.nodes[open[len(open)-1]].next = int32(k + 1)
			open = open[:len(open)-1]
		}
	}
	if !root {
		return trees{}, fault.Data("", "tensor %q: the last tree is incomplete", tensorFeatures)
	}
	return t, nil
}
