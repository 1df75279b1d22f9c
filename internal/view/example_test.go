package view_test

import (
	"bytes"
	"fmt"

	"github.com/mustlink/mustlink/internal/view"
)

func ExampleWrite() {
	embedding := view.Scatter{
		X: []float64{0, 1, 5, 6}, Y: []float64{0, 1, 0, 1},
		Groups: []string{"cat", "cat", "dog", "dog"},
		Must:   [][2]int{{0, 1}}, Cannot: [][2]int{{1, 2}},
	}
	var picture bytes.Buffer
	if err := view.Write(&picture, "svg", view.Size{Width: 4, Height: 3}, embedding); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bytes.Contains(picture.Bytes(), []byte("<svg")))
	// Output: true
}
