package mustlink_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// TestMisuse: every wrong use of the package is an error of input with this complete message, never
// a panic.
func TestMisuse(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 40)
	other := try(mustlink.NewLinks(7, [][2]int{{0, 1}}, nil))
	model := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("krca")))
	wide := try(mustlink.FromRows([][]float64{{1, 2, 3}, {4, 5, 6}}))
	letters := try(mustlink.FromSequences("dna", []string{"ACGT", "AC"}))
	single := try(mustlink.FromRows([][]float64{{1, 2}}))
	broken := filepath.Join(t.TempDir(), "broken.mlk")
	try(broken, os.WriteFile(broken, []byte("not a model"), 0o600))
	flat := try(points.NewDense(40, 2, make([]float64, 80)))
	statistics := fault.FormatBytes(prepare.FitBytes(flat, runtime.GOMAXPROCS(0)))
	var methods []string
	for _, m := range catalog.Methods() {
		methods = append(methods, m.Name)
	}
	var noContext context.Context
	var noTable *mustlink.Table
	var noModel *mustlink.Model
	fit := func(table *mustlink.Table, pairs *mustlink.Links, options ...mustlink.Option) func() error {
		return func() error { _, err := mustlink.Fit(ctx, table, pairs, options...); return err }
	}
	embed := func(m *mustlink.Model, table *mustlink.Table) func() error {
		return func() error { _, err := m.Embed(ctx, table); return err }
	}
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"fit without a context": {func() error {
			_, err := mustlink.Fit(noContext, table, pairs)
			return err
		}, "context is <nil>: want a context, such as context.Background()"},
		"fit without a table": {fit(nil, pairs),
			"table is <nil>: want a table made by ReadTable, FromMatrix or a similar function"},
		"fit of an empty table": {fit(&mustlink.Table{}, pairs),
			"table is <nil>: want a table made by ReadTable, FromMatrix or a similar function"},
		"fit without links": {fit(table, nil),
			"links is <nil>: want links, or triplets, quadruplets or targets"},
		"links of other rows": {fit(table, other),
			"number of rows of the links is 7: want 40, the rows of the table"},
		"a single row": {fit(single, try(mustlink.NewLinks(1, nil, nil))),
			"it has 1 data row: want at least 2"},
		"an unknown method": {fit(table, pairs, mustlink.Method("kcra")),
			`method is "kcra": want one of ` + strings.Join(methods, ", ") + `; did you mean "krca"?`},
		"an unknown parameter": {fit(table, pairs, mustlink.Method("krca"), mustlink.Param("eps", "0")),
			`eps is "0": want a finite number > 0`},
		"parameters of no method": {fit(table, pairs, mustlink.Using(3)),
			`type of the parameters is "int": want the Params of a method, such as krca.Params`},
		"nil parameters": {fit(table, pairs, mustlink.Using(nil)),
			`type of the parameters is "<nil>": want the Params of a method, such as krca.Params`},
		"two methods": {fit(table, pairs, mustlink.Using(krca.DefaultParams()),
			mustlink.Method("gml")), `method is "gml": want either Method or Using`},
		"parameters out of range": {fit(table, pairs, mustlink.Using(krca.Params{})),
			"eps_rel is 0: want a finite number > 0 (or give eps or fixed_s)"},
		"a kernel that is none": {fit(table, pairs, mustlink.Kernel("rfb")),
			`kernel is "rfb": want one of ` + strings.Join(kernel.Names(), ", ") + `; did you mean "rbf"?`},
		"two preparations": {fit(table, pairs, mustlink.Standardize(), mustlink.TFIDF()),
			`option is "TFIDF or Unprepared": want no other preparation with it`},
		"an option of another call": {fit(table, pairs, mustlink.Restarts(3)),
			`option is "Restarts": want an option that Fit takes`},
		"an option that is none": {fit(table, pairs, mustlink.Option{}),
			"option is <nil>: want an option made by a function of package mustlink"},
		"a nil engine": {fit(table, pairs, mustlink.Engine(nil)),
			"engine is <nil>: want an engine made by engine.New, or no such option"},
		"negative workers": {fit(table, pairs, mustlink.Workers(-1)),
			"workers is -1: want a number >= 0 (0 for all processors)"},
		"a memory limit that binds": {fit(table, pairs, mustlink.MemoryLimit(100)),
			"statistics of 40 rows needs " + statistics + ", limit 100 B: use fewer rows"},
		"triplets for krca": {fit(table, pairs, mustlink.Method("krca"),
			mustlink.Triplets([]mustlink.Triplet{{I: 0, J: 1, K: 2}})),
			"number of triplets is 1: want none: krca does not learn from them"},
		"no triplets": {fit(table, pairs, mustlink.Triplets([]mustlink.Triplet{})),
			"number of triplets is 0: want at least one, or no such option"},
		"no quadruplets": {fit(table, nil, mustlink.Quadruplets(nil)),
			"number of quadruplets is 0: want at least one, or no such option"},
		"no targets": {fit(table, nil, mustlink.Targets(nil)),
			"number of targets is 0: want at least one, or no such option"},
		"no links": {fit(table, try(mustlink.NewLinks(40, nil, nil))),
			"moons: itml learns from links: want at least one, got none"},
		"targets of other rows": {fit(table, nil, mustlink.Targets([]float64{1})),
			"moons: number of targets is 1: want 40, the number of points"},
		"targets for krca": {fit(table, pairs, mustlink.Method("krca"),
			mustlink.Targets([]float64{1})),
			"number of targets is 1: want none: krca does not learn from them"},
		"standardized sequences": {fit(letters, try(mustlink.NewLinks(2, [][2]int{{0, 1}}, nil)),
			mustlink.Standardize()),
			`standardize is "sequences": want dense points, as sequences have no features`},
		"embed with a nil model": {embed(noModel, table),
			"model is <nil>: want a model made by Fit or Load"},
		"embed with an empty model": {embed(&mustlink.Model{}, table),
			"model is <nil>: want a model made by Fit or Load"},
		"embed a nil table": {embed(model, noTable),
			"table is <nil>: want a table made by ReadTable, FromMatrix or a similar function"},
		"embed other features": {embed(model, wide),
			"number of features is 3: want 2, as the model was fitted on"},
		"embed sequences": {embed(model, letters),
			"got sequences: want vectors or inner products, as the model was fitted on"},
		"a value that is none": {func() error {
			_, err := mustlink.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, math.NaN(), 4}))
			return err
		}, `row 1, column "0": value is NaN: want a finite number`},
		"distance of no row": {func() error {
			_, err := model.Distances(ctx, table, [][2]int{{0, 40}})
			return err
		}, `row 0, column "1": point 40 does not exist: want 0 to 39`},
		"neighbors of no table": {func() error {
			_, err := model.Neighbors(ctx, nil, table, 1)
			return err
		}, "known table is <nil>: want a table made by ReadTable, FromMatrix or a similar function"},
		"too many neighbors": {func() error {
			_, err := model.Neighbors(ctx, table, table, 41)
			return err
		}, `neighbors is 41: want at most the number of training rows, 40`},
		"classify without labels": {func() error {
			_, err := model.Classify(ctx, wide, table, 1)
			return err
		}, "the rows of the known table have no labels: want a column label, or WithLabels"},
		"no cluster": {func() error {
			_, err := model.Cluster(ctx, table, 0)
			return err
		}, `moons: number of clusters is 0: want a number >= 1`},
		"constrained by nothing": {func() error {
			_, err := model.Cluster(ctx, table, 2, mustlink.Constrained(nil))
			return err
		}, "links is <nil>: want links between the rows to cluster"},
		"a seed for Load": {func() error {
			_, err := mustlink.Load("x.mlk", mustlink.Seed(1))
			return err
		}, `option is "Seed": want an option that Load takes`},
		"load no model": {func() error {
			_, err := mustlink.Load(broken)
			return err
		}, broken + ": not a mustlink model file: it has no header in JSON: want a safetensors file"},
		"load from nothing": {func() error {
			_, err := mustlink.LoadFrom(nil, 3)
			return err
		}, "reader is <nil>: want a reader of a model file"},
		"save a nil model": {func() error {
			return noModel.Save("x.mlk")
		}, "model is <nil>: want a model made by Fit or Load"},
		"update without links": {func() error {
			_, err := model.Update(ctx, table, nil)
			return err
		}, "links is <nil>: want the links to learn"},
		"a nil matrix": {func() error {
			_, err := mustlink.FromMatrix(nil)
			return err
		}, "matrix is <nil>: want a matrix"},
		"a nil *mat.Dense": {func() error {
			_, err := mustlink.FromMatrix((*mat.Dense)(nil))
			return err
		}, "matrix is <nil>: want a matrix"},
		"no rows": {func() error {
			_, err := mustlink.FromRows(nil)
			return err
		}, "number of rows is 0: want 1 or more"},
		"rows of two lengths": {func() error {
			_, err := mustlink.FromRows([][]float64{{1}, {1, 2}})
			return err
		}, "length of row 1 is 2: want 1, the length of row 0"},
		"letters of no alphabet": {func() error {
			_, err := mustlink.FromSequences("dna", []string{"AXG"})
			return err
		}, `row 0: letter 'X' at position 1 is not in the alphabet: want one of ACGT, or '-'`},
		"a Gram matrix that is flat": {func() error {
			_, err := mustlink.FromGram(mat.NewDense(1, 2, nil), nil)
			return err
		}, "number of columns of the Gram matrix is 2: want 1, as many as rows, or a diagonal"},
		"too few labels": {func() error {
			_, err := table.WithLabels([]string{"a"})
			return err
		}, "number of labels is 1: want 40, one for each row"},
		"select no row": {func() error {
			_, err := table.Select([]int{40})
			return err
		}, "row is 40: want a row from 0 to 39"},
		"a link with itself": {func() error {
			_, err := mustlink.NewLinks(2, [][2]int{{1, 1}}, nil)
			return err
		}, `link 0 of the list: row 1 is paired with itself: want two different rows`},
		"links by ids that are none": {func() error {
			_, err := table.ReadLinksByID("links.csv")
			return err
		}, `moons: the rows have no ids: want a column id, or links by row number`},
		"labels of no table": {func() error {
			_, err := mustlink.Score(wide, []int{0, 1})
			return err
		}, "the rows of the table have no labels: want a column label, or WithLabels"},
		"scores of too few": {func() error {
			_, err := mustlink.Score(table, []int{0})
			return err
		}, "number of predicted labels is 1: want 40, one for each row"},
		"standardize twice": {func() error {
			_, err := try(table.Standardize()).TFIDF()
			return err
		}, `preparation is "a second one": want one of Prepare, Standardize and TFIDF, once`},
		"no counts": {func() error {
			_, err := try(mustlink.FromMatrix(mat.NewDense(2, 2, []float64{1, 0, 2, -1}))).TFIDF()
			return err
		}, `row 1, column "1": -1: want a count, a finite number >= 0`},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, c.call(), c.want) })
	}
}

// wantError requires an error of input with that message.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error: want %s", want)
	}
	if !fault.IsInput(err) {
		t.Errorf("%v is no error of input", err)
	}
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestNothing: empty tables and models have no rows and dimensions in methods without an error.
func TestNothing(t *testing.T) {
	for _, table := range []*mustlink.Table{nil, {}, mustlink.FromData(nil),
		mustlink.FromData(&dataset.Data{})} {
		if table.Rows() != 0 || table.Columns() != 0 || table.Names() != nil || table.IDs() != nil ||
			table.Labels() != nil || table.Warnings() != nil {
			t.Errorf("table %+v is not empty", table)
		}
	}
	for _, model := range []*mustlink.Model{nil, {}, mustlink.NewModel(nil, nil)} {
		if model.Dim() != 0 || model.Record() != nil || model.Describe().String() == "" {
			t.Errorf("model %+v is not empty", model)
		}
	}
}

// TestDescribeWithoutEngine: a model describes itself without an engine; only its other methods
// require one.
func TestDescribeWithoutEngine(t *testing.T) {
	table, pairs := problem(t, 20)
	m := try(mustlink.Fit(t.Context(), table, pairs, mustlink.Method("krca")))
	alone := mustlink.NewModel(m.Record(), nil)
	if alone.Describe().String() != m.Describe().String() || alone.Dim() != m.Dim() {
		t.Errorf("without an engine it describes itself as %+v", alone.Describe())
	}
	_, err := alone.Embed(t.Context(), table)
	wantError(t, err, "model is <nil>: want a model made by Fit or Load")
}

// TestLearnersRefuseNothing: the learners of all methods refuse nil points and nil links, too.
func TestLearnersRefuseNothing(t *testing.T) {
	table, pairs := problem(t, 20)
	eng := try(engine.New(engine.Options{}))
	for _, m := range catalog.Methods() {
		learner := try(m.New(catalog.Config{}))
		if _, err := learner.Fit(t.Context(), eng, nil, pairs); !fault.IsInput(err) {
			t.Errorf("%s without points: error %v", m.Name, err)
		}
		if _, err := learner.Fit(t.Context(), eng, table.Data().Points, nil); !fault.IsInput(err) {
			t.Errorf("%s without links: error %v", m.Name, err)
		}
	}
}

// TestCanceled: if the context has ended, the error wraps its error, and there is no model.
func TestCanceled(t *testing.T) {
	table, pairs := problem(t, 40)
	model := try(mustlink.Fit(t.Context(), table, pairs))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := mustlink.Fit(ctx, table, pairs); !errors.Is(err, context.Canceled) || m != nil {
		t.Errorf("Fit: model %v, error %v", m, err)
	}
	if _, err := model.Embed(ctx, table); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed: error %v", err)
	}
	if _, err := model.Cluster(ctx, table, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("Cluster: error %v", err)
	}
}
