package prepare_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/propertytest"
)

var nan = math.NaN()

// words returns a column of texts, "" for a missing cell.
func words(name string, cells ...string) points.Column {
	c := points.Column{Name: name, Codes: []int32{}, Levels: []string{}}
	for _, cell := range cells {
		code := slices.Index(c.Levels, cell)
		if cell != "" && code < 0 {
			code = len(c.Levels)
			c.Levels = append(c.Levels, cell)
		}
		c.Codes = append(c.Codes, int32(code))
	}
	return c
}

func values(name string, cells ...float64) points.Column {
	return points.Column{Name: name, Numbers: cells}
}

// mixed returns a table.
func mixed(columns ...points.Column) *points.Mixed {
	return &points.Mixed{N: max(len(columns[0].Codes), len(columns[0].Numbers)), Columns: columns}
}

// fit fits a preparation, which must be one.
func fit(t rapid.TB, x points.Points, o prepare.Options) (*prepare.Preparation, []prepare.Column) {
	t.Helper()
	got, columns, err := prepare.Fit(&dataset.Data{Points: x, Name: "t.csv"}, o)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := got.(*prepare.Preparation)
	if !ok {
		t.Fatalf("the transform is a %T: want a preparation; columns %+v", got, columns)
	}
	return p, columns
}

// chosen returns the columns of x that p takes, in its order.
func chosen(x *points.Mixed, p *prepare.Preparation) *points.Mixed {
	out := &points.Mixed{N: x.N}
	for _, name := range p.Columns() {
		k := slices.IndexFunc(x.Columns, func(c points.Column) bool { return c.Name == name })
		out.Columns = append(out.Columns, x.Columns[k])
	}
	return out
}

func apply(t rapid.TB, p *prepare.Preparation, x points.Points) *points.Dense {
	t.Helper()
	out, err := p.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Outputs()) != out.Dim() {
		t.Fatalf("%d names for %d columns", len(p.Outputs()), out.Dim())
	}
	return out.(*points.Dense)
}

// again returns the preparation of a model file that was written and read.
func again(t rapid.TB, p *prepare.Preparation) *prepare.Preparation {
	t.Helper()
	f := &model.File{Header: model.Header{Method: "rca"}}
	p.Encode(f)
	var file bytes.Buffer
	if _, err := f.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	read, err := model.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	out, err := prepare.Decode(read)
	if err != nil {
		t.Fatal(err)
	}
	return prepare.ByColumn(out)
}

func customers() *points.Mixed {
	return mixed(
		words("name", "Smith, John", "Doe, Jane", "Smith, John", "Roe, Ann", "Poe, Edgar", "Doe, Jane"),
		values("age", 30, nan, 50, 41, 28, nan),
		words("plan", "basic", "gold", "", "basic", "gold", "basic"),
		words("active", "Yes", "no", "yes", "NO", "", "yes"),
		words("joined", "2024-01-01", "2024-01-03", "2024-02-29", "", "2023-12-31", "2024-01-01"),
		values("always", 1, 1, 1, 1, 1, 1),
		values("customer_id", 7, 3, 9, 12, 1, 4),
	)
}

func TestCustomers(t *testing.T) {
	x := customers()
	p, columns := fit(t, x, prepare.Options{Scale: "none", Indicators: true})
	want := []string{
		"name=Doe, Jane", "name=Poe, Edgar", "name=Roe, Ann", "name=Smith, John", "age", "age=(missing)",
		"plan=basic", "plan=gold", "plan=(missing)", "active", "active=(missing)", "joined",
		"joined=(missing)",
	}
	if got := p.Outputs(); !slices.Equal(got, want) {
		t.Errorf("columns %q: want %q", got, want)
	}
	out := apply(t, p, chosen(x, p))
	for i, want := range [][]float64{
		{0, 0, 0, 1, 30, 0, 1, 0, 0, 1, 0, 19723, 0},
		{1, 0, 0, 0, 35.5, 1, 0, 1, 0, 0, 0, 19725, 0},
		{0, 0, 0, 1, 50, 0, 0, 0, 1, 1, 0, 19782, 0},
		{0, 0, 1, 0, 41, 0, 1, 0, 0, 0, 0, 19723, 1},
		{0, 1, 0, 0, 28, 0, 0, 1, 0, 1, 1, 19722, 0},
		{1, 0, 0, 0, 35.5, 1, 1, 0, 0, 1, 0, 19723, 0},
	} {
		if !slices.Equal(out.Row(i), want) {
			t.Errorf("row %d is %v: want %v", i, out.Row(i), want)
		}
	}
	for j, kind := range []prepare.Kind{prepare.Category, prepare.Number, prepare.Category, prepare.Boolean,
		prepare.Date, prepare.Constant, prepare.Identifier} {
		if columns[j].Kind != kind {
			t.Errorf("column %+v: want kind %s", columns[j], kind)
		}
	}
	if c := columns[1]; c.Missing != 2 || c.Distinct != 4 || c.Low != 28 || c.High != 50 ||
		c.Example != "30" || c.Outputs != 2 || !strings.HasPrefix(c.Does, "2 missing: median 35.5") {
		t.Errorf("column %+v", c)
	}
	if got := columns[4].Range(); got != "2023-12-31 to 2024-02-29" {
		t.Errorf("range %q", got)
	}
	same := apply(t, again(t, p), chosen(x, p))
	if !slices.Equal(same.Data, out.Data) {
		t.Error("a preparation from a file makes other numbers")
	}
}

// TestProperties: rows of zeros and ones sum to 1, numbers have mean 0 and standard deviation 1,
// parts of the rows are those of the whole, in any order of the rows, for any number of processors,
// and from a file.
func TestProperties(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(2, 400).Draw(t, "n")
		x := randomTable(r, n)
		o := prepare.Options{
			Impute: rapid.SampledFrom([]string{"", "mean", "most-frequent", "constant=2.5", "sides"}).Draw(t,
				"impute"), Scale: "standardize",
			Indicators: rapid.Bool().Draw(t, "indicators"), Levels: rapid.IntRange(2, 12).Draw(t, "levels"),
			Cyclic: rapid.Bool().Draw(t, "cyclic"),
			Text:   rapid.SampledFrom([]string{"", "words", "letters:3"}).Draw(t, "text"),
			Kinds:  map[string]prepare.Kind{"code*": prepare.Category, "note": prepare.Text},
		}
		p, _ := fit(t, x, o)
		table := x
		x = chosen(table, p)
		whole := apply(t, p, x)
		for j, name := range p.Outputs() {
			if o.Impute != "sides" && (name == "size" || name == "price" || name == "day") {
				checkStandard(t, whole, j, name)
			}
		}
		for _, name := range []string{"plan", "code"} {
			checkOneHot(t, p, whole, name)
		}
		lo := rapid.IntRange(0, n).Draw(t, "lo")
		hi := rapid.IntRange(lo, n).Draw(t, "hi")
		part := apply(t, p, points.Slice(x, lo, hi))
		if !slices.Equal(part.Data, whole.Data[lo*whole.D:hi*whole.D]) {
			t.Error("a part of the rows has other numbers")
		}
		order := r.Perm(n)
		q, _ := fit(t, table.Select(order), o)
		if !slices.Equal(q.Outputs(), p.Outputs()) {
			t.Fatalf("other columns in another order of rows: %q and %q", q.Outputs(), p.Outputs())
		}
		other := apply(t, q, x.Select(order))
		for i, row := range order {
			for j, v := range other.Row(i) {
				if want := whole.Row(row)[j]; math.Abs(v-want) > 1e-12 {
					t.Fatalf("row %d, column %d: %v in another order, else %v", row, j, v, want)
				}
			}
		}
		if !slices.Equal(apply(t, again(t, p), x).Data, whole.Data) {
			t.Error("other numbers from a file")
		}
		if n := len(p.Unknown(x)); n != 0 {
			t.Errorf("%d columns have texts that the fit did not have", n)
		}
	})
}

// TestSides: a column with gaps becomes two, in which gaps lie below and above all values and
// everything else is the same; one without gaps stays one.
func TestSides(t *testing.T) {
	x := randomTable(rand.New(rand.NewPCG(8, 8)), 80)
	filled := make([]float64, 80)
	for i := range filled {
		filled[i] = float64(i * i)
	}
	x.Columns = append(x.Columns, points.Column{Name: "whole", Numbers: filled})
	for _, scale := range []string{"none", "standardize", "robust"} {
		p, _ := fit(t, x, prepare.Options{Impute: "sides", Scale: scale})
		x := chosen(x, p)
		out, names := apply(t, again(t, p), x), p.Outputs()
		if slices.Contains(names, "whole (missing) above") {
			t.Errorf("%q: a column without gaps became two", names)
		}
		found := 0
		for k, name := range names {
			base, is := strings.CutSuffix(name, " (missing) above")
			if !is {
				continue
			}
			found++
			c := x.Columns[slices.IndexFunc(x.Columns, func(c points.Column) bool { return c.Name == base })]
			low, high, missing := math.Inf(1), math.Inf(-1), 0
			for i := range out.N {
				if v := out.Row(i)[k]; !isGap(c, i) {
					low, high = min(low, v), max(high, v)
					if v != out.Row(i)[k-1] {
						t.Errorf("%s, %s: row %d has %v and %v", scale, name, i, out.Row(i)[k-1], v)
					}
				}
			}
			for i := range out.N {
				if isGap(c, i) {
					missing++
					if below, above := out.Row(i)[k-1], out.Row(i)[k]; !(below < low) || !(above > high) {
						t.Errorf("%s, %s: a gap is %v and %v: want below %v and above %v", scale, name, below,
							above, low, high)
					}
				}
			}
			if missing == 0 {
				t.Errorf("%s, %s: no gap", scale, name)
			}
		}
		if found < 3 {
			t.Errorf("%s: %d columns with gaps became two: want numbers, dates and booleans", scale, found)
		}
	}
}

func isGap(c points.Column, i int) bool {
	if c.IsText() {
		return c.Codes[i] < 0 || c.Levels[c.Codes[i]] == ""
	}
	return math.IsNaN(c.Numbers[i])
}

// randomTable returns a table with columns of every kind.
func randomTable(r *rand.Rand, n int) *points.Mixed {
	cell := func(text string) string {
		if r.IntN(10) == 0 {
			return ""
		}
		return text
	}
	var plan, day, note, active []string
	var size, price, code []float64
	for i := range n {
		plan = append(plan, cell("p"+strconv.Itoa(int(math.Abs(r.NormFloat64())*5))))
		day = append(day, cell("2024-"+strconv.Itoa(1+r.IntN(12))+"-"+strconv.Itoa(1+r.IntN(28))))
		note = append(note, cell("the item "+strconv.Itoa(r.IntN(n))+" is good "+strconv.Itoa(i)))
		active = append(active, cell([]string{"yes", "no"}[r.IntN(2)]))
		size = append(size, float64(r.IntN(1000))+1e6)
		price = append(price, math.Exp(3*r.NormFloat64()))
		code = append(code, float64(r.IntN(20)))
		if r.IntN(8) == 0 {
			size[i] = nan
		}
	}
	size[0], price[0], day[0] = 3, -5, "2023-1-1"
	size[1], day[1] = 8, "2023-1-31"
	return mixed(words("plan", plan...), words("day", day...), words("note", note...),
		words("active", active...),
		values("size", size...), values("price", price...), values("code", code...))
}

func checkStandard(t *rapid.T, x *points.Dense, j int, name string) {
	sum, squares := 0.0, 0.0
	for i := range x.N {
		sum += x.Row(i)[j]
		squares += x.Row(i)[j] * x.Row(i)[j]
	}
	n := float64(x.N)
	if math.Abs(sum/n) > 1e-12 || math.Abs(squares/n-1) > 1e-12 {
		t.Errorf("column %s has mean %g and variance %g", name, sum/n, squares/n)
	}
}

func checkOneHot(t *rapid.T, p *prepare.Preparation, x *points.Dense, name string) {
	for i := range x.N {
		sum := 0.0
		for j, output := range p.Outputs() {
			if strings.HasPrefix(output, name+"=") {
				sum += x.Row(i)[j]
			}
		}
		if sum != 1 {
			t.Fatalf("the columns of %s of row %d sum to %v", name, i, sum)
		}
	}
}

// TestProcessors: the result is bit-identical for any number of processors.
func TestProcessors(t *testing.T) {
	x := randomTable(rand.New(rand.NewPCG(2, 2)), 5000)
	o := prepare.Options{Text: "words", Kinds: map[string]prepare.Kind{"note": prepare.Text}}
	var first []float64
	for _, workers := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(workers)
		p, _ := fit(t, x, o)
		out := apply(t, p, chosen(x, p))
		runtime.GOMAXPROCS(old)
		if first == nil {
			first = out.Data
		} else if !slices.Equal(first, out.Data) {
			t.Errorf("%d processors have other numbers than 1", workers)
		}
	}
}

// TestScaling: dense numbers are standardized bit by bit as prepare.Standardize does, and numbers
// that share a unit stay.
func TestScaling(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	x := &points.Dense{N: 300, D: 20, Data: make([]float64, 300*20)}
	for k := range x.Data {
		x.Data[k] = r.NormFloat64() * math.Pow(10, float64(k%20)/4)
		if k%20 == 7 {
			x.Data[k] = 0.1
		}
	}
	got, columns, err := prepare.Fit(&dataset.Data{Points: x}, prepare.Options{})
	want, _, _ := prepare.Standardize(x)
	s, ok := got.(*prepare.Scaling)
	if err != nil || !ok || !slices.Equal(s.Mean, want.Mean) || !slices.Equal(s.Scale, want.Scale) {
		t.Errorf("scaling %v, error %v: want that of Standardize", got, err)
	}
	if columns[7].Kind != prepare.Constant || columns[7].Does != "constant" ||
		columns[3].Does != "standardized" {
		t.Errorf("columns %+v", columns)
	}
	for k := range x.Data {
		x.Data[k] = float64(r.IntN(256))
	}
	if got, _, err = prepare.Fit(&dataset.Data{Points: x}, prepare.Options{}); got != nil || err != nil {
		t.Errorf("transform %v, error %v for pixels: want none", got, err)
	}
	if got, _, err = prepare.Fit(&dataset.Data{Points: &points.CSR{N: 1, D: 1, Start: []int{0, 0}}},
		prepare.Options{}); got != nil || err != nil {
		t.Errorf("transform %v, error %v for sparse rows: want none", got, err)
	}
}

// TestRowNumbers: a column that counts the rows up or down is left out if its name says so, or if
// many rows have it; another order of the same numbers is only warned of.
func TestRowNumbers(t *testing.T) {
	const n = 200
	r := rand.New(rand.NewPCG(8, 8))
	up, down, gap, mixedUp, any := make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n), make([]float64, n)
	for i, k := range r.Perm(n) {
		up[i], down[i], gap[i], mixedUp[i] = float64(5+i), float64(900-i), float64(2*i), float64(k)
		any[i] = r.NormFloat64()
	}
	_, columns := fit(t, mixed(values("up", up...), values("down", down...), values("gap", gap...),
		values("order", mixedUp...), values("any", any...)), prepare.Options{})
	for k, want := range []bool{true, true, false, false, false} {
		c := columns[k]
		if got := c.Kind == prepare.Identifier; got != want || want && c.Does != "left out: row numbers" ||
			(k == 2 || k == 3) && c.Warning == "" {
			t.Errorf("column %+v: an identifier is %v", c, want)
		}
	}
}

// TestConstantsOnly: a table in which nothing varies has no scale.
func TestConstantsOnly(t *testing.T) {
	for _, x := range []points.Points{mixed(values("a", 2, 2, 2), values("b", 0, 0, 0)),
		&points.Dense{N: 3, D: 2, Data: []float64{2, 0, 2, 0, 2, 0}}} {
		_, columns, err := prepare.Fit(&dataset.Data{Points: x, Name: "t.csv"}, prepare.Options{})
		if err != nil && !fault.IsInput(err) {
			t.Errorf("error %v: want none, or one of the input", err)
		}
		for _, c := range columns {
			if c.Kind != prepare.Constant {
				t.Errorf("column %+v: want a constant", c)
			}
		}
	}
}

// TestOneNumber: one column of numbers has no other whose unit it could share, and is scaled.
func TestOneNumber(t *testing.T) {
	_, columns := fit(t, mixed(values("a", 2, 9, 4)), prepare.Options{})
	if !strings.HasSuffix(columns[0].Does, "standardized") {
		t.Errorf("column %+v: want it standardized", columns[0])
	}
}

// TestKindsByNameAndPattern: a name goes before a pattern, a longer pattern before a shorter one.
func TestKindsByNameAndPattern(t *testing.T) {
	x := mixed(values("age", 1, 2, 5), values("area", 3, 1, 2), values("b", 4, 9, 1))
	_, columns := fit(t, x, prepare.Options{Kinds: map[string]prepare.Kind{"age": prepare.Category,
		"a*": prepare.Number, "*": prepare.Drop, "ar*": prepare.Category}})
	for k, want := range []prepare.Kind{prepare.Category, prepare.Category, prepare.Drop} {
		if columns[k].Kind != want {
			t.Errorf("column %s is %s: want %s", columns[k].Name, columns[k].Kind, want)
		}
	}
}

// TestUnknown: texts that the fit did not have go to the pool, or become zeros, and are counted.
func TestUnknown(t *testing.T) {
	x := mixed(words("a", "x", "y", "y", "z", "z"), words("b", "p", "q", "q", "r", "r"),
		words("c", "yes", "no", "no", "no", "no"), values("n", 1, 2, 3, 5, 9))
	p, _ := fit(t, x, prepare.Options{Levels: 3, Kinds: map[string]prepare.Kind{"b": prepare.Category}})
	q, _ := fit(t, x, prepare.Options{})
	fresh := mixed(words("a", "w", "x", ""), words("b", "p", "new", "q"), words("c", "maybe", "YES", ""),
		words("n", "3", " 4e0", ""))
	if got := p.Unknown(fresh); len(got) != 3 || got["a"] != 2 || got["b"] != 1 || got["c"] != 1 {
		t.Errorf("unknown %v", got)
	}
	out := apply(t, p, fresh)
	if got := p.Outputs()[:6]; !slices.Equal(got,
		[]string{"a=y", "a=z", "a=(other)", "b=q", "b=r", "b=(other)"}) {
		t.Fatalf("columns %q", got)
	}
	for i, want := range [][]float64{{0, 0, 1, 0, 0, 1, 0}, {0, 0, 1, 0, 0, 1, 1}, {0, 0, 1, 1, 0, 0, 0}} {
		if got := out.Row(i)[:7]; !slices.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	out = apply(t, q, fresh)
	for i, want := range [][]float64{{0, 0, 0, 1, 0, 0}, {1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 1, 0}} {
		if got := out.Row(i)[:6]; !slices.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	if a, b := out.Row(0)[7], out.Row(2)[7]; a != b { // 3 is the median
		t.Errorf("a gap is %v, and the median %v", b, a)
	}
}

// TestDates: the format is found from all texts. A column of midnights may come without the time of
// day, and the other way round; another format of days is an error.
func TestDatesWithAndWithoutClock(t *testing.T) {
	for _, c := range []struct {
		fitted, texts string
		days          float64 // of the first of texts
	}{
		{"2024-01-01|2024-02-10", "2024-02-10 12:00:00|2024-02-11", 19763.5},
		{"2024-01-01 06:00:00|2024-02-10 12:00:00", "2024-02-10|2024-02-11", 19763},
		{"2024-01-01T06:00|2024-02-10T12:00", "2024-02-10|2024-02-11 12:00", 19763},
		{"13.1.2024|10.2.2024", "10.2.2024 18:00|11.2.2024", 19763.75},
	} {
		p, _ := fit(t, mixed(words("d", strings.Split(c.fitted, "|")...)),
			prepare.Options{Scale: "none", Cyclic: true})
		if got := apply(t, p, mixed(words("d", strings.Split(c.texts, "|")...))).Data[0]; got != c.days {
			t.Errorf("%s for %s: %v days, want %v", c.texts, c.fitted, got, c.days)
		}
		if _, err := p.Apply(mixed(words("d", "2024/02/10 12:00:00", "2024/02/11"))); err == nil {
			t.Errorf("%s: another format was accepted", c.fitted)
		}
	}
}

// A reader that is reported to take a column as texts leaves words such as NA in it. They are gaps,
// unless the fit had them as texts.
func TestWordsForGaps(t *testing.T) {
	table := func(gap string) *points.Mixed {
		return mixed(words("day", "2024-01-01", gap, "2024-02-10"), words("plan", "a", "b", gap),
			words("on", gap, "yes", "no"))
	}
	p, _ := fit(t, table(""), prepare.Options{})
	want := apply(t, p, table(""))
	for _, gap := range []string{"NA", " n/a", "NULL", "?"} {
		if got := apply(t, p, table(gap)); !slices.Equal(got.Data, want.Data) ||
			len(p.Unknown(table(gap))) > 0 {
			t.Errorf("%q: rows %v, want %v", gap, got.Data, want.Data)
		}
	}
	namibia := mixed(words("country", "NA", "DE", "NA", "FR"))
	q, _ := fit(t, namibia, prepare.Options{Kinds: map[string]prepare.Kind{"country": prepare.Category}})
	if got := apply(t, q, namibia); got.D != 3 || got.Data[2] != 1 {
		t.Errorf("columns %q, rows %v: want one for NA", q.Outputs(), got.Data)
	}
	rare := mixed(words("plan", "NA", "a", "a", "a", "", "", "b"))
	r, _ := fit(t, rare, prepare.Options{Levels: 3, Kinds: map[string]prepare.Kind{"plan": prepare.Category}})
	if got := apply(t, r, rare); !slices.Equal(r.Outputs(),
		[]string{"plan=a", "plan=(missing)", "plan=(other)"}) || got.Row(0)[2] != 1 || got.Row(4)[1] != 1 {
		t.Errorf("columns %q, rows %v: want NA among the rarer texts", r.Outputs(), got.Data)
	}
	if gaps := r.Rules(nil).Columns[0].Gaps; slices.Contains(gaps, "NA") || !slices.Contains(gaps, "null") {
		t.Errorf("gaps %q: want those of no row of the fit", gaps)
	}
}

// White space around texts does not count, wherever they come from.
func TestSpacedTexts(t *testing.T) {
	p, _ := fit(t, mixed(words("plan", "a", " a", "b ", "b", "\u00a0", ""),
		words("on", "no", " Yes", "NO ", "yes", "", "no")), prepare.Options{Indicators: true})
	if got := p.Outputs(); !slices.Equal(got,
		[]string{"plan=a", "plan=b", "plan=(missing)", "on", "on=(missing)"}) {
		t.Fatalf("columns %q", got)
	}
	want := apply(t, p, mixed(words("plan", "a", "b", "", "b"), words("on", "no", "yes", "", "")))
	got := apply(t, p, mixed(words("plan", "\ta ", "b\n", " ", " b"),
		words("on", " no", "YES ", "maybe", " ")))
	if !slices.Equal(got.Data, want.Data) {
		t.Errorf("rows %v with white space, %v without", got.Data, want.Data)
	}
	strict, _ := fit(t, mixed(words("on", "no", "yes")), prepare.Options{Impute: "error"})
	if _, err := strict.Apply(mixed(words("on", "yes", "maybe"))); err == nil ||
		!strings.Contains(err.Error(), `"maybe" is none of the two texts`) {
		t.Errorf("error %v: want one that names the text", err)
	}
}

// Columns without names are taken by their place, also those that are left out.
func TestWithoutNames(t *testing.T) {
	x := mixed(words("", "a", "b", "a"), words("", "same", "same", "same"), values("", 1, 2, 4))
	p, columns := fit(t, x, prepare.Options{})
	if p.Columns() != nil || p.Features() != 3 || columns[2].Name != "2" {
		t.Errorf("columns %q of %d, the last %q", p.Columns(), p.Features(), columns[2].Name)
	}
	if got := apply(t, p, x); got.D != 3 {
		t.Errorf("%d columns: want 3", got.D)
	}
}

func TestDates(t *testing.T) {
	for _, c := range []struct {
		texts string
		days  float64 // of the second
		warns bool
	}{
		{"2024-01-01|2024-02-10", 19763, false},
		{"2024-01-01 06:00|2024-02-10 12:00", 19763.5, false},
		{"2024-01-01T06:00:00Z|2024-02-10T12:00:00+12:00", 19763, false},
		{"2024-01-01 06:00:00.25|2024-02-10 18:00:00", 19763.75, false},
		{"01.02.2024|10.2.2024", 19763, false},
		{"2024/01/01|2024/02/10", 19763, false},
		{"01/02/2024|10/02/2024|13/02/2024", 19763, false},
		{"01/02/2024|02/10/2024|02/13/2024", 19763, false},
		{"01/02/2024|02/10/2024", 19763, true},
		{"1 Jan 2024|10 Feb 2024", 19763, false},
		{"Jan 1, 2024 3:04 PM|Feb 10, 2024 6:00 AM", 19763.25, false},
		{"06:00|18:00", .75, false},
		{"2023-12|2024-02", 19754, false},
	} {
		p, columns := fit(t, mixed(words("d", strings.Split(c.texts, "|")...)),
			prepare.Options{Scale: "none"})
		x := mixed(words("d", strings.Split(c.texts, "|")...))
		if got := apply(t, p, x).Data[1]; columns[0].Kind != prepare.Date || got != c.days ||
			c.warns != (columns[0].Warning != "") {
			t.Errorf("%s: %v days, column %+v: want %v", c.texts, got, columns[0], c.days)
		}
	}
}

// TestCycles: a week, a year and a day are circles.
func TestCycles(t *testing.T) {
	x := mixed(words("t", "2024-01-01 06:00", "2024-07-01 18:00", "", "2024-12-31 00:00"))
	p, _ := fit(t, x, prepare.Options{Scale: "none", Cyclic: true})
	out := apply(t, p, x)
	if len(p.Outputs()) != 7 || p.Outputs()[6] != "t hour sin" {
		t.Fatalf("columns %q", p.Outputs())
	}
	angle := func(i, k int) float64 { return math.Atan2(out.Row(i)[k+1], out.Row(i)[k]) }
	for _, c := range []struct{ got, want float64 }{
		{angle(0, 1), 0}, {angle(1, 1), 0}, {angle(3, 1), 2 * math.Pi / 7}, // Monday, Monday, Tuesday
		{angle(0, 3), 0}, {angle(1, 3), 2*math.Pi*182/366 - 0}, {angle(3, 3), -2 * math.Pi / 366},
		{angle(0, 5), math.Pi / 2}, {angle(1, 5), -math.Pi / 2}, {angle(3, 5), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("angle %v: want %v", c.got, c.want)
		}
	}
	if !slices.Equal(out.Row(2)[1:], make([]float64, 6)) {
		t.Errorf("a gap is %v: want zeros", out.Row(2))
	}
}

// TestRefused: mistakes are typed errors that name the place.
func TestRefused(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = "user" + strconv.Itoa(i)
	}
	for _, c := range []struct {
		name string
		x    *points.Mixed
		o    prepare.Options
		want string
	}{
		{"impute", mixed(values("a", 1, 2)), prepare.Options{Impute: "median="}, "impute is"},
		{"constant", mixed(values("a", 1, 2)), prepare.Options{Impute: "constant=NaN"}, "constant=V"},
		{"constant text", mixed(values("a", 1, 2)), prepare.Options{Impute: "constant=x"}, "constant=V"},
		{"scale", mixed(values("a", 1, 2)), prepare.Options{Scale: "standardise"}, `"standardize"`},
		{"levels", mixed(values("a", 1, 2)), prepare.Options{Levels: 1}, "levels is 1"},
		{"too many levels", mixed(values("a", 1, 2)), prepare.Options{Levels: 1e6}, "levels is 1000000"},
		{"text", mixed(values("a", 1, 2)), prepare.Options{Text: "word"}, `"words"`},
		{"letters", mixed(values("a", 1, 2)), prepare.Options{Text: "letters:0"}, "letters:K"},
		{"letters text", mixed(values("a", 1, 2)), prepare.Options{Text: "letters:x"}, "letters:K"},
		{"kind", mixed(values("a", 1, 2)),
			prepare.Options{Kinds: map[string]prepare.Kind{"a": "categorical"}},
			`want one of number, category`},
		{"column", mixed(values("income", 1, 2)),
			prepare.Options{Kinds: map[string]prepare.Kind{"incone": "number"}}, `"income"`},
		{"pattern", mixed(values("a", 1, 2)), prepare.Options{Kinds: map[string]prepare.Kind{"[": "number"}},
			"pattern"},
		{"pattern of none", mixed(values("a", 1, 2)),
			prepare.Options{Kinds: map[string]prepare.Kind{"b*": "number"}}, "b*"},
		{"no rows", &points.Mixed{Columns: []points.Column{values("a")}}, prepare.Options{},
			"number of rows is 0"},
		{"gap refused", mixed(values("a", 1, nan)), prepare.Options{Impute: "error"},
			`t.csv, row 1, column "a": the cell is empty`},
		{"gap in texts refused", mixed(words("a", "x", "")), prepare.Options{Impute: "error"},
			`row 1, column "a"`},
		{"nothing", mixed(values("a", 1, 1), values("b", nan, nan)), prepare.Options{},
			`"a": all cells are 1; "b": all cells are missing`},
		{"identifiers only", mixed(words("user", many...)), prepare.Options{},
			"texts that are all different"},
		{"dropped", mixed(values("a", 1, 2)), prepare.Options{Kinds: map[string]prepare.Kind{"*": "drop"}},
			"as asked"},
		{"format changes", mixed(words("d", "2024-01-01", "2024-01-02", "2024-01-03", "3.4.2024")),
			prepare.Options{}, `row 3, column "d": "3.4.2024" is not a date like 2024-12-31`},
		{"no date", mixed(words("d", "", "x", "y")),
			prepare.Options{Kinds: map[string]prepare.Kind{"d": "date"}},
			`row 1, column "d": "x" is not a date`},
		{"no number", mixed(words("d", "1", "2", "n.a.?")),
			prepare.Options{Kinds: map[string]prepare.Kind{"d": "number"}},
			`row 2, column "d": "n.a.?" is not a finite number`},
		{"three texts", mixed(words("d", "1", "2", "3")),
			prepare.Options{Kinds: map[string]prepare.Kind{"d": "boolean"}}, `3 different texts`},
		{"two of one name", mixed(values("a", 1, 2), values("a", 1, 3)), prepare.Options{},
			`column "a": two columns have this name`},
		{"too large", mixed(values("a", 1e308, -1e308, 1.7e308, 1.7e308)), prepare.Options{},
			`column "a": the values are too large`},
		{"infinite", mixed(values("a", 1, math.Inf(1))), prepare.Options{}, `row 1, column "a"`},
		{"bytes", mixed(words("a", "x", "caf\xe9")), prepare.Options{}, `row 1, column "a": the text`},
		{"no text", &points.Mixed{N: 1,
			Columns: []points.Column{{Name: "a", Codes: []int32{3}, Levels: []string{}}}}, prepare.Options{},
			"code 3"},
	} {
		got, _, err := prepare.Fit(&dataset.Data{Points: c.x, Name: "t.csv"}, c.o)
		if err == nil || !fault.IsInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: transform %v, error %v: want one with %q", c.name, got, err, c.want)
		}
	}
}

// TestRefusedRows: rows that do not fit the preparation are typed errors.
func TestRefusedRows(t *testing.T) {
	x := mixed(values("n", 1, 2, 5), words("d", "2024-01-01", "2024-01-02", "2024-01-05"))
	p, _ := fit(t, x, prepare.Options{Impute: "error"})
	for _, c := range []struct {
		x    points.Points
		want string
	}{
		{mixed(values("n", 1)), "number of columns is 1: want 2"},
		{&points.CSR{N: 1, D: 2, Start: []int{0, 0}}, "want a table"},
		{mixed(values("n", 1, nan), words("d", "2024-01-01", "2024-01-01")),
			`row 1, column "n": the cell is empty`},
		{mixed(values("n", 1, 2), words("d", "2024-01-01", "1.1.2024")),
			`row 1, column "d": "1.1.2024" is not a date like 2024-12-31`},
		{mixed(words("n", "1", "two"), words("d", "2024-01-01", "2024-01-01")),
			`row 1, column "n": "two" is not a finite number`},
		{mixed(values("n", 1, 1.7e308), words("d", "2024-01-01", "2024-01-01")), ""},
	} {
		_, err := p.Apply(c.x)
		if c.want == "" {
			if err != nil {
				t.Errorf("error %v", err)
			}
			continue
		}
		if err == nil || !fault.IsInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v: want one with %q", err, c.want)
		}
	}
	small := mixed(values("n", 1e-200, 2e-200, 5e-200), words("d", "2024-01-01", "2024-01-02", "2024-01-05"))
	q, _ := fit(t, small, prepare.Options{})
	_, err := q.Apply(x)
	if err != nil {
		t.Errorf("error %v", err)
	}
	_, err = q.Apply(mixed(values("n", 1e200), words("d", "2024-01-01")))
	if e, ok := errors.AsType[*fault.DataError](err); !ok || e.Row != 0 || e.Column != "n" {
		t.Errorf("error %v: want one of row 0, column n", err)
	}
}

// Columns of texts that look like numbers have a warning with an example, and others have none.
func TestTextsLikeNumbers(t *testing.T) {
	many := func(write func(k int) string) (cells []string) {
		for k := range 60 {
			cells = append(cells, write(k))
		}
		return cells
	}
	for name, c := range map[string]struct {
		write func(k int) string
		want  string
	}{
		"thousands": {func(k int) string {
			return "32," + strconv.Itoa(100+k)
		}, "want the option number, COLUMN=us"},
		"decimal comma": {func(k int) string { return strconv.Itoa(k) + ",75" }, "want a decimal point"},
		"currency": {func(k int) string {
			return "$" + strconv.Itoa(k) + ".5"
		}, "want numbers without other marks"},
		"percent": {func(k int) string {
			return strconv.Itoa(k) + " %"
		}, "want numbers without other marks"},
		"minus": {func(k int) string {
			return "−" + strconv.Itoa(k)
		}, "want numbers without other marks"},
		"narrow space": {func(k int) string {
			return "12\u202f" + strconv.Itoa(100+k)
		}, "want numbers without other marks"},
		"units": {func(k int) string {
			return strconv.Itoa(k) + ".8 kg"
		}, "want numbers in one unit"},
		"limits": {func(k int) string {
			return "<0." + strconv.Itoa(k)
		}, "want the kind censored"},
		"pairs of numbers": {func(k int) string {
			return "47.6" + strconv.Itoa(k) + ", 7.66"
		}, "want a column for each number"},
		"underscores": {func(k int) string { return strconv.Itoa(k+1) + "_000" }, "want decimal digits"},
		"Fortran":     {func(k int) string { return "4.5D-" + strconv.Itoa(k) }, "want decimal digits"},
		"accounting": {func(k int) string {
			return "(" + strconv.Itoa(k) + ".50)"
		}, "want a minus sign"},
		"short years": {func(k int) string {
			return "03-06-" + strconv.Itoa(10+k)
		}, "want years of four digits"},
		"numbers as text": {func(k int) string { return strconv.Itoa(k) + ".5" }, "want the kind number"},
		"dashes": {func(k int) string {
			return []string{"-", strconv.Itoa(k), strconv.Itoa(k), strconv.Itoa(k)}[k%4]
		}, `but not "-", which is in 15 cells`},
		"one in ten": {func(k int) string {
			return []string{"many", strconv.Itoa(k) + " kg"}[min(k%12, 1)]
		}, "want numbers in one unit"},
		"postal codes": {func(k int) string { return "0" + strconv.Itoa(1000+k) }, ""},
		"identifiers":  {func(k int) string { return "A-" + strconv.Itoa(k) }, ""},
		"ages": {func(k int) string {
			return strconv.Itoa(10*k) + "-" + strconv.Itoa(10*k+9)
		}, ""},
		"telephone": {func(k int) string { return "+49 30 1234" + strconv.Itoa(k) }, ""},
		"doors":     {func(k int) string { return strconv.Itoa(2+k%4) + " drs" }, ""},
		"grades":    {func(k int) string { return strconv.Itoa(1 + k%5) }, ""},
		"places":    {func(k int) string { return strconv.Itoa(k) + " Main Street" }, "short texts"},
		"four in five": {func(k int) string {
			if k%6 == 0 {
				return "word " + strconv.Itoa(k)
			}
			return strconv.Itoa(k) + ".5"
		}, "50 of its cells look like numbers, and 10 do not"},
		"half of them": {func(k int) string {
			return []string{"a lot", strconv.Itoa(k) + " kg"}[k%2]
		}, ""},
	} {
		x := mixed(words(name, many(c.write)...), values("x", many60()...))
		_, columns, err := prepare.Fit(&dataset.Data{Points: x, Name: "t.csv"}, prepare.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		got := columns[0].Warning
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: kind %s, warning %q, want %q", name, columns[0].Kind, got, c.want)
		}
		if _, columns, err = prepare.Fit(&dataset.Data{Points: x, Name: "t.csv"},
			prepare.Options{Kinds: map[string]prepare.Kind{name: prepare.Category}}); err != nil ||
			columns[0].Warning != "" {
			t.Errorf("%s, asked for as a category: warning %q, %v", name, columns[0].Warning, err)
		}
	}
}

// A category most of whose cells share a column has a warning, and so have short texts that are
// left out; long ones have none.
func TestLossOfTexts(t *testing.T) {
	cells := func(write func(k int) string) (list []string) {
		for k := range 400 {
			list = append(list, write(k))
		}
		return list
	}
	for name, c := range map[string]struct {
		write func(k int) string
		want  string
	}{
		"cities": {func(k int) string {
			return "city " + strconv.Itoa(k%150)
		}, "63 % of its cells share the column (other)"},
		"few": {func(k int) string { return "city " + strconv.Itoa(k%40) }, ""},
		"rare": {func(k int) string {
			return "city " + strconv.Itoa(k%5+max(0, k-340))
		}, ""}, // 11 of 400 cells
		"names": {func(k int) string { return "name of " + strconv.Itoa(k) }, "want --text letters:3"},
		"long": {func(k int) string {
			return strings.Repeat("a long story ", 9) + strconv.Itoa(k)
		}, ""},
	} {
		x := mixed(words(name, cells(c.write)...), values("x", slices.Repeat([]float64{1, 2, 4, 9}, 100)...))
		_, columns, err := prepare.Fit(&dataset.Data{Points: x, Name: "t.csv"}, prepare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := columns[0].Warning; c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, warning %q; want %q", name, columns[0].Does, got, c.want)
		}
	}
}

func many60() (cells []float64) {
	for k := range 60 {
		cells = append(cells, float64(k*k%61))
	}
	return cells
}

// Four columns with the same warning have one remark, which counts them.
func TestRemarks(t *testing.T) {
	var columns []points.Column
	for j := range 300 {
		v := float64(j)
		columns = append(columns, values(strconv.Itoa(j), v, v, v))
	}
	columns = append(columns, values("x", 1, 2, 4), values("gaps", nan, nan, nan))
	_, found, err := prepare.Fit(&dataset.Data{Points: mixed(columns...), Name: "t.csv"}, prepare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`columns "0", "1", "2" and 297 more: constant, and left out`,
		`column "gaps": all cells are missing: it is left out`}
	if got := prepare.Remarks(found); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	want = []string{`column "0": constant, all cells are 0: it is left out`,
		`column "1": constant, all cells are 1: it is left out`}
	if got := prepare.Remarks(slices.Concat(found[:2], found[300:301])); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A date whose day and month look alike is read as asked, and the model keeps how.
func TestOrderOfDates(t *testing.T) {
	x := mixed(words("when", "01/02/2020", "03/04/2020", "05/06/2021"), values("x", 1, 2, 4))
	for kind, months := range map[prepare.Kind][]string{"": {"2020-01-02", "2021-05-06"},
		prepare.MonthFirst: {"2020-01-02", "2021-05-06"}, prepare.DayFirst: {"2020-02-01", "2021-06-05"}} {
		o := prepare.Options{}
		if kind != "" {
			o.Kinds = map[string]prepare.Kind{"when": kind}
		}
		p, columns := fit(t, x, o)
		c := columns[0]
		if want := months[0] + " to " + months[1]; c.Kind != prepare.Date || c.Range() != want {
			t.Errorf("%q: %s, %s, want %s", kind, c.Kind, c.Range(), want)
		}
		if doubt := strings.Contains(c.Warning, "want the kind day-first"); doubt != (kind == "") {
			t.Errorf("%q: warning %q", kind, c.Warning)
		}
		later := mixed(words("when", "16/09/2020", "01/02/2020", "02/02/2020"), values("x", 1, 2, 4))
		if _, err := p.Apply(later); (err == nil) != (kind == prepare.DayFirst) {
			t.Errorf("%q: a day above 12: %v", kind, err)
		}
	}
	_, _, err := prepare.Fit(&dataset.Data{Points: mixed(words("when", "16/09/2020", "01/02/2020"),
		values("x", 1, 2)), Name: "t.csv"},
		prepare.Options{Kinds: map[string]prepare.Kind{"when": prepare.MonthFirst}})
	if err == nil || !strings.Contains(err.Error(), `"16/09/2020" is not a date like 12/31/2024`) {
		t.Errorf("a day as a month: %v", err)
	}
}
