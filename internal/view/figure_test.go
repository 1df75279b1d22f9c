package view

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// cloud returns n points in k groups with links.
func cloud(n, k int) Scatter {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	s := Scatter{Title: "title", XLabel: "first", YLabel: "second"}
	for i := range n {
		s.X, s.Y = append(s.X, r.NormFloat64()), append(s.Y, 10*r.NormFloat64())
		s.Groups = append(s.Groups, fmt.Sprint(i%max(1, k)))
	}
	for i := 0; i+1 < min(n, 20); i += 2 {
		s.Must = append(s.Must, [2]int{i, i + 1})
		s.Cannot = append(s.Cannot, [2]int{i, n - 1})
	}
	return s
}

func times() Lines {
	return Lines{Title: "times", LogX: true, LogY: true, Series: []Series{
		{Name: "ours", X: []float64{1, 10, 100}, Y: []float64{1, 2, 4}, Low: []float64{0.9, 1.8, 3.5},
			High: []float64{1.1, 2.2, 4.4}},
		{Name: "theirs", X: []float64{1, 10}, Y: []float64{5, 50}, Markers: true},
	}}
}

// The same figure has the same bytes in every format, and a picture has the requested size.
func TestDeterministic(t *testing.T) {
	for _, format := range Formats() {
		var first, second bytes.Buffer
		for _, w := range []io.Writer{&first, &second} {
			if err := Write(w, format, Size{Width: 7, Height: 3, DPI: 50}, cloud(50, 3),
				times()); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: two writings differ", format)
		}
		if format != "png" {
			continue
		}
		c, _, err := image.DecodeConfig(&first)
		if err != nil || c.Width != 350 || c.Height != 150 {
			t.Errorf("%d x %d, error %v: want 350 x 150", c.Width, c.Height, err)
		}
	}
}

// One unit has the same length on both axes, and every point is inside.
func TestEqualAspect(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		width := vg.Length(rapid.Float64Range(2, 15).Draw(rt, "width")) * vg.Inch
		height := vg.Length(rapid.Float64Range(2, 15).Draw(rt, "height")) * vg.Inch
		stretch := math.Pow(10, rapid.Float64Range(-4, 4).Draw(rt, "stretch"))
		shift := rapid.Float64Range(-100, 100).Draw(rt, "shift")
		s := cloud(30, 2)
		for i := range s.X {
			s.X[i] = s.X[i]*stretch + shift
		}
		p, err := s.plot()
		if err != nil {
			rt.Fatal(err)
		}
		c := draw.NewCanvas(new(recorder.Canvas), width, height)
		s.settle(p, c)
		room := p.DataCanvas(c).Size()
		ux, uy := (p.X.Max-p.X.Min)/float64(room.X), (p.Y.Max-p.Y.Min)/float64(room.Y)
		if math.Abs(ux/uy-1) > 1e-9 {
			rt.Fatalf("a point of paper is %v in x and %v in y: want the same", ux, uy)
		}
		for i := range s.X {
			if s.X[i] < p.X.Min || s.X[i] > p.X.Max || s.Y[i] < p.Y.Min || s.Y[i] > p.Y.Max {
				rt.Fatalf("point %d is outside", i)
			}
		}
	})
}

// Nothing to draw, one point, equal points, huge and tiny values, many groups: a picture.
func TestExtremes(t *testing.T) {
	one := Scatter{X: []float64{5}, Y: []float64{-3}}
	equal := Scatter{X: []float64{2, 2, 2}, Y: []float64{0, 0, 0}}
	large := Scatter{X: []float64{1e300, -1e300, 1}, Y: []float64{1e-300, 0, 2e-300}}
	near := Scatter{X: []float64{1, 1 + 1e-15}, Y: []float64{7, 7}}
	for name, panel := range map[string]Panel{
		"nothing": Scatter{}, "one": one, "equal": equal, "large": large, "near": near,
		"groups": cloud(300, 60), "many": cloud(20000, 3),
		"no lines": Lines{}, "one value": Lines{Series: []Series{{X: []float64{1}, Y: []float64{2}}}},
		"bars": Lines{LogX: true,
			Series: []Series{{X: []float64{1e-300, 1e300}, Y: []float64{1, 2}, Low: []float64{0, 1},
				High: []float64{2, 3}, Bars: true}}},
		"zeros": Scatter{X: []float64{0, 5e-324}, Y: []float64{0, 0}},
		"flat":  Lines{LogY: true, Series: []Series{{X: []float64{1, 2}, Y: []float64{3, 3}}}},
	} {
		for _, format := range Formats() {
			var b bytes.Buffer
			if err := Write(&b, format, Size{Width: 4, Height: 3, DPI: 40}, panel); err != nil ||
				b.Len() == 0 {
				t.Errorf("%s as %s: %d bytes, error %v", name, format, b.Len(), err)
			}
			if strings.Contains(b.String(), "NaN") {
				t.Errorf("%s as %s: NaN in the picture", name, format)
			}
		}
	}
}

func TestNames(t *testing.T) {
	s := Scatter{Groups: []string{"b", "NaN", "10", "9", "nan", "a", "10", "NaN", "9.0"}}
	if got := strings.Join(s.names(), " "); got != "NaN nan 9 9.0 10 a b" {
		t.Errorf("groups %q: want numbers by value, then names", got)
	}
}

func TestBadInput(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		format string
		size   Size
		panel  Panel
		word   string
	}{
		"format":   {"gif", Size{}, cloud(3, 1), "png"},
		"width":    {"png", Size{Width: 1000}, cloud(3, 1), "width"},
		"width is": {"png", Size{Width: math.NaN()}, cloud(3, 1), "NaN"},
		"dots":     {"png", Size{Width: 100, Height: 100, DPI: 600}, cloud(3, 1), "at most 100 for"},
		"height":   {"png", Size{Height: -1}, cloud(3, 1), "height"},
		"dpi":      {"png", Size{DPI: 5}, cloud(3, 1), "dpi"},
		"NaN":      {"png", Size{}, Scatter{X: []float64{1, nan}, Y: []float64{1, 1}}, "row 1"},
		"infinity": {"png", Size{}, Scatter{X: []float64{1}, Y: []float64{math.Inf(1)}}, "row 0"},
		"huge":     {"png", Size{}, Scatter{X: []float64{1}, Y: []float64{2e300}}, "column \"y\""},
		"tiny": {"png", Size{},
			Lines{LogX: true, Series: []Series{{X: []float64{1e-310}, Y: []float64{1}}}}, "1e-300"},
		"negative": {"png", Size{}, Scatter{X: []float64{1}, Y: []float64{1}, Cannot: [][2]int{{-1, 0}}},
			"-1"},
		"chunklet": {"png", Size{}, Scatter{X: []float64{1}, Y: []float64{1}, Chunklets: [][]int{{0, 3}}},
			"3"},
		"low": {"png", Size{},
			Lines{Series: []Series{{X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}}, "neither"},
		"lengths": {"png", Size{}, Scatter{X: []float64{1}}, "second"},
		"groups": {"png", Size{}, Scatter{X: []float64{1}, Y: []float64{1}, Groups: []string{"a", "b"}},
			"groups"},
		"link": {"png", Size{}, Scatter{X: []float64{1}, Y: []float64{1}, Must: [][2]int{{0, 1}}},
			"link"},
		"log": {"png", Size{},
			Lines{LogY: true, Series: []Series{{Name: "s", X: []float64{1}, Y: []float64{0}}}},
			"logarithmic"},
		"columns": {"png", Size{Columns: -1}, cloud(3, 1), "columns"},
		"drawing": {"png", Size{}, Drawing(func() (*plot.Plot, error) {
			return nil, CheckFinite("values of a", []float64{1, nan})
		}), "row 1"},
		"band": {"png", Size{},
			Lines{Series: []Series{{Name: "s", X: []float64{1}, Y: []float64{0}, Low: []float64{1, 2}}}},
			"low"},
	} {
		var b bytes.Buffer
		err := Write(&b, c.format, c.size, c.panel)
		if !fault.IsInput(err) || !strings.Contains(err.Error(), c.word) || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes: want one of bad input with %q and nothing written", name, err,
				b.Len(), c.word)
		}
	}
	if _, err := FormatOf("picture.gif"); !fault.IsInput(err) {
		t.Errorf("error %v: want one of bad input", err)
	}
	if f, err := FormatOf("a/B.PDF"); f != "pdf" || err != nil {
		t.Errorf("%q, error %v: want pdf", f, err)
	}
	broken := errors.New("full")
	if err := Write(failing{broken}, "svg", Size{}, cloud(3, 1)); !errors.Is(err, broken) {
		t.Errorf("error %v: want that of the writer", err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// Panels fill rows of the given length: a picture of five in rows of two has the size of six.
func TestRowsOfPanels(t *testing.T) {
	box := Drawing(func() (*plot.Plot, error) { return NewPlot("box", "x", "y"), nil })
	panels := []Panel{box, cloud(5, 2), box, times(), box}
	for columns, want := range map[int][2]int{0: {25 * 150, 4 * 150}, 2: {10 * 150, 12 * 150},
		9: {25 * 150, 4 * 150}} {
		var b bytes.Buffer
		if err := Write(&b, "png", Size{Columns: columns}, panels...); err != nil {
			t.Fatal(err)
		}
		c, err := png.DecodeConfig(&b)
		if err != nil || c.Width != want[0] || c.Height != want[1] {
			t.Errorf("rows of %d: %d x %d dots (error %v), want %d x %d", columns, c.Width, c.Height, err,
				want[0], want[1])
		}
	}
}

// TestWindows1252: letters, quotes and the euro have their numbers in the code page, and other
// characters become a question mark.
func TestWindows1252(t *testing.T) {
	if got, want := windows1252("aé€“Ÿ”\u0081 שλ?"), "a\xe9\x80\x93\x9f\x94? ???"; got != want {
		t.Errorf("%q: want %q", got, want)
	}
}

// Points without a group are last in the legend and gray, so that the markers of the groups are
// those of a picture without such points.
func TestUnlabeledPoints(t *testing.T) {
	s := Scatter{Groups: []string{"", "b", "1", "", "a"}, X: make([]float64, 5)}
	if got := s.names(); !slices.Equal(got, []string{"1", "a", "b", ""}) {
		t.Errorf("groups %q", got)
	}
	with, without := s.markers(), Scatter{Groups: []string{"b", "1", "a"}, X: s.X}.markers()
	for name, m := range without {
		if with[name] != m {
			t.Errorf("group %s: marker %+v, want %+v", name, with[name], m)
		}
	}
	if with[""].color != noGroup {
		t.Errorf("no group: marker %+v", with[""])
	}
	legend := s.legend().groups
	if text := legend[len(legend)-1].text; text != "no label (2)" {
		t.Errorf("the legend ends in %q", text)
	}
	p := Points{Count: 5, Labels: s.Groups}
	var b strings.Builder
	err := p.WritePayload(&b, nil)
	text := b.String()
	if err != nil || !strings.Contains(text, `"names":["1","a","b","no label"]`) ||
		!strings.Contains(text, `"none":3`) {
		t.Errorf("payload %s, error %v", text, err)
	}
}
