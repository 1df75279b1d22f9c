package mustlink_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/racetest"
)

// problem returns rows of two classes with labels, and links of both kinds between them.
func problem(t *testing.T, n int) (*mustlink.Table, *mustlink.Links) {
	t.Helper()
	d := try(dataset.Generate("moons", dataset.GenerateOptions{N: n, Seed: 1}))
	table := mustlink.FromData(d)
	return table, try(table.SampleLinks(n/2, n/2, 1))
}

func equal(t *testing.T, what string, a, b *mat.Dense) {
	t.Helper()
	if !mat.Equal(a, b) {
		t.Errorf("%s: the matrices differ", what)
	}
}

// TestFitIsBitIdenticalToTheLearners: results of this package are bit-identical to those of the
// catalog's learner on the same points, for any number of workers.
func TestFitIsBitIdenticalToTheLearners(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 120)
	x := table.Data().Points
	for _, method := range []string{"krca", "lleratio", "npkl", "itml"} {
		eng := try(engine.New(engine.Options{Workers: 1}))
		learned := try(try(catalog.New(method, catalog.Config{Seed: 3})).Fit(ctx, eng, x, pairs))
		y, k := try(learned.Embed(ctx, eng, x)), try(learned.Gram(ctx, eng, x, nil))
		squared := try(learned.Distances(ctx, eng, x, [][2]int{{0, 1}, {5, 9}}))
		for _, workers := range []int{1, 3} {
			m := try(mustlink.Fit(ctx, table, pairs, mustlink.Method(method), mustlink.Seed(3),
				mustlink.Workers(workers)))
			equal(t, method+" Embed", try(m.Embed(ctx, table)), mat.NewDense(y.Rows, y.Cols, y.Data))
			equal(t, method+" Gram", try(m.Gram(ctx, table, nil)), mat.NewDense(k.Rows, k.Cols, k.Data))
			for p, d := range try(m.Distances(ctx, table, [][2]int{{0, 1}, {5, 9}})) {
				if d != math.Sqrt(squared[p]) {
					t.Errorf("%s: distance %d is %v: want the root of %v", method, p, d, squared[p])
				}
			}
		}
	}
}

// TestSavedModels: a model read from its file or from its bytes describes itself and embeds as the
// saved model does.
func TestSavedModels(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 60)
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.Standardize()))
	path := filepath.Join(t.TempDir(), "model.mlk")
	try(path, m.Save(path))
	var file bytes.Buffer
	try(m.WriteTo(&file))
	want, about := try(m.Embed(ctx, table)), m.Describe()
	for name, again := range map[string]*mustlink.Model{
		"Load":     try(mustlink.Load(path, mustlink.Workers(2))),
		"LoadFrom": try(mustlink.LoadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()))),
	} {
		equal(t, name, try(again.Embed(ctx, table)), want)
		if d := again.Describe(); d.String() != about.String() || d.Method != "blend" ||
			d.Preparation != "standardize" || d.Fingerprint != about.Fingerprint {
			t.Errorf("%s describes itself as %+v: want %+v", name, d, about)
		}
	}
}

// TestManyRows: the coordinates of rows in several blocks are those of the rows alone, wherever
// blocks end.
func TestManyRows(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 60)
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("xrca"), mustlink.Standardize()))
	many, _ := problem(t, m.Record().BlockRows(0)+100)
	y := try(m.Embed(ctx, many))
	if r, c := y.Dims(); r != many.Rows() || c != m.Dim() {
		t.Fatalf("%d x %d", r, c)
	}
	last := many.Rows() - 1
	for _, rows := range [][]int{{0, 1}, {last - 101, last - 100, last - 99}, {last}} {
		alone := try(m.Embed(ctx, try(many.Select(rows))))
		for at, i := range rows {
			if d := floatsDistance(alone.RawRowView(at), y.RawRowView(i)); !(d <= 1e-12) {
				t.Errorf("row %d is %g away from its coordinates alone", i, d)
			}
		}
	}
}

// TestStandardize: a model of standardized features equals one of features that were scaled by
// hand, for new rows too; a table that was standardized before the fit gives the same model as the
// option.
func TestStandardize(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 60)
	fresh, _ := problem(t, 30)
	scaling, _, err := prepare.Standardize(table.Data().Points)
	if err != nil {
		t.Fatal(err)
	}
	scaled := func(table *mustlink.Table) *mustlink.Table {
		return mustlink.FromData(&dataset.Data{Points: try(scaling.Apply(table.Data().Points))})
	}
	byHand := try(mustlink.Fit(ctx, scaled(table), pairs, mustlink.Method("krca")))
	want := try(byHand.Embed(ctx, scaled(fresh)))
	option := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("krca"), mustlink.Standardize()))
	before := try(mustlink.Fit(ctx, try(table.Standardize()), pairs, mustlink.Method("krca")))
	equal(t, "the option", try(option.Embed(ctx, fresh)), want)
	equal(t, "before the fit", try(before.Embed(ctx, fresh)), want)
	flat := try(mustlink.FromRows([][]float64{{1, 5}, {2, 5}, {3, 5}}))
	if w := try(flat.Standardize()).Warnings(); len(w) != 1 ||
		w[0] != `column "1": constant, all cells are 5: it is left out` {
		t.Errorf("warnings %q of a constant column", w)
	}
}

// TestSources: the same rows give the same distances as a matrix (shared or with gaps), another
// kind of matrix, slices, and sparse rows; a Gram matrix of linear inner products gives those of
// the linear kernel.
func TestSources(t *testing.T) {
	ctx := t.Context()
	const n, d = 20, 3
	rng := 0.5
	m := mat.NewDense(n, d, nil)
	wide := mat.NewDense(n, d+2, nil)
	rows := make([][]float64, n)
	start, column, value := []int{0}, []int32{}, []float64{}
	for i := range n {
		rows[i] = make([]float64, d)
		for j := range d {
			rng = math.Mod(rng*997.13+0.37, 1)
			rows[i][j] = rng
			m.Set(i, j, rng)
			wide.Set(i, j, rng)
			column, value = append(column, int32(j)), append(value, rng)
		}
		start = append(start, len(value))
	}
	var gram mat.Dense
	gram.Mul(m, m.T())
	pairs := try(mustlink.NewLinks(n, [][2]int{{0, 1}, {2, 3}, {4, 5}}, [][2]int{{0, 2}}))
	distances := func(table *mustlink.Table) []float64 {
		model := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("krca"), mustlink.Kernel("linear")))
		return try(model.Distances(ctx, table, [][2]int{{0, 7}, {3, 11}, {19, 2}}))
	}
	want := distances(try(mustlink.FromMatrix(m)))
	for name, table := range map[string]*mustlink.Table{
		"with gaps": try(mustlink.FromMatrix(wide.Slice(0, n, 0, d))),
		"transpose": try(mustlink.FromMatrix(mat.DenseCopyOf(m.T()).T())),
		"slices":    try(mustlink.FromRows(rows)),
	} {
		if got := distances(table); !slices.Equal(got, want) {
			t.Errorf("%s: distances %v: want %v", name, got, want)
		}
	}
	for name, table := range map[string]*mustlink.Table{
		"sparse": try(mustlink.FromSparse(n, d, start, column, value)),
		"gram":   try(mustlink.FromGram(&gram, nil)),
	} {
		for p, got := range distances(table) {
			if math.Abs(got-want[p]) > 1e-9*want[p] {
				t.Errorf("%s: distance %d is %v: want %v", name, p, got, want[p])
			}
		}
	}
	if shared := try(mustlink.FromMatrix(m)).Data().Points; !sharing(shared, m) {
		t.Error("a matrix without gaps is copied")
	}
	new1 := try(mustlink.FromGram(gram.Slice(0, 2, 0, n), []float64{gram.At(0, 0), gram.At(1, 1)}))
	model := try(mustlink.Fit(ctx, try(mustlink.FromGram(&gram, nil)), pairs))
	if y := try(model.Embed(ctx, new1)); y.RawMatrix().Rows != 2 {
		t.Errorf("%d rows of 2 new ones", y.RawMatrix().Rows)
	}
}

// sharing reports whether points share the memory of a matrix.
func sharing(x any, m *mat.Dense) bool {
	dense, ok := x.(interface{ Row(int) []float64 })
	return ok && &dense.Row(0)[0] == &m.RawMatrix().Data[0]
}

// TestNeighborsAndClasses: neighbors are those of brute force over all distances in the embedding,
// and labels are those of their votes.
func TestNeighborsAndClasses(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 50)
	m := try(mustlink.Fit(ctx, table, pairs))
	y := try(m.Embed(ctx, table))
	near := try(m.Neighbors(ctx, table, table, 4))
	for i, list := range near {
		var all []float64
		for j := range table.Rows() {
			all = append(all, floatsDistance(y.RawRowView(i), y.RawRowView(j)))
		}
		slices.Sort(all)
		for r, nb := range list {
			if d := floatsDistance(y.RawRowView(i),
				y.RawRowView(nb.Row)); math.Abs(nb.Distance-all[r]) > 1e-12*(1+all[r]) ||
				math.Abs(d-nb.Distance) > 1e-12*(1+d) {
				t.Fatalf("neighbor %d of row %d is row %d at %v: want one at %v", r, i, nb.Row, nb.Distance,
					all[r])
			}
		}
	}
	labels := try(m.Classify(ctx, table, table, 1))
	if !slices.Equal(labels, table.Labels()) {
		t.Error("a row is its own nearest neighbor, and has another label")
	}
}

func floatsDistance(a, b []float64) float64 {
	sum := 0.0
	for j := range a {
		sum += (a[j] - b[j]) * (a[j] - b[j])
	}
	return math.Sqrt(sum)
}

// TestCluster: constrained clusters satisfy the links, and those of k-means need not; the same seed
// gives the same labels.
func TestCluster(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 60)
	m := try(mustlink.Fit(ctx, table, pairs, mustlink.Method("rca"), mustlink.Param("dims", "1")))
	free := try(m.Cluster(ctx, table, 2, mustlink.Seed(5)))
	if again := try(m.Cluster(ctx, table, 2, mustlink.Seed(5))); !slices.Equal(free.Labels, again.Labels) {
		t.Error("the same seed gives other labels")
	}
	held := try(m.Cluster(ctx, table, 2, mustlink.Constrained(pairs)))
	for _, l := range pairs.Must() {
		if held.Labels[l.I] != held.Labels[l.J] {
			t.Errorf("must-link %d-%d is violated", l.I, l.J)
		}
	}
	for _, l := range pairs.Cannot() {
		if held.Labels[l.I] == held.Labels[l.J] {
			t.Errorf("cannot-link %d-%d is violated", l.I, l.J)
		}
	}
	if held.Inertia < free.Inertia*(1-1e-12) {
		t.Errorf("inertia %v with constraints, %v without", held.Inertia, free.Inertia)
	}
}

// TestEmptyClusters: with more clusters than rows differ some are empty, and a notice says how many
// there can be.
func TestEmptyClusters(t *testing.T) {
	table := try(mustlink.FromRows([][]float64{{1, 2}, {3, 5}, {1, 2}, {3, 5}, {1, 2}, {0, 0}}))
	m := try(mustlink.Fit(t.Context(), table, nil, mustlink.Method("raw")))
	for k := 1; k < 7; k++ {
		notices := try(m.Cluster(t.Context(), table, k)).Notices
		if k <= 3 && len(notices) > 0 || k > 3 &&
			(len(notices) != 1 || !strings.Contains(notices[0], "at most 3 clusters")) {
			t.Errorf("%d clusters of 3 different rows: notices %q", k, notices)
		}
	}
}

// TestLastOption: of two values of a parameter, and of two lists of triplets, the last one counts.
func TestLastOption(t *testing.T) {
	table, pairs := problem(t, 40)
	m := try(mustlink.Fit(t.Context(), table, pairs, mustlink.Method("rca"), mustlink.Param("dims", "2"),
		mustlink.Param("dims", "1")))
	if m.Dim() != 1 {
		t.Errorf("%d columns: want 1, the last value of dims", m.Dim())
	}
	list := []mustlink.Triplet{{I: 0, J: 1, K: 2}}
	try(mustlink.Fit(t.Context(), table, nil, mustlink.Method("itml"), mustlink.Triplets(nil),
		mustlink.Triplets(list)))
}

// TestChoice: the method depends on the input as Fit's documentation describes.
func TestChoice(t *testing.T) {
	ctx := t.Context()
	table, both := problem(t, 40)
	must := try(mustlink.NewLinks(40, [][2]int{{0, 1}, {2, 3}}, nil))
	cannot := try(mustlink.NewLinks(40, nil, [][2]int{{0, 1}, {2, 3}}))
	triplets := mustlink.Triplets([]mustlink.Triplet{{I: 0, J: 1, K: 2}, {I: 3, J: 4, K: 5}})
	targets := mustlink.Targets(catalogtest.Targets(40))
	for want, fit := range map[string]func() (*mustlink.Model, error){
		"blend": func() (*mustlink.Model, error) { return mustlink.Fit(ctx, table, both) },
		"krca":  func() (*mustlink.Model, error) { return mustlink.Fit(ctx, table, must) },
		"itml":  func() (*mustlink.Model, error) { return mustlink.Fit(ctx, table, cannot) },
		"mlkr":  func() (*mustlink.Model, error) { return mustlink.Fit(ctx, table, nil, targets) },
		"gml": func() (*mustlink.Model, error) {
			return mustlink.Fit(ctx, table, nil, triplets, mustlink.Method("gml"))
		},
	} {
		if m, err := fit(); err != nil || m.Describe().Method != want {
			t.Errorf("want %s: %v", want, err)
		}
	}
	if m, err := mustlink.Fit(ctx, table, nil, triplets); err != nil || m.Describe().Method != "itml" {
		t.Errorf("triplets: %v", err)
	}
}

// TestManyLinks: with more than 20,000 linked rows krca learns from parts of the links, unless it
// has parameters. The fits are canceled at their first report.
func TestManyLinks(t *testing.T) {
	const n = 20002
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, float64(i%97))
	}
	table := try(mustlink.FromMatrix(x))
	for _, c := range []struct {
		linked  int
		options []mustlink.Option
		stage   string
	}{
		{n, nil, "parts"}, {n, []mustlink.Option{mustlink.Param("dims", "3")}, "bandwidth"},
		{n - 2, nil, "bandwidth"},
	} {
		var must [][2]int
		for i := 0; i < c.linked; i += 2 {
			must = append(must, [2]int{i, i + 1})
		}
		ctx, cancel := context.WithCancel(t.Context())
		first := ""
		progress := mustlink.OnProgress(func(p mustlink.Progress) {
			if first == "" && p.Stage != "" {
				first = p.Stage
				cancel()
			}
		})
		options := append(c.options, mustlink.Method("krca"), mustlink.MemoryLimit(64<<30), progress)
		if _, err := mustlink.Fit(ctx, table, try(mustlink.NewLinks(n, must, nil)),
			options...); !errors.Is(err, context.Canceled) {
			t.Errorf("%d linked rows: error %v", c.linked, err)
		}
		if first != c.stage {
			t.Errorf("%d linked rows, %d options: the first stage is %q, want %q", c.linked, len(c.options),
				first, c.stage)
		}
	}
}

// TestUsing: a Params value has the same effect as the same values as text, and text overrides it.
func TestUsing(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 40)
	p := krca.DefaultParams()
	p.EpsRel, p.Dims = 0.1, 3
	want := try(try(mustlink.Fit(ctx, table, pairs, mustlink.Method("krca"), mustlink.Param("eps_rel", "0.1"),
		mustlink.Param("dims", "2"))).Embed(ctx, table))
	equal(t, "Using", try(try(mustlink.Fit(ctx, table, pairs, mustlink.Using(p),
		mustlink.Param("dims", "2"))).Embed(ctx, table)), want)
}

// TestUpdate: a model that learns links later equals, within its tolerance, the model of all links;
// krca can remove updates.
func TestUpdate(t *testing.T) {
	ctx := t.Context()
	table, _ := problem(t, 60)
	first := try(table.SampleLinks(10, 10, 1))
	more := try(table.SampleLinks(10, 10, 2))
	m := try(mustlink.Fit(ctx, table, first, mustlink.Method("itml"), mustlink.Param("tol", "1e-9"),
		mustlink.Param("max_iter", "20000")))
	updated := try(m.Update(ctx, table, more))
	if mat.Equal(try(m.Embed(ctx, table)), try(updated.Embed(ctx, table))) {
		t.Error("an update with other links changes nothing")
	}
	if _, err := m.Update(ctx, nil, more); err == nil || m.Describe().Updating == "" {
		t.Errorf("itml, whose model has no rows, is updated without them, or %q: %v", m.Describe().Updating, err)
	}
	blend := try(mustlink.Fit(ctx, table, first))
	if !mat.Equal(try(try(blend.Update(ctx, table, more)).Embed(ctx, table)),
		try(try(blend.Update(ctx, nil, more)).Embed(ctx, table))) {
		t.Error("the rows of the fit and those that the model stores give two models")
	}
	k := try(mustlink.Fit(ctx, table, first, mustlink.Method("krca")))
	fresh, _ := problem(t, 8)
	grown := try(k.Extend(ctx, fresh, []mustlink.Chunklet{{ID: mustlink.NewChunklet, Rows: []int{0, 1, 2}}}))
	back := try(grown.DropLast(ctx, 1))
	if d := try(k.Distances(ctx, table, [][2]int{{0, 1}})); !slices.Equal(d,
		try(back.Distances(ctx, table, [][2]int{{0, 1}}))) {
		t.Error("an update that is taken back leaves a trace")
	}
	if _, err := try(mustlink.Fit(ctx, table, first, mustlink.Method("rca"))).Update(ctx, table,
		more); err == nil {
		t.Error("a model of rca takes an update")
	}
}

// TestRawWithoutLinks: the method raw needs no links, and its model has the prepared rows as
// coordinates, bit for bit.
func TestRawWithoutLinks(t *testing.T) {
	table, _ := problem(t, 40)
	m := try(mustlink.Fit(t.Context(), table, nil, mustlink.Method("raw"), mustlink.Standardize()))
	prepared := try(table.Standardize()).Data().Points.(*points.Dense)
	equal(t, "coordinates", try(m.Embed(t.Context(), table)), mat.NewDense(prepared.N, prepared.D,
		prepared.Data))
}

// TestDefaultOfEmbeddings: rows of unit length with a label each are taken for embeddings and get
// adapt, by a verdict too; whole numbers, other lengths, another kernel and a method that was named
// do not. What it learns from ranks new rows of new classes better than the rows do.
func TestDefaultOfEmbeddings(t *testing.T) {
	const n, d, classes = 400, 40, 20
	rng := rand.New(rand.NewPCG(5, 2))
	centers, rows := make([][]float64, classes), make([][]float64, n)
	for k := range centers {
		centers[k] = make([]float64, d)
		for j := range d / 2 { // the other half is noise, as the must-links show
			centers[k][j] = rng.NormFloat64()
		}
	}
	length := func(row []float64) float64 {
		sum := 0.0
		for _, v := range row {
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	labels, whole, long := make([]string, n), make([][]float64, n), make([][]float64, n)
	for i := range rows {
		labels[i] = strconv.Itoa(i % classes)
		row := make([]float64, d)
		for j := range row {
			row[j] = centers[i%classes][j] + float64(1+j/(d/2))*rng.NormFloat64()
		}
		unit := 1 / length(row)
		for j := range row {
			long[i] = append(long[i], row[j])
			whole[i] = append(whole[i], math.Round(1000*unit*row[j]))
			row[j] *= unit
		}
		rows[i] = row
	}
	// links among the first half of the rows and of the classes
	var must, cannot [][2]int
	for i := range n / 2 {
		j := i + classes
		if i%classes < classes/2 && j < n/2 {
			must, cannot = append(must, [2]int{i, j}), append(cannot, [2]int{i, (i + 1) % (n / 2)})
		}
	}
	for _, c := range racetest.Part([]struct {
		name    string
		rows    [][]float64
		options []mustlink.Option
		want    string
	}{
		{"embeddings", rows, nil, "adapt"},
		{"with a verdict", rows, []mustlink.Option{mustlink.HoldOut(1)}, "adapt"},
		{"whole numbers", whole, nil, "blend"},
		{"other lengths", long, nil, "blend"},
		{"a kernel", rows, []mustlink.Option{mustlink.Kernel("linear")}, "blend"},
		{"standardized", rows, []mustlink.Option{mustlink.Standardize()}, "blend"},
		{"named", rows, []mustlink.Option{mustlink.Method("itml")}, "itml"},
		{"whole numbers, asked", whole, []mustlink.Option{mustlink.Embeddings()}, "adapt"},
		{"other lengths, asked", long, []mustlink.Option{mustlink.Embeddings()}, "adapt"},
		{"named, asked", rows, []mustlink.Option{mustlink.Embeddings(), mustlink.Method("rca")}, "rca"},
	}) {
		table := try(mustlink.FromRows(c.rows))
		m := try(mustlink.Fit(t.Context(), table, try(mustlink.NewLinks(n, must, cannot)), c.options...))
		if got := m.Describe(); got.Method != c.want {
			t.Errorf("%s: the method is %s since %q, want %s", c.name, got.Method, got.Chosen, c.want)
		}
		if c.want != "adapt" {
			continue
		}
		if notices := m.Describe().Notices; len(notices) > 0 { // such as of cannot-links, which judge it
			t.Errorf("%s: notices %q", c.name, notices)
		}
		auc := func(m *mustlink.Model) float64 {
			var pairs [][2]int
			var same []bool
			for i := n / 2; i < n; i++ {
				for j := i + 1; j < n; j++ {
					if i%classes >= classes/2 && j%classes >= classes/2 {
						pairs, same = append(pairs, [2]int{i, j}), append(same, labels[i] == labels[j])
					}
				}
			}
			scores := try(m.Distances(t.Context(), table, pairs))
			for k := range scores {
				scores[k] = -scores[k]
			}
			return try(score.AUC(scores, same))
		}
		raw := try(mustlink.Fit(t.Context(), table, nil, mustlink.Method("raw")))
		if got, was := auc(m), auc(raw); got < was+.03 {
			t.Errorf("%s: AUC %.3f of pairs of new classes, raw %.3f", c.name, got, was)
		}
	}
}

// TestEmbeddingsAreNumbers: tables with texts, prepared ones, and other preparations are no
// embeddings, and the error says why.
func TestEmbeddingsAreNumbers(t *testing.T) {
	numbers, pairs := problem(t, 6)
	mixed := try(mustlink.FromColumns(map[string]any{"a": []float64{1, 2, 3, 4, 5, 6},
		"b": []string{"x", "y", "x", "z", "y", "x"}}))
	for want, c := range map[string]struct {
		table  *mustlink.Table
		option mustlink.Option
	}{
		`column "b": it has texts`: {mixed, mustlink.Embeddings()},
		"a second one":             {try(numbers.Standardize()), mustlink.Embeddings()},
		"no other preparation":     {numbers, mustlink.TFIDF()},
	} {
		_, err := mustlink.Fit(t.Context(), c.table, pairs, mustlink.Embeddings(), c.option)
		if !fault.IsInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestChosen: a choice that was made before gives the model of the fit that chooses itself, with
// the reason.
func TestChosen(t *testing.T) {
	table, pairs := problem(t, 40)
	choice := try(catalog.Choose(pairs, algorithms.Lesson{}))
	want := try(mustlink.Fit(t.Context(), table, pairs))
	got := try(mustlink.Fit(t.Context(), table, pairs, mustlink.Chosen(choice)))
	if a, b := got.Describe(), want.Describe(); a.Method != b.Method || a.Chosen != b.Chosen ||
		a.Chosen == "" {
		t.Errorf("%s since %q: want %s since %q", a.Method, a.Chosen, b.Method, b.Chosen)
	}
	equal(t, "coordinates", try(got.Embed(t.Context(), table)), try(want.Embed(t.Context(), table)))
}
