package arrow_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/dataset/arrow"
	"github.com/mustlink/mustlink/engine/points"
)

// A program lists the format in its options; everything else is as for the other formats.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path, formats := filepath.Join(dir, "data.arrow"), []dataset.Extension{arrow.Format()}

	d := &dataset.Data{Points: &points.Dense{N: 2, D: 2, Data: []float64{1, 2, 3, 4}},
		Features: []string{"x", "y"}, IDs: []string{"a", "b"}}
	if err := dataset.WriteData(path, d, dataset.WriteOptions{Extensions: formats}); err != nil {
		fmt.Println(err)
		return
	}
	got, err := dataset.Read(path, dataset.ReadOptions{Extensions: formats})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(got.Features, got.IDs, got.Points.(*points.Dense).Data)
	// Output: [x y] [a b] [1 2 3 4]
}
