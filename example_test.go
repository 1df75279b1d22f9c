package mustlink_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
)

// Learn a metric from a table and links, keep it in a file, and use it on new rows: two arms of a
// spiral, which no cluster of k-means can follow.
func Example() {
	defer spirals()()
	ctx := context.Background()
	train := try(mustlink.ReadTable("mine.csv"))
	pairs := try(train.ReadLinks("links.csv"))
	model := try(mustlink.Fit(ctx, train, pairs))
	try(model, model.Save("model.mlk"))
	model = try(mustlink.Load("model.mlk"))
	fresh := try(mustlink.ReadTable("new.csv"))
	fmt.Println(try(model.Embed(ctx, fresh)).Dims())
	clusters := try(model.Cluster(ctx, fresh, 2))
	fmt.Println(try(mustlink.Score(fresh, clusters.Labels)))
	// Output:
	// 300 58
	// rand 0.9933, balanced_rand 0.9933, adjusted_rand 0.9867, nmi 0.9711, cluster_accuracy 0.9967
}

// try returns the value of a call, and ends the program if the call failed.
func try[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// Choose the method by its name, with parameters as on the command line.
func ExampleFit() {
	ctx := context.Background()
	rows := [][]float64{{0, 0}, {0.2, 4}, {1, 0.1}, {1.2, 4.2}, {0.1, 2}, {1.1, 2.1}}
	table := try(mustlink.FromRows(rows))
	pairs := try(mustlink.NewLinks(len(rows), [][2]int{{0, 1}, {2, 3}}, [][2]int{{0, 2}, {1, 3}}))
	model := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("xrca"), mustlink.Param("dims", "1")))
	near := try(model.Neighbors(ctx, table, table, 3))
	fmt.Println("nearest to row 4:", near[4][1].Row, near[4][2].Row)
	// Output:
	// nearest to row 4: 0 1
}

// Fit a model for each of three tenants at the same time. The second has no links to learn from:
// the others finish, and the error names its job.
func ExampleFitMany() {
	ctx := context.Background()
	table := try(mustlink.FromRows([][]float64{{0, 0}, {0.2, 4}, {1, 0.1}, {1.2, 4.2}, {0.1, 2}, {1.1, 2.1}}))
	jobs := []mustlink.Job{
		{Table: table, Links: try(mustlink.NewLinks(6, [][2]int{{0, 1}, {2, 3}}, nil))},
		{Table: table, Links: try(mustlink.NewLinks(6, nil, nil))},
		{Table: table, Links: try(mustlink.NewLinks(6, [][2]int{{0, 2}, {1, 3}}, nil))},
	}
	models, err := mustlink.FitMany(ctx, jobs, mustlink.Method("rca"), mustlink.Workers(2))
	for i, model := range models {
		fmt.Println(i, model != nil)
	}
	if failed, is := errors.AsType[*mustlink.JobError](err); is {
		fmt.Println("failed:", failed.Job)
	}
	// Output:
	// 0 true
	// 1 false
	// 2 true
	// failed: 1
}

// spirals writes the files of the examples into a new current folder, and returns a function that
// removes it and goes back.
func spirals() func() {
	back := try(os.Getwd())
	folder := try(os.MkdirTemp("", "mustlink"))
	try(folder, os.Chdir(folder))
	train := try(dataset.Generate("double-spiral", dataset.GenerateOptions{N: 300, Seed: 1}))
	fresh := try(dataset.Generate("double-spiral", dataset.GenerateOptions{N: 300, Seed: 2}))
	pairs := try(links.SampleByCount(train.Labels, 200, 200, 1))
	try(folder, dataset.WriteData("mine.csv", train, dataset.WriteOptions{}))
	try(folder, dataset.WriteData("new.csv", fresh, dataset.WriteOptions{}))
	try(folder, dataset.WriteLinks("links.csv", pairs, nil, dataset.WriteOptions{}))
	return func() {
		try(back, os.Chdir(back))
		try(folder, os.RemoveAll(folder))
	}
}

// A service gets rows as JSON, and needs no file to ask a model about them.
func ExampleFromRecords() {
	known, err := mustlink.FromRecords([]map[string]any{
		{"age": 31, "country": "Italy"}, {"age": 29, "country": "Italy"}, {"age": 64, "country": "Peru"},
		{"age": 60, "country": "Peru"}, {"age": 33, "country": "Italy"}, {"age": nil, "country": "Peru"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pairs, err := mustlink.NewLinks(known.Rows(), [][2]int{{0, 1}, {2, 3}}, [][2]int{{0, 2}, {1, 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	m, err := mustlink.Fit(ctx, known, pairs, mustlink.Method("itml"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var request []map[string]any
	if err := json.Unmarshal([]byte(`[{"age": 29.5, "country": "Italy"}]`), &request); err != nil {
		fmt.Println(err)
		return
	}
	fresh, err := mustlink.FromRecords(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	near, err := m.Neighbors(ctx, known, fresh, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(near[0][0].Row, near[0][1].Row)
	// Output: 1 0
}
