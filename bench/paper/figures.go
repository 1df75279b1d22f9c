package paper

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/view"
)

// Figure is one figure of a paper, with the function that computes and draws it.
type Figure struct {
	Name    string   `json:"name"` // its name on the command line: "tsang-fig3"
	Paper   string   `json:"paper"`
	Label   string   `json:"label"` // its number in the paper: "Figure 3"
	Caption string   `json:"caption"`
	Setup   []string `json:"setup"`
	// Differences describes where the set-up differs from the paper or fills a gap in what we know
	// of it.
	Differences []string `json:"deviations"`
	// Data names the files that the figure reads from the folder of data sets.
	Data []string `json:"data,omitempty"`
	// Compared, if not nil, compares printed numbers of the figure with ours.
	Compared func(d *Drawing) []Comparison `json:"-"`
	// Claims, Tried and Partial are as in [Table].
	Claims  func(d *Drawing) []Claim `json:"-"`
	Tried   []string                 `json:"-"`
	Partial map[string]string        `json:"-"`
	// Draw computes the drawing. Its randomness depends on the seed alone, its times on the
	// machine.
	Draw func(ctx context.Context, eng *engine.Engine, s Sketch) (*Drawing, error) `json:"-"`

	numbers *printed.Numbers // nil: those of the program
}

// Sketch is the input of a figure.
type Sketch struct {
	Seed     uint64
	Data     string // folder of the data sets, needed by figures with Data
	Progress algorithms.ProgressFunc
}

// Drawing is a figure with the numbers behind it.
type Drawing struct {
	Figure  Figure       `json:"figure"`
	Seed    uint64       `json:"seed"`
	Columns []string     `json:"columns"`
	Rows    [][]float64  `json:"rows"`  // one value for each column
	Notes   []string     `json:"notes"` // a summary of the numbers
	Build   Build        `json:"build"`
	Seconds float64      `json:"seconds"` // wall time
	Panels  []view.Panel `json:"-"`
	Across  int          `json:"-"` // panels side by side, 0 for all of them
}

// Figures returns all figures, in the order in which they are listed.
func Figures() []Figure {
	return []Figure{tsangFigure1(), tsangFigure2(), tsangFigure3(), yeungFigure1(), yeungFigure2(),
		soleymaniFigure1(), huFigure1(), huTable5(), huFigureGrowth(), luFigure4(), luFigure5()}
}

// LookupFigure returns the figure of that name, or a *fault.ParamError with the nearest one.
func LookupFigure(name string) (Figure, error) {
	var names []string
	for _, f := range Figures() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Figure{}, fault.Unknown("figure", name, names)
}

// Make computes the figure.
func (f Figure) Make(ctx context.Context, eng *engine.Engine, s Sketch) (*Drawing, error) {
	if err := checkData(f.Data, s.Data, "figure "+f.Name); err != nil {
		return nil, err
	}
	start := time.Now()
	d, err := f.Draw(ctx, eng, s)
	if err != nil {
		return nil, err
	}
	d.Figure, d.Seed, d.Build, d.Seconds = f, s.Seed, DescribeBuild(eng, 1), time.Since(start).Seconds()
	return d, nil
}

// WriteCSV writes the numbers of the drawing with 17 significant digits.
func (d *Drawing) WriteCSV(w io.Writer) error {
	text := []byte{}
	for j, c := range d.Columns {
		if j > 0 {
			text = append(text, ',')
		}
		text = append(text, c...)
	}
	text = append(text, '\n')
	for _, row := range d.Rows {
		for j, v := range row {
			if j > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendFloat(text, v, 'g', 17, 64)
		}
		text = append(text, '\n')
	}
	_, err := w.Write(text)
	return err
}

// Markdown returns a page about the drawing: a summary of its numbers, the numbers if they are few,
// the set-up, and the build.
func (d *Drawing) Markdown() string {
	var b strings.Builder
	f := d.Figure
	fmt.Fprintf(&b, "# %s: %s\n\n", escape(f.Name), escape(f.Caption))
	fmt.Fprintf(&b, "%s of %s\n\n", escape(f.Label), escape(f.Paper))
	const few = 40
	if len(d.Rows) <= few {
		b.WriteString("|")
		for _, c := range d.Columns {
			fmt.Fprintf(&b, " %s |", escape(c))
		}
		b.WriteString("\n|" + strings.Repeat(" ---: |", len(d.Columns)) + "\n")
		for _, row := range d.Rows {
			b.WriteString("|")
			for _, v := range row {
				fmt.Fprintf(&b, " %.4g |", v)
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	notes(&b, "Summary", d.Notes)
	e := d.Entry()
	otherNumbers(&b, "Printed numbers", e.Comparisons)
	claims(&b, e.Claims)
	notes(&b, "Set-up", f.Setup)
	notes(&b, "Differences from the paper", f.Differences)
	notes(&b, "Where our numbers differ, and what was tried", f.Tried)
	data := ""
	if len(f.Data) > 0 {
		data = " --data DIR"
	}
	fmt.Fprintf(&b, "## Made with\n\n    mustlink-bench paper %s --seed %d%s -o FILE.md\n\n- Date: %s\n"+
		"- Build: %s\n", f.Name, d.Seed, data, today(), escape(d.Build.String()))
	return b.String()
}
