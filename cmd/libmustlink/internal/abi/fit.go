package abi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Fit implements mustlink_fit.
func Fit(turns Turns, e *engine.Engine, name, options string, p *Points, l *Links,
	c *Control) (*mustlink.Model, error) {
	o := fitOptions{Seed: 1}
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	method, err := o.method(name, l)
	if err != nil {
		return nil, err
	}
	// Options are checked before points are copied.
	files := &catalog.Files{}
	if _, err := method.New(catalog.Config{Files: files, Kernel: o.Kernel, Params: o.params(), Seed: o.Seed,
		MemoryLimit: e.MemoryLimit()}); err != nil {
		return nil, err
	}
	preparing, err := o.preparing()
	if err != nil {
		return nil, err
	}
	table, err := p.table(true, o.fills(), o.Features)
	if err != nil {
		return nil, err
	}
	if x, mixed := table.Data().Points.(*points.Mixed); mixed && !o.fills() {
		_, err := x.Dense() // which cell is no number
		return nil, err
	}
	if table.Rows() < 2 {
		return nil, fault.Shape("number of points", table.Rows(), "2 or more")
	}
	set, err := l.set(table.Rows(), method)
	if err != nil {
		return nil, err
	}
	return runFit(turns, c,
		func(ctx context.Context, progress algorithms.ProgressFunc) (*mustlink.Model, error) {
			all := append(o.options(name), preparing(p.Kind), mustlink.Engine(e), mustlink.ParamFiles(files),
				mustlink.OnProgress(progress))
			if list := l.triplets(); list != nil {
				all = append(all, mustlink.Triplets(list))
			}
			return mustlink.Fit(ctx, table, set, all...)
		})
}

// runFit waits for a turn and computes a model, under the given control.
func runFit(turns Turns, c *Control,
	work func(context.Context, algorithms.ProgressFunc) (*mustlink.Model, error)) (m *mustlink.Model,
	err error) {
	err = c.run(func(ctx context.Context, progress algorithms.ProgressFunc) error {
		return turns.Take(ctx, func() error {
			m, err = work(ctx, progress)
			return err
		})
	})
	return m, err
}

// Update implements mustlink_update.
func Update(turns Turns, old *mustlink.Model, options string, p *Points, l *Links,
	c *Control) (*mustlink.Model, error) {
	var o updateOptions
	if err := parse(options, &o); err != nil {
		return nil, err
	}
	if err := o.check(old); err != nil {
		return nil, err
	}
	if o.DropLast != 0 {
		return runFit(turns, c,
			func(ctx context.Context, _ algorithms.ProgressFunc) (*mustlink.Model, error) {
				return old.DropLast(ctx, o.DropLast)
			})
	}
	method, err := catalog.Lookup(old.Describe().Method)
	if err != nil {
		return nil, err
	}
	var table *mustlink.Table // none: the model has the rows
	rows := old.Record().Rows()
	if p != nil || rows == nil {
		if table, err = p.table(true, fills(old), nil); err != nil {
			return nil, err
		}
		rows = table.Data().Points
	}
	set, err := l.set(rows.Len(), method)
	if err != nil {
		return nil, err
	}
	return runFit(turns, c, func(ctx context.Context, _ algorithms.ProgressFunc) (*mustlink.Model, error) {
		if o.Extend && l != nil && l.Group != nil {
			return old.Extend(ctx, table, l.chunklets())
		}
		return old.Update(ctx, table, set)
	})
}

// check returns an error for options that the model's method does not have.
func (o *updateOptions) check(m *mustlink.Model) error {
	f := m.Record()
	if err := f.CheckUpdate(); err != nil {
		return err
	}
	if _, ok := f.Model.(algorithms.Updater); !ok && o.DropLast != 0 {
		return fault.Data("", "a model of method %s cannot undo updates: want no drop_last", f.Model.Method())
	}
	if _, ok := f.Model.(algorithms.Linker); ok && o.Extend {
		return fault.Data("", "a model of method %s has no groups: want no extend", f.Model.Method())
	}
	return nil
}

// chunklets returns the groups with their numbers, which are those of the model's groups.
func (l *Links) chunklets() []mustlink.Chunklet {
	var out []mustlink.Chunklet
	number := list[int64](l.Group, l.Rows)
	for _, rows := range groupRows(number) {
		out = append(out, mustlink.Chunklet{ID: int(number[rows[0]]), Rows: rows})
	}
	return out
}

// engineOptions are the options of mustlink_engine_new.
type engineOptions struct {
	Workers     int    `json:"workers"`
	MemoryLimit int64  `json:"memory_limit"`
	Backend     string `json:"backend"`
	SIMD        string `json:"simd"`
	BLASThreads int    `json:"blas_threads"`
}

// fitOptions are the options of mustlink_fit.
type fitOptions struct {
	Kernel      string           `json:"kernel"`
	Params      map[string]value `json:"params"`
	Seed        uint64           `json:"seed"`
	Standardize bool             `json:"standardize"`
	TFIDF       bool             `json:"tfidf"`
	Features    []string         `json:"features"`
	Quadruplets []quadruplet     `json:"quadruplets"`
	Targets     []float64        `json:"targets"`
	Prepare     string           `json:"prepare"`
	HoldOut     int              `json:"hold_out"`
	KeepWorse   bool             `json:"keep_worse"`
	preparingOptions
}

// preparingOptions are the options of mustlink_fit about columns.
type preparingOptions struct {
	Kinds      map[string]mustlink.ColumnKind `json:"kinds"`
	Impute     string                         `json:"impute"`
	Indicators bool                           `json:"indicators"`
	Scale      string                         `json:"scale"`
	Levels     int                            `json:"levels"`
	Cyclic     bool                           `json:"cyclic"`
	Text       string                         `json:"text"`
	Gram       string                         `json:"gram"`
}

// updateOptions are the options of mustlink_update.
type updateOptions struct {
	Extend   bool `json:"extend"`
	DropLast int  `json:"drop_last"`
}

// value is a parameter as text. In JSON it may be a string, a number or a boolean.
type value string

// UnmarshalJSON keeps the digits of a number unchanged.
func (v *value) UnmarshalJSON(b []byte) error {
	text := string(b)
	if strings.HasPrefix(text, `"`) {
		return json.Unmarshal(b, (*string)(v))
	}
	if text == "null" || strings.ContainsAny(text[:1], "[{") {
		return fmt.Errorf("%s: want a text, a number, true or false", text)
	}
	*v = value(text)
	return nil
}

// quadruplet is a comparison in JSON: four rows.
type quadruplet links.Quadruplet

// UnmarshalJSON accepts a list of four integers.
func (q *quadruplet) UnmarshalJSON(b []byte) error {
	var rows []int
	if err := json.Unmarshal(b, &rows); err != nil || len(rows) != 4 {
		return fmt.Errorf("quadruplet %s: want a list of four rows", b)
	}
	*q = quadruplet{I: rows[0], J: rows[1], K: rows[2], L: rows[3]}
	return nil
}

// quadruplets returns the comparisons, nil for none.
func (o *fitOptions) quadruplets() (list []links.Quadruplet) {
	for _, q := range o.Quadruplets {
		list = append(list, links.Quadruplet(q))
	}
	return list
}

// params returns the parameters as text by name.
func (o *fitOptions) params() map[string]string {
	out := make(map[string]string, len(o.Params))
	for name, v := range o.Params {
		out[name] = string(v)
	}
	return out
}

// parse reads a JSON object into o. Missing members, or an empty text, leave the values of o
// unchanged.
func parse(text string, o any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(o); err != nil {
		return optionError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return optionError(errors.New("there is more text after the object"))
	}
	return nil
}

func optionError(err error) error {
	text := strings.TrimPrefix(err.Error(), "json: ")
	return fault.Data("", "options: %s: want a JSON object of known options", text)
}

// fills reports whether a fit fills missing numbers.
func (o *fitOptions) fills() bool { return (o.Prepare == "" || o.Prepare == "auto") && !o.TFIDF }

// preparing returns how the columns are prepared, for points of a kind.
func (o *fitOptions) preparing() (func(kind int32) mustlink.Option, error) {
	p := mustlink.Preparing(o.preparingOptions)
	asked := !reflect.DeepEqual(p, mustlink.Preparing{})
	strict, embeddings := o.Prepare == "none", o.Prepare == "embeddings"
	switch {
	case !strict && !embeddings && o.Prepare != "" && o.Prepare != "auto":
		return nil, fault.Unknown("prepare", o.Prepare, []string{"auto", "none", "embeddings"})
	case o.Standardize && o.TFIDF:
		return nil, fault.Param("standardize", true, "one of standardize and tfidf")
	case embeddings && (o.Standardize || o.TFIDF || o.Kernel != ""):
		return nil, fault.Param("prepare", o.Prepare, "no standardize, tfidf and kernel with it")
	case asked && (strict || embeddings || o.TFIDF):
		return nil, fault.Param("prepare", o.Prepare,
			"no kinds, impute, indicators, scale, levels, cyclic, text and gram with prepare none, "+
				"embeddings or tfidf")
	case embeddings:
		return func(int32) mustlink.Option { return mustlink.Embeddings() }, nil
	case o.Standardize && p.Scale != "" && p.Scale != standardize:
		return nil, fault.Param("scale", p.Scale, "one of standardize and scale")
	case o.TFIDF:
		return func(int32) mustlink.Option { return mustlink.TFIDF() }, nil
	case strict && !o.Standardize:
		return func(int32) mustlink.Option { return mustlink.Unprepared() }, nil
	case o.Standardize:
		p.Scale = standardize
	}
	return func(kind int32) mustlink.Option {
		if strict && (kind == Dense || kind == Table) { // all columns are numbers, and complete
			p.Kinds, p.Impute = map[string]mustlink.ColumnKind{"*": "number"}, "error"
		}
		return mustlink.Prepare(p)
	}, nil
}

const standardize = "standardize"

// options returns the other options of the library.
func (o *fitOptions) options(method string) []mustlink.Option {
	out := []mustlink.Option{mustlink.Kernel(o.Kernel), mustlink.Seed(o.Seed)}
	if o.Targets != nil {
		out = append(out, mustlink.Targets(o.Targets))
	}
	if o.Quadruplets != nil {
		out = append(out, mustlink.Quadruplets(o.quadruplets()))
	}
	for name, v := range o.Params {
		out = append(out, mustlink.Param(name, string(v)))
	}
	if method != auto {
		out = append(out, mustlink.Method(method))
	}
	if o.HoldOut != 0 {
		out = append(out, mustlink.HoldOut(max(0, o.HoldOut)))
	}
	if o.KeepWorse {
		out = append(out, mustlink.KeepWorse())
	}
	return out
}

// auto is the name of the method that the fit chooses by what there is to learn from.
const auto = "auto"

// method returns the method of a name; for auto the one that the kinds of input suggest, which the
// links may change.
func (o *fitOptions) method(name string, l *Links) (catalog.Method, error) {
	if name != auto {
		return catalog.Lookup(name)
	}
	if len(o.Params) > 0 {
		return catalog.Method{},
			fault.Param("params", "given", "none with the method auto, as parameters belong to a method")
	}
	choice, err := catalog.Choose(nil,
		algorithms.Lesson{Triplets: l.triplets(), Quadruplets: o.quadruplets(), Targets: o.Targets})
	return choice.Method, err
}
