package model_test

import (
	"bytes"
	"fmt"

	"github.com/mustlink/mustlink/engine/model"
)

func Example() {
	f := &model.File{Header: model.Header{Method: "krca", Kernel: "rbf:sigma=1.5"}}
	f.SetFloat64s("basis", []float64{1, 2, 3, 4, 5, 6}, 2, 3)

	var file bytes.Buffer
	if _, err := f.WriteTo(&file); err != nil {
		fmt.Println(err)
		return
	}

	g, err := model.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Header.Method, g.Header.Kernel)
	_, err = g.Float64s("basis", -1, 2)
	fmt.Println(err)
	// Output:
	// krca rbf:sigma=1.5
	// tensor "basis" has shape 2 x 3: want any x 2
}
