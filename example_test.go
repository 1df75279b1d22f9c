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

// More answers came in: the model learns them without a new fit. An update needs the same table and
// only the new links.
func ExampleModel_Update() {
	ctx := context.Background()
	table := try(mustlink.FromRows([][]float64{{0, 0}, {0.2, 4}, {1, 0.1}, {1.2, 4.2}, {0.1, 2}, {1.1, 2.1}}))
	first := try(mustlink.NewLinks(6, [][2]int{{0, 1}}, [][2]int{{0, 2}}))
	model := try(mustlink.Fit(ctx, table, first, mustlink.Method("itml")))
	more := try(mustlink.NewLinks(6, [][2]int{{2, 3}, {4, 0}}, [][2]int{{1, 3}, {4, 5}}))
	updated := try(model.Update(ctx, table, more))
	together, apart := [2]int{0, 1}, [2]int{4, 5}
	for _, m := range []*mustlink.Model{model, updated} {
		d := try(m.Distances(ctx, table, [][2]int{together, apart}))
		fmt.Printf("%.2f %.2f\n", d[0], d[1])
	}
	// Output:
	// 1.38 1.37
	// 1.20 1.84
}

// Records of two sources: pairs below a distance, and groups with at most one record of a source.
func ExampleModel_Groups() {
	ctx := context.Background()
	table := try(mustlink.FromRows([][]float64{{1, 70}, {1.1, 20}, {5, 71}, {5.1, 22}, {9, 45}, {9.1, 46}}))
	links := try(mustlink.NewLinks(6, [][2]int{{0, 1}, {2, 3}}, [][2]int{{0, 2}, {1, 3}}))
	model := try(mustlink.Fit(ctx, table, links, mustlink.Method("rca")))
	source := mustlink.Distinct{Name: "source", Keys: []int{0, 1, 0, 1, 0, 0}}
	groups := try(model.Groups(ctx, table, mustlink.GroupOptions{Threshold: 10,
		Distinct: []mustlink.Distinct{source}}))
	fmt.Println("groups:", groups.Labels, "forbidden:", groups.Forbidden[0].I, groups.Forbidden[0].J)
	for _, pair := range try(model.Pairs(ctx, table, 10, mustlink.PairOptions{})) {
		fmt.Println("pair:", pair.I, pair.J)
	}
	// Output:
	// groups: [0 0 1 1 2 3] forbidden: 4 5
	// pair: 2 3
	// pair: 0 1
	// pair: 4 5
}

// Columns of a table become numbers by their kinds, and the model does the same with new rows: it
// says what is new to it there.
func ExamplePrepare() {
	ctx := context.Background()
	known := try(mustlink.FromRecords([]map[string]any{
		{"born": "1990-04-01", "city": "Rome", "zip": "00184"},
		{"born": "1988-11-12", "city": "Rome", "zip": nil},
		{"born": "1961-01-30", "city": "Lima", "zip": "15001"},
		{"born": "1959-07-07", "city": "Lima", "zip": "15001"},
	}))
	zips := mustlink.Prepare(mustlink.Preparing{Kinds: map[string]mustlink.ColumnKind{"zip": "category"}})
	links := try(mustlink.NewLinks(4, [][2]int{{0, 1}, {2, 3}}, [][2]int{{0, 2}, {1, 3}}))
	model := try(mustlink.Fit(ctx, known, links, mustlink.Method("itml"), zips))
	fresh := try(mustlink.FromRecords([]map[string]any{
		{"born": "1990-05-02", "city": "Oslo", "zip": "00184"}}))
	for _, remark := range model.Remarks(fresh) {
		fmt.Println(remark)
	}
	fmt.Println("nearest:", try(model.Neighbors(ctx, known, fresh, 1))[0][0].Row)
	// Output:
	// column "city": the fit did not see the texts of 1 row
	// nearest: 0
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
