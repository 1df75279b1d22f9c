package dataset_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
)

func ExampleDecode() {
	text := "id,width,height,label\nr1,1.5,2,a\nr2,3,oops,b\n"
	_, err := dataset.Decode(strings.NewReader(text), "beans.csv", "csv", dataset.ReadOptions{})
	fmt.Println(err)

	text = strings.Replace(text, "oops", "4", 1)
	d, err := dataset.Decode(strings.NewReader(text), "beans.csv", "csv", dataset.ReadOptions{})
	fmt.Println(d.Points.Len(), d.Points.Dim(), d.Features, d.IDs, d.Labels, err)
	// Output:
	// beans.csv, line 3, row 1, column "height": the text "oops" is not a number: want a finite number
	// 2 2 [width height] [r1 r2] [a b] <nil>
}

func ExampleReadLinks() {
	text := "i,j,link\n0,1,must\n2,3,must\n1,0,cannot\n"
	_, err := dataset.ReadLinks(dataset.Input{Name: "links.csv", Stream: strings.NewReader(text)},
		dataset.LinkContext{N: 4})
	fmt.Println(err)
	// Output:
	// links.csv, line 4: pair 0,1 is a cannot-link here and a must-link on line 2: want one of the two
}

func ExampleWriteMatrix() {
	data := []float64{1, 2.5, 3, 4}
	err := dataset.WriteMatrix("-", 2, 2, data, 2, []string{"r1", "r2"},
		dataset.WriteOptions{Stdout: os.Stdout})
	fmt.Println(err)
	// Output:
	// id,0,1
	// r1,1,2.5
	// r2,3,4
	// <nil>
}
