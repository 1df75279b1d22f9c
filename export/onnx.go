// Package export (may change) writes models for programs without mustlink: ONNX graphs for ONNX's
// runtimes, and linear maps as JSON and SQL.
//
// It is a package of its own since it brings the runtime of Protocol Buffers, 2.4 MB of a program.
package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
)

// Precision is that of the input and of the output of an ONNX graph, and of its numbers inside. In
// single precision the inside is double where it would lose more than 1e-5 of the largest
// coordinate.
type Precision string

// The precisions.
const (
	Double Precision = "double"
	Single Precision = "single"
)

// ONNXOptions are for [ONNX]. The zero value is double precision.
type ONNXOptions struct {
	Precision Precision
	Limits
}

// Versions of the format, which all later runtimes read: the intermediate representation, the
// operators, and those of ONNX-ML.
const (
	irVersion       = 7
	opset           = 13
	learningVersion = 2
)

// largest is the size of a message of Protocol Buffers.
const largest = math.MaxInt32

// ONNX writes an ONNX graph that maps rows, as the model takes them, to their coordinates, which
// are those of [mustlink.Model.Embed] up to rounding. Its preparation is in the graph.
//
// The input x has the columns of numbers, rows x numbers, with NaN for a missing one. A model with
// columns of texts (categories, booleans) has a second input, texts, rows x texts, with "" for a
// missing one. The output is coordinates, rows x Dim. The number of rows is free. The metadata
// list the names of both inputs' columns as JSON.
//
// It returns the precision of the numbers inside: that of the options, or double where single
// precision could lose more than 1e-5 of the largest coordinate, since the terms of the map cancel,
// or since it is linear and its rows are not known. The preparation is always in double precision.
//
// Errors: a model whose new rows get coordinates from their neighbors or from trees, one of
// sequences or of rows of a Gram matrix, and a column of dates or of text are a *fault.ParamError.
// So is single precision for blend and npkl, whose training rows have coordinates of their own,
// and for a category of numbers that float32 does not have. A
// map whose terms exceed its coordinates more than 1e10 times is a *fault.DataError.
// A graph above the memory limit or above 2 GiB is a *fault.MemoryError. Cost: O(numbers of the
// model).
func ONNX(ctx context.Context, w io.Writer, m *mustlink.Model, o ONNXOptions) (inside Precision, err error) {
	if o.Precision == "" {
		o.Precision = Double
	}
	if o.Precision != Double && o.Precision != Single {
		return "", fault.Unknown("precision", string(o.Precision), []string{string(Double), string(Single)})
	}
	s, err := newSource(m)
	if err != nil {
		return "", err
	}
	if o.Precision == Single {
		if err := s.checkSingle(); err != nil {
			return "", err
		}
	}
	numbers := elements(s.formula)
	// dense points, tensors and the file
	if err := o.check("writing the ONNX file", numbers*24, math.Inf(1)); err != nil {
		return "", err
	}
	g := newGraph(s, o.Precision)
	if err := o.check("the ONNX file", numbers*float64(g.size()), largest); err != nil {
		return "", err
	}
	model := s.model(g)
	if g.beyond {
		return "", fault.Data("",
			"a number of the model is beyond single precision: want double precision, or a fit on scaled "+
				"features")
	}
	if err := ctx.Err(); err != nil {
		return g.inside(), err
	}
	_, err = w.Write(model.encoded())
	return g.inside(), err
}

// checkSingle refuses models that tell numbers apart which are one in single precision.
func (s *source) checkSingle() error {
	want := ""
	if _, is := s.formula.(*formula.Lookup); is {
		want = "double for a model of method " + s.Model.Method() +
			", which tells its training rows by all digits"
	}
	for _, r := range s.rules.Columns {
		for _, text := range slices.Concat(r.Levels, r.Pair[:]) {
			if v, err := strconv.ParseFloat(text, 64); err == nil && !takesTexts(r) &&
				float64(float32(v)) != v {
				want = fmt.Sprintf("double, as float32 has no %s, which column %q has", text, r.Name)
			}
		}
	}
	if want == "" {
		return nil
	}
	return &fault.ParamError{Param: "precision", Value: string(Single), Want: want}
}

// maxCondition is the [formula.Condition] up to which single precision is used inside: its error
// was at most twice the condition in units of 2^-24, 8e-6 of the largest coordinate. Where support
// points lie more than maxWidths widths of their kernel apart, it is lower by as much.
const maxCondition, maxWidths = 64, 8

// newGraph returns an empty graph. One of single precision computes in double precision where the
// terms of the map cancel, or may do so.
func newGraph(s *source, p Precision) *graph {
	inside := p == Single && s.condition <= maxCondition &&
		s.condition*widths(s.formula) <= maxCondition*maxWidths
	return &graph{single: inside, outside: p, x: nameNumbers}
}

// inside returns the precision of the numbers inside.
func (g *graph) inside() Precision {
	if g.single {
		return Single
	}
	return Double
}

// model returns the ModelProto of a model.
func (s *source) model(g *graph) *message {
	in := inputsOf(s.rules.Columns)
	y := g.coordinates(s.formula, g.prepared(s, len(in.numbers) > 0))
	outside := numbersOf(g.outside == Single)
	cast := attribute{"to", int64(outside)}
	g.nodes = append(g.nodes, newNode("Cast", nameOutput, "", []value{y}, []attribute{cast}))
	graph := &message{} // a GraphProto
	graph.messages(1, g.nodes)
	graph.text(2, "mustlink_"+s.Model.Method())
	graph.messages(5, g.constants)
	graph.text(10, "Rows to coordinates, in which Euclidean distance is the learned distance.")
	if len(in.numbers) > 0 {
		graph.message(11, newInfo(nameNumbers, outside, len(in.numbers),
			"the columns of numbers, in the order of the metadata's features; NaN is missing"))
	}
	if len(in.texts) > 0 {
		graph.message(11, newInfo(nameTexts, texts, len(in.texts),
			`the columns of texts, in the order of the metadata's texts; "" is missing`))
	}
	graph.message(12, newInfo(nameOutput, outside, s.formula.Dim(), "a row of coordinates for each row"))

	out := &message{}
	out.integer(1, irVersion)
	out.text(2, "mustlink")
	out.text(3, s.version())
	out.text(4, "com.github.mustlink")
	out.integer(5, 1) // the version of the model
	out.text(6, "A metric learned by the method "+s.Model.Method()+
		" of mustlink, https://github.com/mustlink/mustlink.")
	out.message(7, graph)
	out.message(8, newOperators("", opset))
	if g.learning {
		out.message(8, newOperators(learningDomain, learningVersion))
	}
	out.messages(14, s.metadata(g, in))
	return out
}

// version returns the version of the library that fitted the model.
func (s *source) version() string {
	if s.LibraryVersion != "" {
		return s.LibraryVersion
	}
	return catalog.Version()
}

// metadata describes the model.
func (s *source) metadata(g *graph, in inputs) []*message {
	var list []*message
	add := func(key, text string) {
		entry := &message{} // a StringStringEntryProto
		entry.text(1, key)
		entry.text(2, text)
		list = append(list, entry)
	}
	add("method", s.Model.Method())
	add("version", s.version())
	add("precision", string(g.outside))
	add("computed_in", string(g.inside()))
	add("features", namesText(in.numbers))
	if len(in.texts) > 0 {
		add("texts", namesText(in.texts))
	}
	if m, is := s.Model.(interface{ Kernel() kernel.Kernel }); is && m.Kernel().String() != "" {
		add("kernel", m.Kernel().String())
	}
	return list
}

// namesText returns names as a JSON list.
func namesText(names []string) string {
	text, err := json.Marshal(append([]string{}, names...))
	if err != nil {
		panic(err) // strings
	}
	return string(text)
}

// Formats returns the formats of [Write], which are the extensions of their files.
func Formats() []string { return []string{"onnx", "json", "sql"} }

// Options are for [Write]: the precision of an ONNX graph, and the dialect of SQL.
type Options struct {
	ONNXOptions
	Dialect Dialect // "" for Postgres
}

// Write writes a model in one of the formats, as [ONNX], [JSON] or [SQL] does, and returns the
// precision in which a graph computes.
func Write(ctx context.Context, w io.Writer, m *mustlink.Model, format string,
	o Options) (inside Precision, err error) {
	switch format {
	case "onnx":
		return ONNX(ctx, w, m, o.ONNXOptions)
	case "json":
		return "", JSON(w, m, o.Limits)
	case "sql":
		if o.Dialect == "" {
			o.Dialect = Postgres
		}
		return "", SQL(w, m, o.Dialect, o.Limits)
	}
	return "", fault.Unknown("format", format, Formats())
}
