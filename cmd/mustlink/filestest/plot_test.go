package filestest

import (
	"image/png"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// TestPlot: learned and raw points become pictures of every format, with the same bytes each time.
func TestPlot(t *testing.T) {
	dir := commandtest.WithModel(t)
	for _, line := range []string{
		"plot model.mlk -i data.csv -c links.csv -o %",
		"plot model.mlk -i data.csv --dims 1,0 --title learned --no-legend -o %",
		"plot model.mlk -i data.csv -c links.csv --before -o %",
		"plot -i data.csv -c links.csv --standardize --width 5 --height 3 -o %",
		"plot -i data.csv --dims 0,2 -o %",
	} {
		for _, name := range []string{"p.png", "p.svg", "p.pdf"} {
			commandtest.RunOK(t, dir, strings.ReplaceAll(line, "%", name))
			first := clitest.Read(t, dir, name)
			commandtest.RunOK(t, dir, strings.ReplaceAll(line, "%", name)+" --workers 1")
			if first != clitest.Read(t, dir, name) {
				t.Errorf("%s, %s: the bytes differ in a second run", line, name)
			}
		}
	}
	if svg := clitest.Read(t, dir, "p.svg"); !strings.Contains(svg, ">f0<") ||
		!strings.Contains(svg, ">f2<") {
		t.Error("the axes do not bear the names of the features")
	}
	commandtest.RunOK(t, dir, "plot -i data.csv --width 5 --height 3 --dpi 60 -o p.png")
	if c, err := png.DecodeConfig(strings.NewReader(clitest.Read(t, dir, "p.png"))); err != nil ||
		c.Width != 300 || c.Height != 180 {
		t.Errorf("%d x %d, error %v: want 300 x 180", c.Width, c.Height, err)
	}
	commandtest.RunOK(t, dir, "plot model.mlk -i data.csv --before --width 5 --height 3 --dpi 60 -o p.png")
	if c, err := png.DecodeConfig(strings.NewReader(clitest.Read(t, dir, "p.png"))); err != nil ||
		c.Width != 600 || c.Height != 180 {
		t.Errorf("both pictures: %d x %d, error %v: want 600 x 180", c.Width, c.Height, err)
	}
	r := clitest.Parse(t,
		commandtest.RunOK(t, dir, "plot -i data.csv -c links.csv --max-links 2 -o p.svg --json").Stdout)
	if r["must_links_drawn"] != 2.0 || r["cannot_links_drawn"] != 1.0 || len(r["warnings"].([]any)) != 1 {
		t.Errorf("report %v: want 2 must-links, 1 cannot-link and a warning", r)
	}
	if svg := clitest.Read(t, dir, "p.svg"); !strings.Contains(svg, ">must-link (2 of ") {
		t.Error("the legend does not say that links were left out")
	}
}

// TestPlotFormats: --format is that of a picture on a stream or with an unknown extension, or else
// that of data on a stream.
func TestPlotFormats(t *testing.T) {
	dir := commandtest.WithModel(t)
	for line, begin := range map[string]string{
		"plot -i data.csv -o -":                    "\x89PNG",
		"plot -i data.csv --format svg -o -":       "<?xml",
		"plot -i data.csv --format pdf -o -":       "%PDF",
		"plot -i - --format csv -o - < data.csv":   "\x89PNG",
		"plot -i - --format svg -o - < data.csv":   "<?xml",
		"plot -i data.csv --format pdf -o odd.out": "%PDF",
		"plot -i data.csv --format pdf -o odd.svg": "<?xml",
	} {
		line, from, redirected := strings.Cut(line, " < ")
		input := ""
		if redirected {
			input = clitest.Read(t, dir, from)
		}
		o := commandtest.RunWith(t, dir, input, line)
		got := o.Stdout
		if name, ok := strings.CutPrefix(line[strings.LastIndex(line, " ")+1:], "odd"); ok {
			got = clitest.Read(t, dir, "odd"+name)
		}
		if o.Code != 0 || !strings.HasPrefix(got, begin) {
			t.Errorf("%s: exit code %d, picture begins %.10q: want %q", line, o.Code, got, begin)
		}
	}
}

// TestPlotAxes: more than two coordinates are shown in a neighbor embedding, or with --plane in
// their principal plane, learned or raw, unless --dims names two; two are shown as they are.
func TestPlotAxes(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "two.csv", "width,height\n1,2\n3,5\n4,4\n")
	clitest.Write(t, dir, "one.csv", "width\n1\n3\n")
	for line, want := range map[string]string{
		"plot model.mlk -i data.csv": "neighbor embedding, direction 1|neighbor " +
			"embedding, direction 2",
		"plot -i data.csv": "neighbor embedding, direction 1|neighbor " +
			"embedding, direction 2",
		"plot model.mlk -i data.csv --plane components": "first principal component (",
		"plot -i data.csv --plane components":           "first principal component (",
		"plot model.mlk -i data.csv --dims 1,0":         "coordinate 1|coordinate 0",
		"plot -i data.csv --dims 2,0":                   "f2|f0",
		"plot -i two.csv":                               "width|height",
		"plot -i two.csv --dims 1,0":                    "height|width",
		"plot -i one.csv":                               "width|",
	} {
		r := clitest.Parse(t, commandtest.RunOK(t, dir, line+" -o p.svg --json").Stdout)
		axes := r["axes"].([]any)
		if got := axes[0].(string) + "|" + axes[1].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s: axes %q: want %q", line, got, want)
		}
	}
}

// TestPlotLinks: chunklets are stars, and contradicting links cause a warning.
func TestPlotLinks(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "chunklets.csv", "i,chunklet\n0,a\n1,a\n2,a\n5,b\n6,b\n7,c\n")
	clitest.Write(t, dir, "odd.csv", "i,j,link\n0,1,must\n1,2,must\n0,2,cannot\n")
	r := clitest.Parse(t,
		commandtest.RunOK(t, dir, "plot -i data.csv -c chunklets.csv -o p.svg --json").Stdout)
	if r["must_links_drawn"] != 4.0 || r["chunklets_drawn"] != 0.0 {
		t.Errorf("report %v: want the 4 pairs of the chunklets", r)
	}
	r = clitest.Parse(t,
		commandtest.RunOK(t, dir, "plot -i data.csv -c chunklets.csv --chunklets -o p.svg --json").Stdout)
	if r["must_links_drawn"] != 0.0 || r["chunklets_drawn"] != 2.0 {
		t.Errorf("report %v: want the 2 chunklets of more than one row", r)
	}
	if svg := clitest.Read(t, dir, "p.svg"); !strings.Contains(svg, ">chunklet (2)<") {
		t.Error("the legend does not count the chunklets")
	}
	o := commandtest.RunOK(t, dir, "plot -i data.csv -c odd.csv -o p.svg")
	if !strings.Contains(o.Stderr, "odd.csv: ") || !strings.Contains(o.Stderr, "cannot-link") {
		t.Errorf("standard error %q: want a warning on links that contradict each other", o.Stderr)
	}
	pictures := map[string]bool{}
	for seed := range 8 {
		line := "plot -i data.csv -c chunklets.csv --max-links 1 -o p.svg --seed " + strconv.Itoa(seed)
		if o := commandtest.RunOK(t, dir, line); !strings.Contains(o.Stderr,
			"1 of 4 must-links drawn: --max-links") {
			t.Errorf("standard error %q: want a warning on links left out", o.Stderr)
		}
		pictures[clitest.Read(t, dir, "p.svg")] = true
	}
	if len(pictures) < 2 || len(pictures) > 4 {
		t.Errorf("8 seeds give %d pictures with 1 of 4 links: want 2 to 4", len(pictures))
	}
}

func TestPlotBadInput(t *testing.T) {
	dir := commandtest.WithModel(t)
	clitest.Write(t, dir, "gram.csv", "a,b\n1,0\n0,1\n")
	clitest.Write(t, dir, "s.fasta", ">a\nACDE\n")
	before := clitest.Names(t, dir)
	for line, words := range map[string][]string{
		"plot -i data.csv -o p.gif":                               {"p.gif", ".png, .svg, .pdf"},
		"plot -i data.csv":                                        {"--output"},
		"plot -i data.csv --dims 0 -o p.png":                      {"--dims", "two"},
		"plot -i data.csv --before -o p.png":                      {"--before", "MODEL"},
		"plot model.mlk -i data.csv --before --dims 0,1 -o p.png": {"--before", "--dims"},
		"plot model.mlk -i s.fasta --before -o p.png":             {"--before", "coordinates"},
		"plot -i data.csv --dims 0,7 -o p.png":                    {"coordinate 7", "0 to 2"},
		"plot -i data.csv --width 0.1 -o p.png":                   {"--width", "0.1"},
		"plot -i data.csv --dpi 1 -o p.png":                       {"--dpi"},
		"plot -i data.csv --max-links -1 -o p.png":                {"--max-links"},
		"plot -i data.csv --dims 1,1 -o p.png":                    {"--dims", "different"},
		"plot -i data.csv --format gif -o -":                      {"--format", "gif", "png, svg, pdf"},
		"plot -i data.csv --dpi 1200 --width 90 -o p.png":         {"--dpi", "at most"},
		"plot -i data.csv --chunklets -o p.png":                   {"--chunklets", "-c"},
		"plot -i s.fasta -o p.png":                                {"sequences", "fit a model and pass it"},
		"plot -i gram.csv --gram -o p.png":                        {"--gram", "fit a model and pass it"},
		"plot model.mlk -i data.csv --standardize -o p.png":       {"--standardize"},
		"plot model.mlk -i gram.csv -o p.png":                     {"gram.csv", `"f0"`},
		"plot -i data.csv -c links.csv -o links.csv":              {"links.csv"},
		"plot -i data.csv -o no/such/folder/p.png":                {"no/such/folder"},
		"plot -i data.csv --point-size -2 -o p.png":               {"--point-size"},
		"plot model.mlk -i data.csv -c missing.csv -o p.png":      {"missing.csv"},
		"plot model.mlk -i data.csv --labels links.csv -o p.png":  {"label"},
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, words...)
	}
}

// --spectrum draws the curves of a model that has some, without data.
func TestPlotSpectrum(t *testing.T) {
	dir := commandtest.WithModel(t)
	commandtest.RunOK(t, dir, "fit -m kbeta -i data.csv -c links.csv -p neighbors=2 -o kbeta.mlk")
	commandtest.RunOK(t, dir, "plot kbeta.mlk --spectrum -o s.svg")
	first := clitest.Read(t, dir, "s.svg")
	for _, name := range []string{"eigenvalue mu", "weight beta", "direction",
		"spectrum of the kbeta model"} {
		if !strings.Contains(first, ">"+name+"<") {
			t.Errorf("the picture does not say %q", name)
		}
	}
	if r := clitest.Parse(t,
		commandtest.RunOK(t, dir,
			"plot kbeta.mlk --spectrum -o s.png --json").Stdout); len(r["curves"].([]any)) < 2 {
		t.Errorf("report %v: want curves", r)
	}
	for line, want := range map[string]string{
		"plot model.mlk --spectrum -o s.svg":             "no spectrum",
		"plot --spectrum -o s.svg":                       "want MODEL",
		"plot kbeta.mlk --spectrum -i data.csv -o s.svg": "neither",
		"plot kbeta.mlk --spectrum":                      "--output",
	} {
		if o := commandtest.Run(t, dir, line); o.Code != 2 || !strings.Contains(o.Stderr, want) {
			t.Errorf("%s: exit code %d, %q: want 2 and %q", line, o.Code, o.Stderr, want)
		}
	}
}

// --curve draws objectives, ROC curves and recall, of several models and of raw points.
func TestPlotCurve(t *testing.T) {
	dir := t.TempDir()
	commandtest.WriteRings(t, dir)
	commandtest.RunOK(t, dir, "fit -q -m krca -i rings.csv -c links.csv -o krca")
	commandtest.RunOK(t, dir, "fit -q -m mmc -i rings.csv -c links.csv -o mmc")
	commandtest.RunOK(t, dir, "fit -q -m npkl -i rings.csv -c links.csv -o npkl")
	commandtest.RunOK(t, dir, "plot mmc npkl --curve trace -o t.svg")
	for _, want := range []string{">mmc<", ">npkl<", ">iteration<"} {
		if !strings.Contains(clitest.Read(t, dir, "t.svg"), want) {
			t.Errorf("no %s in the traces", want)
		}
	}
	r := clitest.Parse(t,
		commandtest.RunOK(t, dir, "plot krca mmc -i rings.csv --curve roc -o r.svg --json").Stdout)
	curves := r["curves"].([]any)
	if len(curves) != 3 || !strings.HasPrefix(curves[1].(string), "krca (AUC 1.000)") {
		t.Errorf("curves %v: want krca to distinguish all pairs", curves)
	}
	commandtest.RunOK(t, dir, "plot krca -i rings.csv --curve recall --title found -o k.png")
	before := clitest.Names(t, dir)
	for line, words := range map[string][]string{
		"plot krca --curve luck -o x.svg":                      {"luck", "roc"},
		"plot krca --curve roc":                                {"output"},
		"plot krca --curve roc -o x.svg":                       {"-i"},
		"plot --curve trace -o x.svg":                          {"MODEL"},
		"plot krca --curve trace -o x.svg":                     {"krca", "trace"},
		"plot krca -i links.csv --curve roc -o x.svg":          {"links.csv"},
		"plot krca -i rings.csv --before --curve roc -o x.svg": {"--curve"},
		"plot krca mmc -i rings.csv -o x.svg":                  {"one MODEL"},
	} {
		commandtest.WantInputError(t, dir, commandtest.Run(t, dir, line), before, words...)
	}
}
