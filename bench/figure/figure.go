package figure

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
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
		return "", &fault.ParamError{Param: "picture", Value: path, Want: "a name that ends in ." + strings.Join(Formats(), ", .")}
	}
	return format, nil
}

// Size is the size of a picture. The zero value is 5 inches a panel wide, 4 high, 150 dots an
// inch.
type Size struct {
	Width, Height float64 // inches, up to 100
	DPI           int     // of a PNG, 20 to 1200
}

func (s Size) fill(panels int) (Size, error) {
	s.Width, s.Height, s.DPI = cmp.Or(s.Width, 5*float64(panels)), cmp.Or(s.Height, 4), cmp.Or(s.DPI, 150)
	for _, side := range []struct {
		name  string
		value float64
	}{{"width", s.Width}, {"height", s.Height}} {
		if !(side.value >= 1 && side.value <= 100) {
			return s, &fault.ParamError{Param: side.name, Value: side.value, Want: "1 to 100 inches"}
		}
	}
	if s.DPI < 20 || s.DPI > 1200 {
		return s, &fault.ParamError{Param: "dpi", Value: s.DPI, Want: "20 to 1200"}
	}
	return s, nil
}

// Panel is one drawing of a figure: a [Scatter] or [Lines].
type Panel interface {
	// plot returns the drawing without its legend.
	plot() (*plot.Plot, error)
	// legend adds the entries of the legend, if there is to be one.
	legend(l *plot.Legend)
	// settle adapts the axes to the area that the data are drawn in.
	settle(p *plot.Plot, c draw.Canvas)
}

// Write draws panels side by side. Coordinates that are not finite are a *fault.DataError, an
// unknown format and impossible sizes a *fault.ParamError; then nothing is written.
func Write(w io.Writer, format string, size Size, panels ...Panel) error {
	size, err := size.fill(len(panels))
	if err != nil {
		return err
	}
	canvas, err := newCanvas(format, size)
	if err != nil {
		return err
	}
	page := draw.New(canvas)
	page.SetColor(white)
	page.Fill(page.Rectangle.Path())
	width := page.Size().X / vg.Length(max(1, len(panels)))
	for i, panel := range panels {
		area := draw.Canvas{Canvas: page.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: page.Min.X + vg.Length(i)*width, Y: page.Min.Y},
			Max: vg.Point{X: page.Min.X + vg.Length(i+1)*width, Y: page.Max.Y},
		}}
		const margin = 8 // points
		if err := drawPanel(panel, draw.Crop(area, margin, -margin, margin, -margin)); err != nil {
			return err
		}
	}
	_, err = canvas.WriteTo(w)
	return err
}

// canvas is what a picture is drawn on and written from.
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
		return vgpdf.New(w, h), nil
	}
	return nil, fault.Unknown("format of the picture", format, Formats())
}

// timeless makes PDF files carry a fixed date and sorted dictionaries: the same figure, the
// same bytes. The PDF library has only a default for all documents.
var timeless = sync.OnceFunc(func() {
	fpdf.SetDefaultCatalogSort(true)
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
})

// drawPanel draws the panel with its legend to the right of it.
func drawPanel(panel Panel, area draw.Canvas) error {
	p, err := panel.plot()
	if err != nil {
		return err
	}
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font.Size, legend.TextStyle.Font.Variant = 9, sans
	legend.Padding = 2
	legend.ThumbnailWidth = 14
	panel.legend(&legend)
	if width := legend.Rectangle(area).Size().X; width > 0 {
		const gap = 6
		area = draw.Crop(area, 0, -width-gap, 0, 0)
		side := area
		side.Min.X, side.Max.X = area.Max.X+gap, area.Max.X+gap+width
		defer legend.Draw(side)
	}
	panel.settle(p, area)
	p.Draw(area)
	return nil
}

// sans is the typeface of all text.
const sans font.Variant = "Sans"

// newPlot returns an empty drawing in the common style.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size, p.Title.TextStyle.Font.Variant = 11, sans
	p.Title.Padding = 4
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size, axis.Label.TextStyle.Font.Variant = 10, sans
		axis.Label.Padding = 3
		axis.Tick.Label.Font.Size, axis.Tick.Label.Font.Variant = 9, sans
		axis.Padding = 2
	}
	return p
}

// checkFinite returns a DataError for the first value that is not a number or infinite.
func checkFinite(column string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &fault.DataError{Row: i, Column: column, Err: fmt.Errorf("coordinate is %v: want a finite number", v)}
		}
	}
	return nil
}
