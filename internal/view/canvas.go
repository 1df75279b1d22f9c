package view

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/mustlink/mustlink/engine/fault"
)

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
	switch v := recover().(type) {
	case nil:
	case string:
		cause, ok := strings.CutPrefix(v, "vgpdf: could not generate font data for PDF: ")
		if !ok {
			panic(v)
		}
		*err = fmt.Errorf("preparing the typefaces of a PDF in the folder for temporary files: %s", cause)
	default:
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
