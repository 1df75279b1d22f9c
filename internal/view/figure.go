package view

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/mustlink/mustlink/engine/fault"
)

// Formats returns the formats of pictures, which are also their extensions.
func Formats() []string { return []string{"png", "svg", "pdf"} }

// FormatOf returns the format that a path's extension names, or a *fault.ParamError that
// lists the choices.
func FormatOf(path string) (string, error) {
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if !slices.Contains(Formats(), format) {
		return "", &fault.ParamError{Param: "picture", Value: path, Want: "a name that ends in ." +
			strings.Join(Formats(), ", .")}
	}
	return format, nil
}

// Size is the size of a picture. The zero value puts all panels side by side, each 5 inches wide
// and 4 inches high, with 150 dots per inch.
type Size struct {
	Width, Height float64 // inches, 1 to 100
	DPI           int     // dots per inch of a PNG, 20 to 1200; at most 1e8 dots in all
	Columns       int     // panels side by side, others follow below; 0 for all of them
}

// Check returns the *fault.ParamError that [Write] would return for the size.
func (s Size) Check() error {
	_, err := s.fill(1)
	return err
}

func (s Size) fill(panels int) (Size, error) {
	if s.Columns < 0 {
		return s, fault.Param("columns", s.Columns, "a number >= 0")
	}
	s.Columns = max(1, min(cmp.Or(s.Columns, panels), panels))
	rows := (panels + s.Columns - 1) / s.Columns
	s.Width, s.Height, s.DPI = cmp.Or(s.Width, 5*float64(s.Columns)),
		cmp.Or(s.Height, 4*float64(max(1, rows))), cmp.Or(s.DPI, 150)
	for _, side := range []struct {
		name  string
		value float64
	}{{"width", s.Width}, {"height", s.Height}} {
		if !(side.value >= 1 && side.value <= 100) {
			return s, fault.Param(side.name, side.value, "1 to 100 inches")
		}
	}
	const most = 1e8
	if s.DPI < 20 || s.DPI > 1200 {
		return s, fault.Param("dpi", s.DPI, "20 to 1200")
	}
	if limit := math.Sqrt(most / (s.Width * s.Height)); float64(s.DPI) > limit {
		return s, fault.Param("dpi", s.DPI, "at most %.0f for %v x %v inches", math.Floor(limit), s.Width,
			s.Height)
	}
	return s, nil
}

// Panel is one drawing of a figure: a [Scatter], [Lines] or [Drawing].
type Panel interface {
	// plot returns the drawing without its legend.
	plot() (*plot.Plot, error)
	// legend returns the explanation of the drawing.
	legend() legend
	// settle adapts the axes to the area of the data.
	settle(p *plot.Plot, c draw.Canvas)
}

// Drawing is a panel that its caller draws, without a legend: a function that returns it, begun by
// [NewPlot].
type Drawing func() (*plot.Plot, error)

func (d Drawing) plot() (*plot.Plot, error)    { return d() }
func (Drawing) legend() legend                 { return legend{} }
func (Drawing) settle(*plot.Plot, draw.Canvas) {}

// Write draws panels side by side, in rows if the size says so, each with its legend to the right
// unless the legend would take more than half of the panel. Coordinates that are not finite are a
// *fault.DataError, an unknown format and impossible sizes a *fault.ParamError; then nothing is
// written. A PDF shows "?" for letters that its typeface lacks (those outside Windows-1252). The
// first PDF of a process requires some room in the folder for temporary files.
func Write(w io.Writer, format string, size Size, panels ...Panel) (err error) {
	size, err = size.fill(len(panels))
	if err != nil {
		return err
	}
	defer recoverTypefaces(&err)
	canvas, err := newCanvas(format, size)
	if err != nil {
		return err
	}
	page := draw.New(canvas)
	page.SetColor(white)
	page.Fill(page.Rectangle.Path())
	rows := (len(panels) + size.Columns - 1) / size.Columns
	width, height := page.Size().X/vg.Length(size.Columns), page.Size().Y/vg.Length(max(1, rows))
	for i, panel := range panels {
		left, top := page.Min.X+vg.Length(i%size.Columns)*width, page.Max.Y-vg.Length(i/size.Columns)*height
		area := draw.Canvas{Canvas: page.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: top - height},
			Max: vg.Point{X: left + width, Y: top},
		}}
		const margin = 8 // points
		if err := drawPanel(panel, draw.Crop(area, margin, -margin, margin, -margin)); err != nil {
			return err
		}
	}
	_, err = canvas.WriteTo(w)
	return err
}

// drawPanel draws the panel with its legend to the right of it.
func drawPanel(panel Panel, area draw.Canvas) error {
	p, err := panel.plot()
	if err != nil {
		return err
	}
	room := area.Size()
	legend := panel.legend().fit(room)
	const gap = 10
	if width := legend.width(); width > 0 {
		area = draw.Crop(area, 0, -width-gap, 0, 0)
	}
	fitText(&p.Title.Text, &p.Title.TextStyle, area.Size().X)
	axes := p.DataCanvas(area).Size().Scale(0.95)
	const part = 0.7 // of the area at least: the ticks that take room now may be dropped
	axes.X, axes.Y = max(axes.X, part*area.Size().X), max(axes.Y, part*area.Size().Y)
	fitText(&p.X.Label.Text, &p.X.Label.TextStyle, axes.X)
	fitText(&p.Y.Label.Text, &p.Y.Label.TextStyle, axes.Y)
	panel.settle(p, area)
	thin(&p.X, p.DataCanvas(area).Size().X)
	p.Draw(area)
	legend.draw(area, vg.Point{X: area.Max.X + gap, Y: p.DataCanvas(area).Max.Y})
	return nil
}

// thin removes the labels of every other tick of a horizontal axis until they do not touch.
func thin(a *plot.Axis, length vg.Length) {
	if a.Tick.Label.Rotation != 0 {
		return
	}
	ticks := slices.Clone(a.Tick.Marker.Ticks(a.Min, a.Max))
	for crowded(ticks, a, length) {
		drop := false
		for k := range ticks {
			if ticks[k].Label == "" {
				continue
			}
			if drop {
				ticks[k].Label = ""
			}
			drop = !drop
		}
		a.Tick.Marker = plot.ConstantTicks(ticks)
	}
}

// crowded reports whether two neighboring labels touch.
func crowded(ticks []plot.Tick, a *plot.Axis, length vg.Length) bool {
	const gap = 3 // points
	end := vg.Length(math.Inf(-1))
	for _, t := range ticks {
		if t.Label == "" {
			continue
		}
		at, half := length*vg.Length(a.Norm(t.Value)), a.Tick.Label.Width(t.Label)/2
		if at-half < end+gap {
			return true
		}
		end = at + half
	}
	return false
}

// NewPlot returns an empty drawing in the common style.
func NewPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = Clean(title), Clean(x), Clean(y)
	setFont(&p.Title.TextStyle, 11)
	p.Title.Padding = 5
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		setFont(&axis.Label.TextStyle, 10)
		setFont(&axis.Tick.Label, 9)
		axis.Label.Padding = 3
		axis.Padding = 0
		axis.Tick.Length = 4
		axis.LineStyle.Width, axis.Tick.LineStyle.Width = 0.6, 0.6
		axis.Tick.Marker = roundTicks{}
	}
	p.Add(grid{})
	return p
}

func setFont(s *text.Style, size font.Length) { s.Font.Size, s.Font.Variant = size, "Sans" }

// Clean removes what would break a picture from a text: control characters, bytes that are not
// UTF-8, and the two letters that XML forbids.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case r == 0xFFFE || r == 0xFFFF:
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// fitText makes a text as small as its room requires, down to a readable size. A longer one gets
// two lines, and is cut only if these are too long as well.
func fitText(s *string, style *text.Style, room vg.Length) {
	const least = 8
	for style.Font.Size > least && style.Width(*s) > room {
		style.Font.Size -= 0.5
	}
	if style.Width(*s) <= room {
		return
	}
	words := strings.Fields(*s)
	first := 0
	for first < len(words) && style.Width(strings.Join(words[:first+1], " ")) <= room {
		first++
	}
	if first == 0 {
		elide(s, *style, room)
		return
	}
	second := strings.Join(words[first:], " ")
	elide(&second, *style, room)
	*s = strings.Join(words[:first], " ") + "\n" + second
}

// elide cuts a text that is longer than its room.
func elide(s *string, style text.Style, room vg.Length) {
	runes := []rune(*s)
	for n := len(runes) - 1; n >= 0 && style.Width(*s) > room; n-- {
		*s = string(runes[:n]) + "…"
	}
}

// largest is the maximum absolute coordinate: differences of coordinates must not overflow.
const largest = 1e300

// CheckFinite returns a *fault.DataError for the first value that cannot be drawn.
func CheckFinite(column string, values []float64) error {
	for i, v := range values {
		if !(math.Abs(v) <= largest) {
			return fault.Cell(i, column, "coordinate is %v: want a number from %g to %g", v, -largest,
				largest)
		}
	}
	return nil
}

// Extent returns the range of values with a margin. The range is wide enough to divide by it and to
// have ticks.
func Extent(values []float64) (lo, hi float64) {
	if len(values) == 0 {
		return 0, 1
	}
	lo, hi = slices.Min(values), slices.Max(values)
	size := max(math.Abs(lo), math.Abs(hi))
	if hi-lo <= max(1e-9*size, 1e-290) {
		margin := max(0.5*size, 0.5)
		return lo - margin, hi + margin
	}
	margin := 0.04 * (hi - lo)
	return lo - margin, hi + margin
}

// canvas is the surface of a picture, which also writes its file.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

func newCanvas(format string, s Size) (canvas, error) {
	w, h := vg.Length(s.Width)*vg.Inch, vg.Length(s.Height)*vg.Inch
	switch format {
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(s.DPI))}, nil
	case "svg":
		return vgsvg.New(w, h), nil
	case "pdf":
		timeless()
		return pdf{vgpdf.New(w, h)}, nil
	}
	return nil, fault.Unknown("format of the picture", format, Formats())
}

// pdf is a canvas that supports translucent colors and any text. The plotting library writes the
// components of a color and its opacity separately, so the components must not be multiplied by the
// opacity. It also writes the bytes of a text unchanged, so they must be in the code page of the
// typeface.
type pdf struct{ *vgpdf.Canvas }

func (p pdf) SetColor(c color.Color) { p.Canvas.SetColor(straight(c)) }

func (p pdf) FillString(face font.Face, at vg.Point, s string) {
	p.Canvas.FillString(face, at, windows1252(s))
}

// recoverTypefaces turns a panic of the PDF canvas into an error. The canvas panics if it cannot
// prepare its typefaces in the folder for temporary files.
func recoverTypefaces(err *error) {
	v := recover()
	text, _ := v.(string)
	switch cause, ok := strings.CutPrefix(text, "vgpdf: could not generate font data for PDF: "); {
	case ok:
		*err = fmt.Errorf("preparing the typefaces of a PDF in the folder for temporary files: %s", cause)
	case v != nil:
		panic(v)
	}
}

// straightColor is a color whose components are not multiplied by its opacity.
type straightColor color.NRGBA

func straight(c color.Color) color.Color {
	if c == nil {
		c = color.Black
	}
	return straightColor(color.NRGBAModel.Convert(c).(color.NRGBA))
}

func (s straightColor) RGBA() (r, g, b, a uint32) {
	const scale = 0x101
	return uint32(s.R) * scale, uint32(s.G) * scale, uint32(s.B) * scale, uint32(s.A) * scale
}

// timeless gives PDF files a fixed date and sorted dictionaries, so that the same figure has the
// same bytes. The PDF library only has a default for all documents.
var timeless = sync.OnceFunc(func() {
	fpdf.SetDefaultCatalogSort(true)
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
})

// windows1252Extra are the characters of the code page from 0x80 to 0x9f, "?" where it has none.
// Other bytes are the characters of the same number.
const windows1252Extra = "€?‚ƒ„…†‡ˆ‰Š‹Œ?Ž??‘’“”•–—˜™š›œ?žŸ"

// windows1252 encodes a text in the code page, with "?" for characters that it lacks.
func windows1252(s string) string {
	extra := []rune(windows1252Extra)
	var out []byte
	for _, r := range s {
		b := byte('?')
		if r < 0x80 || r >= 0xa0 && r <= 0xff {
			b = byte(r)
		} else if i := slices.Index(extra, r); i >= 0 {
			b = byte(0x80 + i)
		}
		out = append(out, b)
	}
	return string(out)
}

// inline returns an SVG document as an element: without the declaration and the document type
// before it.
func inline(svg []byte) []byte {
	if at := bytes.Index(svg, []byte("<svg")); at >= 0 {
		return svg[at:]
	}
	return nil
}
