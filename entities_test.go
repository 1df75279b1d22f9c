package mustlink_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
)

// answered returns the questions about a table as links that its labels answer.
func answered(t *mustlink.Table, questions [][2]int) *mustlink.Links {
	var must, cannot [][2]int
	for _, q := range questions {
		if t.Labels()[q[0]] == t.Labels()[q[1]] {
			must = append(must, q)
		} else {
			cannot = append(cannot, q)
		}
	}
	return try(mustlink.NewLinks(t.Rows(), must, cannot))
}

// TestEntities: generated people become entities that are mostly right, keep links, columns and
// earlier numbers, and do not depend on the number of workers.
func TestEntities(t *testing.T) {
	ctx := t.Context()
	table := mustlink.FromData(try(dataset.People(900, 5)))
	o := mustlink.EntityOptions{Blocks: []string{"zip", "born", "soundex(last),first-letter(first)"}, Seed: 3,
		Compare:  []string{"first", "last", "born", "street", "zip", "city"},
		Distinct: []mustlink.Distinct{try(table.Distinct("source"))}}
	questions, of, err := mustlink.EntityQuestions(ctx, table, nil, o, 400)
	if err != nil || len(questions) != 400 || of < 400 {
		t.Fatalf("%d questions of %d, %v", len(questions), of, err)
	}
	known := answered(table, questions)
	if again, _, _ := mustlink.EntityQuestions(ctx, table, known, o, 400); slices.ContainsFunc(again,
		func(q [2]int) bool { return slices.Contains(questions, q) }) {
		t.Error("questions are asked again")
	}
	r := try(mustlink.Entities(ctx, table, known, o))
	var scores score.Table
	if err := scores.Add(table.Labels(), texts(r.Numbers)); err != nil {
		t.Fatal(err)
	}
	g := try(scores.Groups())
	if *g.Pairwise.F < 0.9 || r.Pairs.AUC < 0.95 || r.Found != len(known.Must()) || len(r.Candidates) != of {
		t.Errorf("pairwise F %v, AUC %v, %d of %d must-links among %d of %d candidates", *g.Pairwise.F, r.Pairs.AUC,
			r.Found, len(known.Must()), len(r.Candidates), of)
	}
	sources := map[[2]int]bool{}
	for i, number := range r.Numbers {
		key := [2]int{number, o.Distinct[0].Keys[i]}
		if sources[key] || number != r.Labels[i] || !(r.Probability[i] >= 0 && r.Probability[i] <= 1) {
			t.Errorf("record %d: entity %d, probability %v, source twice %v", i, number, r.Probability[i], sources[key])
		}
		sources[key] = true
	}
	for _, l := range slices.Concat(known.Must(), known.Cannot()) {
		if (r.Numbers[l.I] == r.Numbers[l.J]) != (l.Sign == links.Must) {
			t.Errorf("link %v is not kept", l)
		}
	}

	var doubts [][2]int
	for _, d := range r.Doubtful(r.Candidates, 20) {
		doubts = append(doubts, [2]int{int(d.I), int(d.J)})
	}
	next := o
	next.Decided, next.Next = answered(table, doubts).WithoutCannot(), 5000
	next.Previous = slices.Clone(r.Numbers)
	for i := range next.Previous {
		if i >= 600 {
			next.Previous[i] = -1
		}
	}
	next.Model = mustlink.Unlearned(try(engine.New(engine.Options{Workers: 1})), nil, nil)
	after := try(mustlink.Entities(ctx, table, known, next))
	for i, number := range after.Numbers {
		switch was := next.Previous[i]; {
		case was < 0 && number < 5000 && !slices.Contains(next.Previous, number):
			t.Errorf("record %d has the new number %d", i, number)
		case was >= 0 && number != after.Numbers[slices.Index(next.Previous, was)]:
			t.Errorf("record %d of entity %d is now of %d, others are not", i, was, number)
		}
	}
	for _, l := range next.Decided.Must() {
		if after.Numbers[l.I] != after.Numbers[l.J] {
			t.Errorf("decided link %v is not kept", l)
		}
	}
	next = o
	next.Model = mustlink.Unlearned(try(engine.New(engine.Options{Workers: 3})), nil, nil)
	same := try(mustlink.Entities(ctx, table, known, next))
	if !slices.Equal(same.Candidates, r.Candidates) ||
		!slices.Equal(same.Probability, r.Probability) ||
		!slices.Equal(same.Labels, r.Labels) {
		t.Error("the result depends on the number of workers")
	}
}

func texts(numbers []int) []string {
	out := make([]string, len(numbers))
	for i, v := range numbers {
		out[i] = string(rune(0x100 + v))
	}
	return out
}

// TestEntitiesErrors: bad options and tables are typed errors.
func TestEntitiesErrors(t *testing.T) {
	ctx := t.Context()
	table := mustlink.FromData(try(dataset.People(60, 5)))
	ages := try(mustlink.FromColumns(map[string]any{"age": []float64{1, 2, math.NaN(), 2}}))
	if d := try(ages.Distinct("age")); !slices.Equal(d.Keys, []int{0, 1, -1, 1}) {
		t.Errorf("keys of numbers %v", d.Keys)
	}
	base := mustlink.EntityOptions{Blocks: []string{"city"}, Compare: []string{"last"}}
	known := try(mustlink.NewLinks(60, [][2]int{{0, 1}, {1, 2}}, nil))
	type options = mustlink.EntityOptions
	for what, c := range map[string]struct {
		change func(o *options)
		links  *mustlink.Links
		want   string
	}{
		"no links":    {func(*options) {}, nil, "links is"},
		"few links":   {func(*options) {}, known, "at least 10"},
		"other links": {func(*options) {}, try(mustlink.NewLinks(3, nil, nil)), "rows of the links"},
		"column":      {func(o *options) { o.Compare = []string{"lst"} }, known, `did you mean "last"`},
		"block":       {func(o *options) { o.Blocks = []string{"cty"} }, known, `did you mean "city"`},
		"function":    {func(o *options) { o.Blocks = []string{"lower(city)"} }, known, "want one of first"},
		"no block":    {func(o *options) { o.Blocks = nil }, known, "blocks"},
		"nothing":     {func(o *options) { o.Compare = nil }, known, "columns to compare"},
		"neighbors":   {func(o *options) { o.Neighbors = 3 }, known, "without a model"},
		"pairs":       {func(o *options) { o.MaxPairs = -1 }, known, "largest number of pairs"},
		"many":        {func(o *options) { o.Blocks, o.MaxPairs = o.Blocks[:1], 5 }, known, "at most 5"},
		"texts":       {func(o *options) { o.Texts = ages }, known, "number of rows with texts"},
		"previous":    {func(o *options) { o.Previous = []int{1} }, known, "number of earlier entities"},
		"decided": {func(o *options) { o.Decided = try(mustlink.NewLinks(60, nil, [][2]int{{0, 1}})) },
			known, "must-link"},
		"model": {func(o *options) { o.Model = &mustlink.Model{} }, known, "Fit or Load"},
	} {
		o := base
		c.change(&o)
		_, err := mustlink.Entities(ctx, table, c.links, o)
		if err == nil || !fault.IsInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	o := mustlink.EntityOptions{Blocks: []string{"age"}}
	if _, _, err := mustlink.EntityQuestions(ctx, ages, nil, o, 1); err == nil ||
		!strings.Contains(err.Error(), `column "age": the cells are numbers`) {
		t.Errorf("keys of numbers: %v", err)
	}
	// Links that join equal keys, and a calibrated model of which all records are one entity.
	rows := try(mustlink.FromRows([][]float64{{0}, {0.5}, {1}, {1.2}, {50}, {51}, {100}, {101}}))
	rows = try(rows.WithLabels(strings.Fields("a a a a b b c c")))
	m := try(mustlink.Fit(ctx, rows, nil, mustlink.Method("raw"), mustlink.Unprepared()))
	m = try(m.Calibrate(ctx, rows, try(try(rows.AllLinks()).Closure())))
	of := mustlink.EntityOptions{Model: m, Neighbors: 2}
	if r := try(mustlink.Entities(ctx, rows, nil, of)); r.Pairs != nil || len(r.Sizes) < 3 {
		t.Errorf("sizes %v", r.Sizes)
	}
	near := try(rows.Select([]int{0, 1, 2}))
	all := try(mustlink.NewLinks(3, [][2]int{{0, 1}, {1, 2}}, nil))
	_, err := mustlink.Entities(ctx, near, all, of)
	if err == nil || !strings.Contains(err.Error(), "all 3 records") {
		t.Errorf("one entity: %v", err)
	}
	of.Distinct = []mustlink.Distinct{{Name: "photo", Keys: []int{1, -1, 1, 2, 3, 4, 5, 6}}}
	_, err = mustlink.Entities(ctx, rows, try(mustlink.NewLinks(8, [][2]int{{0, 1}, {1, 2}}, nil)), of)
	if _, is := errors.AsType[*cluster.DistinctError](err); !is {
		t.Errorf("must-links of one photo: %v", err)
	}
}
