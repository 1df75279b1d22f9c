package mustlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/mustlink/mustlink/algorithms/blocking"
	"github.com/mustlink/mustlink/algorithms/entities"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/algorithms/pairmodel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/similarity"
)

// EntityOptions are the options of [Entities] and [EntityQuestions].
type EntityOptions struct {
	Model *Model // in whose metric records are compared, nil for none
	// Texts has the texts of the records, if the table is as the model takes it and has them in another
	// form, or not at all; nil for the table.
	Texts *Table
	// Second is another table, whose records are numbered after those of the first, and are linked to
	// them: an entity has one record of each at most or, with OneToMany, any number of the second.
	// Texts then has the records of both. nil for one table.
	Second    *Table
	OneToMany bool
	// Blocks are keys that candidates share, each such as "zip,first-letter(name)", where both are
	// equal: columns, or first-letter, first-three, digits, year or soundex of one, in lower case. A
	// record whose key is empty has no pairs by it.
	Blocks []string
	// Neighbors makes the nearest records of each record, so many, candidates too. With 0 and no
	// Blocks these are 10 or, if probabilities are those of a calibration, all pairs with a
	// probability above 0.1, up to the distance of the farthest must-link that it knows.
	Neighbors int
	MaxPairs  int        // more candidates are an error; 0 for 20 million
	Compare   []string   // columns of texts whose similarity the probability depends on
	Distinct  []Distinct // columns of keys that any two records of an entity differ in
	Decided   *Links     // more links to keep, from which no probability is learned; nil for none
	// Previous has the number of the earlier entity of each record, -1 for a new record; nil for none.
	// Records of one number stay together, and an entity keeps the number of most of its records. New
	// ones are numbered from Next on, or from the first number that Previous does not have.
	Previous []int
	Next     int
	Seed     uint64 // of the parts of the links that are held out, and of questions
}

// Resolution says which records of a table are one entity: the result of [Entities]. Its fields
// Labels, Sizes, Probability, Cost, Components, Exact, Divided and Barred, and its method Doubtful,
// are those of [entities.Entities].
type Resolution struct {
	*entities.Entities
	Numbers    []int           // of the entity of each record: its label, or the one that it keeps
	Candidates []entities.Pair // ascending, with their probabilities
	Pairs      *PairModel      // nil for the probabilities of a calibration
	Found      int             // must-links that are candidates
	Doubt      string          // why the probabilities of the calibration were lowered, "" if not
}

// PairModel says how well the regression of [Entities] knows links that it did not see.
type PairModel struct {
	AUC    float64 `json:"auc"`                       // chance that a must-link is above a cannot-link
	Alone  float64 `json:"auc_of_distance,omitempty"` // of the learned distance alone
	Must   int     `json:"must_links"`
	Cannot int     `json:"cannot_links"`
	Share  float64 `json:"share"` // of candidates that match, estimated
}

func (p *PairModel) String() string {
	alone := ""
	if p.Alone > 0 {
		alone = fmt.Sprintf(" (learned distance alone %.3f)", p.Alone)
	}
	return fmt.Sprintf("AUC %.3f%s; rests on %s; %.3g of the candidates match", p.AUC, alone,
		links.Numbers(p.Must, p.Cannot), p.Share)
}

// Entities joins the records of a table that are one entity, such as one customer. Candidates are
// pairs of records with equal keys, or near each other. Their probability is that of the model's
// calibration or, with Compare or without a calibration, a logistic regression on the learned
// distance and on similarities of texts. It learns from the links that are candidates, at least 10
// of each kind, which should be random samples of the candidates that match and that do not (see
// [EntityQuestions]); links may be nil with a calibration. The entities have the largest
// likelihood, and keep links and columns exactly: see [entities.Resolve].
//
// Errors: *fault.ParamError (options, unknown columns, too many candidates), *fault.ShapeError
// (links, texts or numbers for other rows), *fault.DataError (a column that has no texts, too few
// links, all records as one entity), *links.ConflictError, *cluster.DistinctError,
// *fault.MemoryError, and ctx.Err(), wrapped. Cost: that of comparing the texts of p candidates,
// and O(p log p); neighbors take n^2 d flops for n records of d coordinates.
func Entities(ctx context.Context, t *Table, l *Links, o EntityOptions) (*Resolution, error) {
	c, err := o.candidates(ctx, t, l)
	if err != nil {
		return nil, err
	}
	previous, err := c.keepPrevious()
	if err != nil {
		return nil, err
	}
	r := &Resolution{}
	between, err := c.model(ctx, l, r)
	if err != nil {
		return nil, err
	}
	r.Candidates = make([]entities.Pair, len(c.pairs))
	if err := c.eng.For(ctx, len(c.pairs), 1024, func(lo, hi int) error {
		for k := lo; k < hi; k++ {
			i, j := c.pairs[k][0], c.pairs[k][1]
			r.Candidates[k] = entities.Pair{I: i, J: j, Probability: between(int(i), int(j))}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	r.Entities, err = entities.Resolve(ctx, c.eng, c.n, r.Candidates,
		entities.Params{Links: c.links, Distinct: c.Distinct, Between: between})
	if err != nil {
		return nil, err
	}
	if len(r.Sizes) == 1 && c.n > 2 {
		return nil, fault.Data(t.raw.Name, "all %d records would be one entity: want keys that fewer records "+
			"share, surer links, or columns of distinct values", c.n)
	}
	r.Numbers = entities.Keep(r.Labels, previous, c.Next)
	return r, nil
}

// EntityQuestions draws up to count candidates of [Entities] at random for people to answer,
// without those that the links settle, which may be nil. It also returns the number of all
// candidates. Errors are those of Entities.
func EntityQuestions(ctx context.Context, t *Table, l *Links, o EntityOptions,
	count int) (pairs [][2]int, of int, err error) {
	c, err := o.candidates(ctx, t, l)
	if err != nil {
		return nil, 0, err
	}
	part, apart := c.links.Components(), map[[2]int]bool{}
	parts := func(i, j int) [2]int { return [2]int{min(part[i], part[j]), max(part[i], part[j])} }
	for _, link := range c.links.Cannot() {
		apart[parts(link.I, link.J)] = true
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x61736b))
	for _, k := range rng.Perm(len(c.pairs)) {
		i, j := int(c.pairs[k][0]), int(c.pairs[k][1])
		if len(pairs) < count && part[i] != part[j] && !apart[parts(i, j)] {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	return pairs, len(c.pairs), nil
}

// Distinct returns a column of the table for [EntityOptions] and [GroupOptions]: rows with equal
// texts or numbers have equal keys, and rows without a value are free. An unknown column is a
// *fault.ParamError.
func (t *Table) Distinct(column string) (Distinct, error) {
	d := Distinct{Name: column}
	c, err := t.column(column)
	if err != nil {
		return d, err
	}
	for _, code := range c.Codes {
		d.Keys = append(d.Keys, int(code))
	}
	number := map[float64]int{}
	for _, v := range c.Numbers {
		key, known := number[v]
		switch {
		case math.IsNaN(v):
			key = -1
		case !known:
			key = len(number)
			number[v] = key
		}
		d.Keys = append(d.Keys, key)
	}
	return d, nil
}

// column returns a column as it was read.
func (t *Table) column(name string) (*points.Column, error) {
	if err := t.check("table"); err != nil {
		return nil, err
	}
	k := slices.Index(t.raw.Features, name)
	if k < 0 {
		return nil, fault.Unknown("column", name, t.raw.Features)
	}
	switch x := t.raw.Points.(type) {
	case *points.Mixed:
		return &x.Columns[k], nil
	case *points.Dense:
		c := &points.Column{Name: name, Numbers: make([]float64, x.N)}
		for i := range c.Numbers {
			c.Numbers[i] = x.Row(i)[k]
		}
		return c, nil
	}
	return nil, fault.Param("column", name, "a table with columns of cells")
}

// candidates are the pairs of records that may be one entity, and what they are compared by.
type candidates struct {
	EntityOptions
	n           int // of the records
	tables      []*Table
	files       []int // of which an entity has one record at most, -1 for any number; nil for one table
	eng         *engine.Engine
	calibration *Calibration
	rules       []blocking.Rule
	links       *Links      // all that are kept
	y           blas.Matrix // learned coordinates of the records, no columns without a model
	distance    float64     // up to which pairs were searched, 0 if not
	pairs       [][2]int32  // ascending
}

// candidates checks the options and finds the candidates.
func (o EntityOptions) candidates(ctx context.Context, t *Table, l *Links) (*candidates, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	if err := t.check("table"); err != nil {
		return nil, err
	}
	c := &candidates{EntityOptions: o, n: t.Rows(), tables: []*Table{t}}
	c.MaxPairs = cmp.Or(o.MaxPairs, 20_000_000)
	if o.Second != nil {
		if err := o.Second.check("second table"); err != nil {
			return nil, err
		}
		c.two()
	}
	if o.Texts != nil && o.Texts.Rows() != c.n {
		return nil, fault.Shape("number of rows with texts", o.Texts.Rows(), "%d, the rows of the table", c.n)
	}
	for _, text := range o.Blocks {
		rule, err := blocking.Parse(text)
		if err != nil {
			return nil, err
		}
		c.rules = append(c.rules, rule)
	}
	c.links, _ = links.New(c.n, nil) // no links cannot be wrong
	for _, more := range []*Links{l, o.Decided} {
		if more == nil {
			continue
		}
		err := checkRows(more, c.n)
		if err == nil {
			c.links, err = links.Union(c.links, more)
		}
		if err != nil {
			return nil, err
		}
	}
	learned, err := o.Model != nil && o.Model.Learned(), error(nil)
	switch {
	case o.Model != nil && o.Model.check() != nil:
		err = o.Model.check()
	case o.MaxPairs < 0:
		err = fault.Param("largest number of pairs", o.MaxPairs, "a number >= 0")
	case o.Neighbors < 0 || o.Neighbors > 0 && !learned:
		err = fault.Param("neighbors", o.Neighbors, "a number >= 0, and 0 without a model")
	case !learned && len(o.Blocks) == 0:
		err = fault.Param("blocks", "missing", "keys that candidates share, or a model")
	case o.Model == nil:
		c.eng, err = shared()
	default:
		c.eng, c.calibration = o.Model.eng, o.Model.Calibration()
		if learned {
			err = c.embed(ctx)
		}
	}
	if err == nil {
		err = c.find(ctx)
	}
	if c.files != nil {
		c.pairs = slices.DeleteFunc(c.pairs, func(p [2]int32) bool {
			return c.files[p[0]] >= 0 && c.files[p[0]] == c.files[p[1]]
		})
	}
	return c, err
}

// two adds the records of the second table.
func (c *candidates) two() {
	first := c.n
	c.n, c.tables = first+c.Second.Rows(), append(c.tables, c.Second)
	c.files = make([]int, c.n)
	for i := first; i < c.n; i++ {
		if c.files[i] = 1; c.OneToMany {
			c.files[i] = -1
		}
	}
	c.Distinct = append(slices.Clip(c.Distinct), Distinct{Keys: c.files})
}

// embed computes the learned coordinates of all records.
func (c *candidates) embed(ctx context.Context) error {
	at := 0
	for _, t := range c.tables {
		y, err := c.Model.embed(ctx, "table", t)
		if err != nil || len(c.tables) == 1 {
			c.y = y
			return err
		}
		if at == 0 {
			if err := c.eng.Check("coordinates of both tables", engine.MatrixBytes(c.n, y.Cols),
				"use fewer records"); err != nil {
				return err
			}
			c.y = blas.NewMatrix(c.n, y.Cols)
		}
		for i := range y.Rows {
			copy(c.y.Row(at+i), y.Row(i))
		}
		at += y.Rows
	}
	return nil
}

// text returns a column of texts of all records.
func (c *candidates) text(name string) (*points.Column, error) {
	from := c.tables
	if c.Texts != nil {
		from = []*Table{c.Texts}
	}
	var all *points.Column
	for _, t := range from {
		column, err := t.column(name)
		if err == nil && column.Numbers != nil {
			err = &fault.DataError{File: t.raw.Name, Row: -1, Column: name,
				Err: errors.New("the cells are numbers: want texts, see Columns.Text")}
		}
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = column
		} else {
			all = all.Append(column)
		}
	}
	return all, nil
}

// apart returns the learned distance of two records.
func (c *candidates) apart(i, j int) float64 {
	return math.Sqrt(points.SquaredDistance(c.y.Row(i), c.y.Row(j)))
}

// find finds the candidates: by keys, and by neighbors or all up to a distance of the calibration.
func (c *candidates) find(ctx context.Context) (err error) {
	if len(c.rules) > 0 {
		c.pairs, err = blocking.Pairs(ctx, c.eng, c.rules, c.text, c.MaxPairs)
		if err != nil || c.Neighbors == 0 {
			return err
		}
	}
	o := neighbors.PairOptions{Neighbors: c.Neighbors, Most: c.MaxPairs}
	const far = 1e100 // any distance
	threshold := far
	switch {
	case c.Neighbors > 0:
	case c.calibration != nil && len(c.Compare) == 0:
		if threshold, err = likely(c.calibration); err != nil {
			return err
		}
		c.distance = threshold
	default:
		const usual = 10
		o.Neighbors = usual
	}
	found, err := neighbors.Pairs(ctx, c.eng, c.y, threshold, o)
	if err != nil {
		return err
	}
	for _, p := range found {
		c.pairs = append(c.pairs, [2]int32{p.I, p.J})
	}
	slices.SortFunc(c.pairs, blocking.Compare)
	c.pairs = slices.Compact(c.pairs)
	return nil
}

// likely returns the distance up to which pairs are candidates: that of the farthest must-link, or
// the largest one up to twice that of a probability of 1/2 at which the probability is above 0.1.
func likely(c *Calibration) (float64, error) {
	const steps, least = 1000, 0.1
	even, err := c.Even()
	if err != nil {
		return 0, err
	}
	last, err := c.ThresholdForRecall(1)
	k := sort.Search(steps, func(k int) bool {
		return c.Probability(even.Distance*(1+float64(k+1)/steps)) < least
	})
	return min(last.Distance, even.Distance*(1+float64(k)/steps)), err
}

// model returns the probability of a pair: that of the calibration, or of a regression that learns
// from the links which are candidates.
func (c *candidates) model(ctx context.Context, l *Links, r *Resolution) (func(i, j int) float64, error) {
	var must, cannot []Link
	if l != nil {
		must, cannot = c.among(l.Must()), c.among(l.Cannot())
		r.Found = len(must)
	}
	measured := min(c.y.Cols, 1)
	switch {
	case len(c.Compare) == 0 && c.calibration != nil:
		return c.calibrated(r), nil
	case l == nil:
		return nil, fault.Param("links", nil,
			"links from which the probability is learned, or a calibrated model without columns to compare")
	case len(c.Compare) == 0 && measured == 0:
		return nil, fault.Param("columns to compare", 0, "1 or more, or a model")
	}
	columns := make([]*similarity.Column, len(c.Compare))
	for k, name := range c.Compare {
		column, err := c.text(name)
		if err != nil {
			return nil, err
		}
		if columns[k], err = similarity.NewColumn(c.eng, column); err != nil {
			return nil, err
		}
	}
	width := measured + similarity.Features*len(columns)
	features := func(i, j int, to []float64) {
		if measured > 0 {
			to[0] = c.apart(i, j)
		}
		for k, column := range columns {
			column.Compare(i, j, to[measured+similarity.Features*k:])
		}
	}
	list := slices.Concat(must, cannot)
	if err := c.eng.Check("features of the links", 2*engine.MatrixBytes(len(list), width),
		"use fewer links"); err != nil {
		return nil, err
	}
	x, part := blas.NewMatrix(len(list), width), l.Components()
	kinds, groups := make([]bool, len(list)), make([]int, len(list))
	for k, link := range list {
		features(link.I, link.J, x.Row(k))
		kinds[k], groups[k] = k < len(must), part[link.I]
	}
	fitted, err := pairmodel.Fit(ctx, c.eng, x, kinds, groups, c.Seed)
	if err != nil {
		return nil, err
	}
	odds, err := c.sample(ctx, fitted, features, width)
	if err != nil {
		return nil, err
	}
	r.Pairs = &PairModel{AUC: fitted.AUC, Must: fitted.Must, Cannot: fitted.Cannot}
	if measured > 0 {
		r.Pairs.Alone = fitted.Alone
	}
	fitted, r.Pairs.Share = fitted.WithShareOf(odds)
	return func(i, j int) float64 {
		memory := make([]float64, 2*width)
		features(i, j, memory[:width])
		return pairmodel.Probability(fitted.LogOdds(memory[:width], memory[width:]))
	}, nil
}

// sample returns the log odds of up to 100,000 candidates, evenly among all.
func (c *candidates) sample(ctx context.Context, m *pairmodel.Model, features func(i, j int, to []float64),
	width int) ([]float64, error) {
	const most = 100_000
	odds := make([]float64, min(most, len(c.pairs)))
	err := c.eng.For(ctx, len(odds), 1024, func(lo, hi int) error {
		memory := make([]float64, 2*width)
		for k := lo; k < hi; k++ {
			p := c.pairs[k*len(c.pairs)/len(odds)]
			features(int(p[0]), int(p[1]), memory[:width])
			odds[k] = m.LogOdds(memory[:width], memory[width:])
		}
		return nil
	})
	return odds, err
}

// among returns the links that are candidates.
func (c *candidates) among(list []Link) (out []Link) {
	for _, l := range list {
		p := [2]int32{int32(min(l.I, l.J)), int32(max(l.I, l.J))}
		if _, found := slices.BinarySearchFunc(c.pairs, p, blocking.Compare); found {
			out = append(out, l)
		}
	}
	return out
}

// calibrated returns the probabilities of the calibration. Where all pairs up to a distance were
// found, their number bounds the probabilities, as for mustlink pairs.
func (c *candidates) calibrated(r *Resolution) func(i, j int) float64 {
	if c.distance == 0 || len(c.rules) > 0 {
		return func(i, j int) float64 { return c.calibration.Probability(c.apart(i, j)) }
	}
	distances := make([]float64, len(c.pairs))
	for k, p := range c.pairs {
		distances[k] = c.apart(int(p[0]), int(p[1]))
	}
	slices.Sort(distances)
	all := float64(c.n) * float64(c.n-1) / 2
	if c.files != nil {
		of := func(rows int) float64 { return float64(rows) * float64(rows-1) / 2 }
		if all -= of(c.tables[0].Rows()); !c.OneToMany {
			all -= of(c.Second.Rows())
		}
	}
	found := c.calibration.OfFound(c.distance, distances, all, true)
	r.Doubt = found.Doubt
	return func(i, j int) float64 {
		d := c.apart(i, j)
		if k := sort.SearchFloat64s(distances, d); k < len(distances) {
			return found.Probabilities[k]
		}
		if len(distances) > 0 {
			return min(c.calibration.Probability(d), found.Probabilities[len(distances)-1])
		}
		return c.calibration.Probability(d)
	}
}

// keepPrevious joins the records of each earlier entity by must-links, finds the first number for
// new ones, and returns the earlier numbers.
func (c *candidates) keepPrevious() ([]int, error) {
	if c.Previous == nil {
		return slices.Repeat([]int{-1}, c.n), nil
	}
	if len(c.Previous) != c.n {
		return nil, fault.Shape("number of earlier entities", len(c.Previous), "%d, one for each record", c.n)
	}
	first, must := map[int]int{}, []Link(nil)
	for i, number := range c.Previous {
		if number < 0 {
			continue
		}
		c.Next = max(c.Next, number+1)
		if j, more := first[number]; more {
			must = append(must, links.NewLink(j, i, links.Must))
		} else {
			first[number] = i
		}
	}
	add, err := links.New(c.n, must)
	if err == nil {
		c.links, err = links.Union(c.links, add)
	}
	return c.Previous, err
}
