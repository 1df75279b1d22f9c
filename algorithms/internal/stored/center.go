package stored

import (
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Names of the tensors that hold the center of a linear kernel.
const (
	tensorCenter   = "kernel.center"          // [d] or [features]; of a Gram matrix the weights
	tensorFeatures = "kernel.center.features" // [features]: of sparse vectors
	tensorFull     = "kernel.center.full"     // indices of features that all vectors had
	tensorProducts = "kernel.center.products" // [d]: of a Gram matrix
)

// SetKernel stores the text of the kernel in the header, and its center, if it has one, in tensors.
func SetKernel(f *model.File, k kernel.Kernel) {
	f.Header.Kernel = k.String()
	c := k.Origin()
	if c == nil {
		return
	}
	f.SetFloat64s(tensorCenter, c.Point)
	if c.Products != nil {
		f.SetFloat64s(tensorProducts, c.Products)
		return
	}
	f.SetInt64s(tensorFull, Int64s(c.Full))
	if c.Features != nil {
		wide := make([]int64, len(c.Features))
		for at, feature := range c.Features {
			wide[at] = int64(feature)
		}
		f.SetInt64s(tensorFeatures, wide)
	}
}

// Centered returns a kernel of the header with the center of the file. x are the stored points.
func Centered(f *model.File, k kernel.Kernel, x points.Points) (kernel.Kernel, error) {
	_, isGram := x.(*points.Gram)
	if !k.IsLinear() || isGram != f.Has(tensorProducts) || Alphabet(x) != "" {
		return k, fault.Data("", "tensor %s: want none with kernel %s and points of this kind", tensorCenter, k)
	}
	c, size := &kernel.Origin{}, x.Dim()
	var err error
	if f.Has(tensorFeatures) {
		features, err := ascending(f, tensorFeatures, size)
		if err != nil {
			return k, err
		}
		size, c.Features = len(features), make([]int32, len(features))
		for at, feature := range features {
			c.Features[at] = int32(feature)
		}
	}
	if c.Point, err = Finite(f, tensorCenter, size); err != nil {
		return k, err
	}
	if isGram {
		c.Products, err = Finite(f, tensorProducts, size)
	} else {
		c.Full, err = ascending(f, tensorFull, size)
	}
	return k.At(c), err
}

// ascending returns [Indices], which must ascend.
func ascending(f *model.File, name string, limit int) ([]int, error) {
	list, err := Indices(f, name, limit)
	for at := 1; at < len(list); at++ {
		if list[at] <= list[at-1] {
			return nil, fault.Data("", "tensor %s: element %d is %d after %d: want ascending numbers", name, at,
				list[at], list[at-1])
		}
	}
	return list, err
}
