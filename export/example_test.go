package export_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/export"
)

func ExampleONNX() {
	rows := [][]float64{{0, 1}, {0.1, 5}, {0.2, 3}, {3, 2}, {3.1, 4}, {3.2, 1}}
	table, err := mustlink.FromRows(rows)
	if err != nil {
		log.Fatal(err)
	}
	links, err := mustlink.NewLinks(6, [][2]int{{0, 1}, {3, 4}}, [][2]int{{0, 3}, {2, 5}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	model, err := mustlink.Fit(ctx, table, links, mustlink.Method("itml"))
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer // or an *os.File
	inside, err := export.ONNX(ctx, &file, model, export.ONNXOptions{Precision: export.Single})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("computes in", inside, "precision, with", model.Dim(), "coordinates")
	// Output: computes in double precision, with 2 coordinates
}
