package view

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Report is the content of a page. Empty parts are left out.
type Report struct {
	Title           string
	Summary         string // one or two sentences below the title
	Data            []Fact
	Links           []Fact
	Warnings        []string
	Scores          Scores
	Points          Points
	Violations      []Violation
	SuspiciousLinks []SuspiciousLink
	Models          []Model
	Curves          []Picture // how well distances tell near from far
	Pictures        []Picture // of the fits
	Command         string    // the command that makes the page
	Versions        []Fact
}

// Fact is a named value.
type Fact struct{ Name, Value string }

// Scores is a table of systems, one in each row.
type Scores struct {
	Note    string // how the scores were measured
	Fold    bool   // they are of training rows: a page shows them on request
	Columns []string
	Rows    []Row
}

// Row is a system with one score in each column.
type Row struct {
	Name   string
	Note   string // what the rows or links of all its scores are, "" for nothing to note
	Scores []Score
}

// Score is a mean with its standard deviation, which may be NaN.
type Score struct {
	Mean, SD float64
	InSample bool // measured on what the system learned from
}

// Points are the drawn rows of the data.
type Points struct {
	Count    int
	Note     string   // how they come into the plane
	IDs      []string // nil for row numbers
	Labels   []string // nil for none
	Features []Feature
	Views    []Layout
	Must     [][2]int
	Cannot   [][2]int
}

// Feature is a column of the data, for the colors and descriptions of points.
type Feature struct {
	Name   string
	Values []float64 // one for each point, finite
}

// Layout is a plane with the points. If the first one is before learning and there are others, it
// is drawn next to one of them.
type Layout struct {
	Name           string
	XLabel, YLabel string
	X, Y           []float64  // one for each point, finite
	NoScale        bool       // numbers on the axes mean nothing
	Before         bool       // the points are those before learning
	Clusters       []int      // of each point, nil for none
	Near           *Neighbors // nil for none
}

// Neighbors are the Count nearest other points of every point, the nearest first.
type Neighbors struct {
	Count    int
	Index    []int32
	Distance []float64
}

// Violation is a link that a metric violates.
type Violation struct {
	I        int     `json:"i"`
	J        int     `json:"j"`
	Link     string  `json:"link"` // must or cannot
	Line     int     `json:"line,omitempty"`
	Metric   string  `json:"metric"`
	Distance float64 `json:"distance"` // squared
	Expected float64 `json:"expected"` // at most this for a must-link, at least for a cannot-link
	Excess   float64 `json:"excess"`   // how many times too long, or too short, >= 1
	// Cells are columns with the cells of I and J, nil to show the features of the points.
	Cells [][3]string `json:"cells,omitempty"`
}

// SuspiciousLink is a link that is suspicious to metrics learned without it.
type SuspiciousLink struct {
	Rows   string // its two rows
	Link   string // must or cannot
	Score  float64
	Reason string
}

// Model is a learned metric.
type Model struct {
	Name       string
	About      string   // what the method did, in two sentences
	Verdict    *Verdict // nil if there is none
	Facts      []Fact
	Notices    []string
	Importance *Importance // nil if there is none
}

// Verdict says whether a metric is better than the points without learning.
type Verdict struct {
	Finding  string // better, similar, worse or unknown
	Headline string
	Judged   bool // AUC, Raw and Error are meant
	// AUC is the probability that a held-out must-link is shorter than a held-out cannot-link, with
	// its standard error; Raw is that of the points without learning.
	AUC, Error, Raw float64
	Note            string
	Reasons         []string
}

// Importance is a bar for each of the most important columns.
type Importance struct {
	Note string // what the bars show
	Bars []Bar
}

// Bar is a named value.
type Bar struct {
	Name   string
	Length float64 // from 0 to 1
	Value  string
}

// Picture is a drawing.
type Picture struct {
	Title string
	SVG   []byte // as [Write] writes it
}

//go:embed page.html points.html page.css page.js
var files embed.FS

// page is the input of the template.
type page struct {
	*Report
	Style    template.CSS
	Script   template.JS
	Payload  template.JS
	Curves   []drawing
	Drawings []drawing
	Drawn    bool
	Pair     bool // two panels side by side
	Several  bool // there is a panel to choose
	Judged   bool // a model has a verdict with numbers
	// HasImportance is true if a model has bars.
	HasImportance bool
}

type drawing struct {
	Title string
	SVG   template.HTML
}

// WriteReport writes the page. Different lengths, values that are not finite and links to missing
// points are errors of package fault, before anything is written.
func WriteReport(w io.Writer, r *Report) error {
	if err := r.Points.check(); err != nil {
		return err
	}
	t, err := template.New("page.html").Funcs(template.FuncMap{"score": Score.String,
		"percent": percent}).ParseFS(files, "page.html", "points.html")
	if err != nil {
		return err
	}
	views := r.Points.Views
	p := page{Report: r, Style: template.CSS(Style()), Script: template.JS(Script()),
		Payload: payloadMark, Drawn: len(views) > 0,
		Curves: drawings(r.Curves), Drawings: drawings(r.Pictures)}
	p.Pair = len(views) > 1 && views[0].Before
	p.Several = len(views) > 2 || len(views) == 2 && !p.Pair
	p.Judged = slices.ContainsFunc(r.Models, func(m Model) bool {
		return m.Verdict != nil && m.Verdict.Judged
	})
	p.HasImportance = slices.ContainsFunc(r.Models, func(m Model) bool { return m.Importance != nil })
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return err
	}
	text := b.Bytes()
	if at := bytes.LastIndex(text, []byte(payloadMark)); at >= 0 { // no script needs it in other pages
		if _, err := w.Write(text[:at]); err != nil {
			return err
		}
		if err := r.Points.WritePayload(w, r.Violations); err != nil {
			return err
		}
		text = text[at+len(payloadMark):]
	}
	_, err = w.Write(text)
	return err
}

// payloadMark is where the payload, which may be large, is written into the page. All texts of the
// report are before it.
const payloadMark = `["payload"]`

// Style returns the style sheet of pages.
func Style() string { return embedded("page.css") }

// Script returns the script of pages: a function drawing(payload, chosen), which draws points into
// the elements of [Controls].
func Script() string { return embedded("page.js") }

// Controls returns the elements that points are drawn into, and their controls.
func Controls() template.HTML {
	var b bytes.Buffer
	t, err := template.ParseFS(files, "points.html")
	if err == nil {
		err = t.ExecuteTemplate(&b, "points", page{})
	}
	if err != nil {
		panic(err) // embedded
	}
	return template.HTML(b.String())
}

// embedded returns an embedded file.
func embedded(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded
	}
	return string(b)
}

func drawings(list []Picture) (out []drawing) {
	for _, d := range list {
		out = append(out, drawing{d.Title, template.HTML(inline(d.SVG))})
	}
	return out
}

// percent returns a share as a number from 0 to 100 for a length on the page.
func percent(share float64) string { return strconv.FormatFloat(100*max(0, min(1, share)), 'f', 1, 64) }

// String writes a score with three decimals.
func (s Score) String() string {
	switch {
	case math.IsNaN(s.Mean):
		return "–"
	case math.IsNaN(s.SD):
		return fmt.Sprintf("%.3f", s.Mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", s.Mean, s.SD)
}

func (p *Points) check() error {
	size := func(given bool, what string, got int) error {
		if given && got != p.Count {
			return fault.Shape("number of "+what, got, "%d, as there are points", p.Count)
		}
		return nil
	}
	err := cmp.Or(size(p.IDs != nil, "ids", len(p.IDs)), size(p.Labels != nil, "labels", len(p.Labels)))
	for _, f := range p.Features {
		err = cmp.Or(err, size(true, "values of "+f.Name, len(f.Values)), finite(f.Name, f.Values))
	}
	for _, v := range p.Views {
		for _, c := range [][]float64{v.X, v.Y} {
			err = cmp.Or(err, size(true, "coordinates of "+v.Name, len(c)), finite(v.Name, c))
		}
		err = cmp.Or(err, size(v.Clusters != nil, "clusters of "+v.Name, len(v.Clusters)), p.checkNear(v))
	}
	if err != nil {
		return err
	}
	for _, l := range slices.Concat(p.Must, p.Cannot) {
		if min(l[0], l[1]) < 0 || max(l[0], l[1]) >= p.Count {
			return fault.Shape("point of a link", max(l[0], l[1]), "0 to %d", p.Count-1)
		}
	}
	return nil
}

// checkNear refuses lists of neighbors that do not fit the points.
func (p *Points) checkNear(v Layout) error {
	if v.Near == nil {
		return nil
	}
	want := p.Count * v.Near.Count
	for _, got := range []int{len(v.Near.Index), len(v.Near.Distance)} {
		if got != want {
			return fault.Shape("number of neighbors of "+v.Name, got, "%d, %d for each point", want,
				v.Near.Count)
		}
	}
	for _, i := range v.Near.Index {
		if int(i) < 0 || int(i) >= p.Count {
			return fault.Shape("neighbor of a point", int(i), "0 to %d", p.Count-1)
		}
	}
	return finite("distances of "+v.Name, v.Near.Distance)
}

func finite(name string, values []float64) error {
	if i := points.FirstNotFinite(values); i >= 0 {
		return fault.Cell(i, name, "value is %v: want a finite number", values[i])
	}
	return nil
}

// The input of the script. Numbers are little-endian arrays in base64: float32 for coordinates, and
// for features 16 bits between the smallest and the largest value.
type payload struct {
	Count      int         `json:"count"`
	Colors     []string    `json:"colors"`
	Shapes     [][]float64 `json:"shapes"` // corners, as in a picture
	Stroked    int         `json:"stroked"`
	FewGroups  int         `json:"few"`
	IDs        []string    `json:"ids,omitempty"`
	Names      []string    `json:"names,omitempty"` // of labels, in the order of a legend
	None       int         `json:"none"`            // the number of that of rows without one, or -1
	Labels     array       `json:"labels,omitempty"`
	Features   []packed    `json:"features"`
	Views      []viewData  `json:"views"`
	Must       array       `json:"must"`
	Cannot     array       `json:"cannot"`
	Violations []Violation `json:"suspects"`
}

type packed struct {
	Name string  `json:"name"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	Q    array   `json:"q"`
}

type viewData struct {
	Name     string `json:"name"`
	XLabel   string `json:"xlabel"`
	YLabel   string `json:"ylabel"`
	X        array  `json:"x"`
	Y        array  `json:"y"`
	NoScale  bool   `json:"noscale,omitempty"`
	Before   bool   `json:"before,omitempty"`
	Clusters array  `json:"clusters,omitempty"`
	Nearest  int    `json:"nearest,omitempty"` // neighbors of each point
	Near     array  `json:"near,omitempty"`
	Far      array  `json:"far,omitempty"` // their distances
}

// arrays are the arrays of a payload, in the order of their numbers from 1 on. They are made as
// they are written, so that there is one at a time.
type arrays []func() any

// array is the number of an array, which stands for it in the JSON of the rest.
type array int

// MarshalJSON implements json.Marshaler: no text contains a quote without an escape.
func (a array) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, arrayMark+"%d]", int(a)), nil }

const arrayMark = `["array",`

func (a *arrays) add(values func() any) array {
	*a = append(*a, values)
	return array(len(*a))
}

// WritePayload writes the points as JSON, the input of the script. The encoder writes <, > and & as
// escapes, so nothing in it ends the script. Errors are those of [WriteReport].
func (p *Points) WritePayload(w io.Writer, violations []Violation) error {
	if err := p.check(); err != nil {
		return err
	}
	var list arrays
	out := payload{Count: p.Count, Colors: hexPalette(), Shapes: corners(), Stroked: firstStroked,
		FewGroups: fewGroups, None: -1, IDs: p.IDs, Features: []packed{}, Views: []viewData{},
		Must: list.add(links(p.Must)), Cannot: list.add(links(p.Cannot)),
		Violations: append([]Violation{}, violations...)}
	if p.Labels != nil {
		var of []uint32
		out.Names, of = numbered(p.Labels)
		out.Labels = list.add(func() any { return of })
		if last := len(out.Names) - 1; last >= 0 && out.Names[last] == "" {
			out.None, out.Names[last] = last, noLabel
		}
	}
	for _, f := range p.Features {
		out.Features = append(out.Features, list.quantized(f))
	}
	for _, v := range p.Views {
		d := viewData{Name: v.Name, XLabel: v.XLabel, YLabel: v.YLabel, X: list.add(single(v.X)),
			Y: list.add(single(v.Y)), NoScale: v.NoScale, Before: v.Before}
		if v.Near != nil {
			d.Nearest = v.Near.Count
			d.Near = list.add(func() any { return v.Near.Index })
			d.Far = list.add(single(v.Near.Distance))
		}
		if v.Clusters != nil {
			d.Clusters = list.add(func() any {
				of := make([]uint32, len(v.Clusters))
				for i, c := range v.Clusters {
					of[i] = uint32(c)
				}
				return of
			})
		}
		out.Views = append(out.Views, d)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return list.write(w, b)
}

// write writes the JSON of a payload with the arrays in base64.
func (a arrays) write(w io.Writer, b []byte) error {
	for {
		before, rest, more := bytes.Cut(b, []byte(arrayMark))
		if _, err := w.Write(before); err != nil || !more {
			return err
		}
		number, after, _ := bytes.Cut(rest, []byte("]"))
		k, err := strconv.Atoi(string(number))
		if err != nil {
			return err
		}
		_, begun := io.WriteString(w, `"`)
		encoder := base64.NewEncoder(base64.StdEncoding, w)
		written := binary.Write(encoder, binary.LittleEndian, a[k-1]())
		closed := encoder.Close()
		_, ended := io.WriteString(w, `"`)
		if err := errors.Join(begun, written, closed, ended); err != nil {
			return err
		}
		b = after
	}
}

// numbered returns the different labels in the order of a picture's legend, and the number of each.
func numbered(labels []string) (names []string, of []uint32) {
	names = Scatter{Groups: labels}.names()
	number := make(map[string]uint32, len(names))
	for k, name := range names {
		number[name] = uint32(k)
	}
	of = make([]uint32, len(labels))
	for i, l := range labels {
		of[i] = number[l]
	}
	return names, of
}

// quantized stores a feature with 16 bits for each value.
func (a *arrays) quantized(f Feature) packed {
	out := packed{Name: f.Name}
	if len(f.Values) == 0 {
		return out
	}
	out.Min, out.Max = slices.Min(f.Values), slices.Max(f.Values)
	out.Q = a.add(func() any {
		q := make([]uint16, len(f.Values))
		if half := out.Max/2 - out.Min/2; half > 0 { // halves: the difference may overflow
			for i, v := range f.Values {
				q[i] = uint16(math.Round((v/2 - out.Min/2) / half * math.MaxUint16))
			}
		}
		return q
	})
	return out
}

// single rounds coordinates to single precision, after scaling them into its range.
func single(values []float64) func() any {
	return func() any {
		most := 0.0
		for _, v := range values {
			most = max(most, math.Abs(v))
		}
		unit := 1.0
		if most > 1e30 || most < 1e-30 && most > 0 {
			unit = most
		}
		out := make([]float32, len(values))
		for i, v := range values {
			out[i] = float32(v / unit)
		}
		return out
	}
}

func links(list [][2]int) func() any {
	return func() any {
		flat := make([]uint32, 0, 2*len(list))
		for _, l := range list {
			flat = append(flat, uint32(l[0]), uint32(l[1]))
		}
		return flat
	}
}
