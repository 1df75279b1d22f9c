package catalog_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
)

// A method by its name, its parameters as text, and a model file.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	data, err := dataset.Generate("rings", dataset.GenerateOptions{N: 100, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := links.SampleByCount(data.Labels, 60, 60, 1)
	if err != nil {
		log.Fatal(err)
	}
	method, err := catalog.Lookup("krca")
	if err != nil {
		log.Fatal(err)
	}
	learner, err := method.New(catalog.Config{Kernel: "rbf:sigma=0.5msq",
		Params: map[string]string{"dims": "3"}, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	model, err := learner.Fit(ctx, eng, data.Points, pairs)
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(os.TempDir(), "catalog-example.mlk")
	defer os.Remove(path)
	if err := catalog.Save(path, &catalog.Fitted{Model: model, Features: data.Features}); err != nil {
		log.Fatal(err)
	}
	again, err := catalog.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Model.Method(), again.Model.Dim(), again.Features)
	// Output: krca 3 [x y]
}
