package browser

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/label"
)

// labeling is a session with its page. Row i belongs to class i mod 3.
type labeling struct {
	*browser
	session *label.Session
	server  string
	file    string
}

const nextCommand = "mustlink fit -i animals.csv -c 'my links.csv' -o model.mlk"

// hostile are names and texts that a page must show as they are.
var hostile = []string{`<img src=x onerror="window.broken=1">`, `</script><script>window.broken=1</script>`,
	"{{.}} ${1} `", "\u202e right to left", strings.Repeat("long", 300)}

// ask opens the page of a session on a table, with pictures and texts if wanted.
func ask(t testing.TB, file string, n int, rich bool) *labeling {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 4*n)
	names := make([]string, n)
	for i := range n {
		for k := range 4 {
			values[4*i+k] = rng.NormFloat64()
		}
		values[4*i] += 6 * float64(i%3)
		names[i] = fmt.Sprintf("item %d", i)
		if i < len(hostile) {
			names[i] = fmt.Sprintf("%d %s", i, hostile[i])
		}
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = values[4*i : 4*i+4]
	}
	table, err := mustlink.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := label.Options{Title: "Animals", Table: table, Coordinates: blas.MatrixOf(n, 4, values), Names: names,
		Columns: label.ColumnsOf(table.Data()), File: file, Fit: true, Method: "rca", Engine: eng, Seed: 1,
		Next:   nextCommand,
		People: []label.Person{{Key: "0123456789abcdef"}}}
	if strings.Contains(file, "people") {
		o.People = []label.Person{{Name: "ann", Key: "0123456789abcdef"},
			{Name: "ben", Key: "fedcba9876543210"}}
	}
	if rich {
		texts := []string{"the quick brown fox", "the slow brown dog <b>bold</b>", "a quick red hen"}
		o.Columns = append(o.Columns, label.Column{Name: "text", Kind: label.Text, Text: func(i int) string {
			return texts[i%3] + " number"
		}})
		sequences := []string{"MKVLAAGIVGLLQWERTY", "HHMKVLAAGIVGLLQPPRTY", "DDDEEEFFF"}
		o.Columns = append(o.Columns,
			label.Column{Name: "letters", Kind: label.Sequence, Text: func(i int) string {
				return sequences[i%3]
			}})
		o.Images = pictures(t, n)
	}
	s, err := label.New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.Close(); s.Close() })
	b := visit(t, redirect(t, server.URL+"/0123456789abcdef/"))
	b.do(t, chromedp.Poll(`document.querySelectorAll("#items .item").length === 2`, nil))
	return &labeling{b, s, server.URL, file}
}

// redirect returns the address of a file that leads to a page, as the command opens a browser.
func redirect(t testing.TB, address string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "redirect.html")
	if err := os.WriteFile(file, []byte(`<meta http-equiv="refresh" content="0;url=`+address+`">`),
		0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

// pictures writes a picture for every row; that of row 1 is an SVG with a script.
func pictures(t testing.TB, n int) *label.Images {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		m := image.NewRGBA(image.Rect(0, 0, 160, 120))
		for p := range 160 * 120 {
			m.Set(p%160, p/160, color.RGBA{uint8(80 * (i % 3)), uint8(p / 160), 120, 255})
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			fmt.Fprint(f, `<svg xmlns="http://www.w3.org/2000/svg" onload="window.broken=1"><script>window.broken=1</script></svg>`)
		} else if err := png.Encode(f, m); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	images, err := label.NewImages(dir, func(i int) string { return fmt.Sprint(i) })
	if err != nil {
		t.Fatal(err)
	}
	return images
}

// rows returns the rows of the question, by the pictures or the heading.
func (l *labeling) pair(t testing.TB) (i, j int) {
	t.Helper()
	names := value[[]string](t, l.browser,
		`[...document.querySelectorAll("#items h3")].map(e => e.textContent)`)
	for k, to := range []*int{&i, &j} {
		if _, err := fmt.Sscanf(strings.TrimPrefix(names[k], "item "), "%d", to); err != nil {
			t.Fatalf("the row of %q: %v", names[k], err)
		}
	}
	return i, j
}

// press presses a key and waits for the answer of the server.
func (l *labeling) press(t testing.TB, key string) {
	t.Helper()
	l.do(t, chromedp.KeyEvent(key), chromedp.Poll(`!document.body.hasAttribute("aria-busy")`, nil))
}

// lines returns the lines of the file of answers.
func (l *labeling) lines(t testing.TB) []string {
	t.Helper()
	b, err := os.ReadFile(l.file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")[1:]
}

// answer answers the question by the classes, and returns its key.
func (l *labeling) answer(t testing.TB) string {
	t.Helper()
	i, j := l.pair(t)
	key := "d"
	if i%3 == j%3 {
		key = "s"
	}
	l.press(t, key)
	return key
}

// TestLabelKeys: thirty answers by keys, each in the file when the next question is there; undo
// removes the last one and asks again; another session resumes; the fits draw a curve and a map; no
// text becomes a script, and there are no console messages and no requests to others.
func TestLabelKeys(t *testing.T) {
	for _, rich := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "links.csv")
		l := ask(t, file, 60, rich)
		for k := range 30 {
			l.answer(t)
			if got := len(l.lines(t)); got != k+1 {
				t.Fatalf("%d lines after %d answers", got, k+1)
			}
		}
		i, j := l.pair(t)
		before := l.lines(t)
		l.answer(t)
		l.press(t, "u")
		if a, b := l.pair(t); a != i || b != j ||
			strings.Join(l.lines(t), "\n") != strings.Join(before, "\n") {
			t.Errorf("after undo the question is %d, %d: want %d, %d; lines %d: want %d", a, b, i, j,
				len(l.lines(t)), len(before))
		}
		for _, line := range before {
			var i, j int
			var word string
			fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%d %d %s", &i, &j, &word)
			if want := map[bool]string{true: "must", false: "cannot"}[i%3 == j%3]; word != want {
				t.Errorf("line %q: want %s", line, want)
			}
		}
		l.do(t, chromedp.Poll(`document.querySelectorAll("#curve circle").length > 0`, nil),
			chromedp.Poll(`Number(document.getElementById("plot").dataset.painted) > 0 && Number(document.getElementById("plot").dataset.links) > 0`, nil))
		again := ask(t, file, 60, rich)
		if counts := value[string](t, again.browser,
			`document.getElementById("counts").textContent`); !strings.Contains(counts, "60 rows") ||
			len(again.lines(t)) != 30 {
			t.Errorf("resumed with %q", counts)
		}
		if value[bool](t, l.browser, `"broken" in window`) {
			t.Error("a text has become a script")
		}
		l.mu.Lock()
		for _, c := range l.complaints {
			if !rich || !strings.Contains(c, "404") { // the SVG
				t.Errorf("console message %q", c)
			}
		}
		for _, r := range l.requests {
			if !strings.HasPrefix(r, l.server) && !strings.HasSuffix(r, "/redirect.html") {
				t.Errorf("request %q", r)
			}
		}
		l.mu.Unlock()
	}
}

// TestLabelContradiction: an answer that contradicts others shows their path; one of them is
// withdrawn on the page, and the new answer is in the file.
func TestLabelContradiction(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.csv")
	if err := os.WriteFile(file, []byte("i,j,link\n9,12,must\n12,15,must\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := ask(t, file, 60, false)
	l.show(t, 9, 15)
	l.press(t, "d")
	l.do(t, chromedp.Poll(`!document.getElementById("settle").hidden`, nil))
	if path := value[[]string](t, l.browser,
		`[...document.querySelectorAll("#path li")].map(e => e.textContent)`); len(path) != 2 ||
		!strings.Contains(path[0], "item 9 and item 12: same") {
		t.Errorf("the path is %q", path)
	}
	l.do(t, chromedp.Click("#path li:nth-child(2) button"),
		chromedp.Poll(`document.getElementById("settle").hidden`, nil))
	if got := l.lines(t); len(got) != 2 || !strings.HasPrefix(got[0], "9,12,must") ||
		!strings.HasPrefix(got[1], "9,15,cannot") {
		t.Errorf("the file has %q", got)
	}
}

// TestLabelGroup: the group mode asks about the twelve nearest rows. Those that are picked by key
// or mouse belong to the first one, the others do not. A row of the map begins a group.
func TestLabelGroup(t *testing.T) {
	l := ask(t, filepath.Join(t.TempDir(), "links.csv"), 60, false)
	l.press(t, "g")
	l.do(t, chromedp.Poll(`document.querySelectorAll("#grid .cell").length === 12`, nil))
	l.press(t, "1")
	l.do(t, chromedp.Click("#grid .cell:nth-child(12)"))
	l.press(t, "2")
	l.press(t, "2")
	if pressed := value[[]string](t, l.browser,
		`[...document.querySelectorAll("#grid .cell")].map(e => e.getAttribute("aria-pressed"))`); pressed[0] != "true" || pressed[1] != "mixed" || pressed[2] != "false" || pressed[11] != "true" {
		t.Errorf("pressed: %v", pressed)
	}
	l.press(t, "\r")
	l.do(t, chromedp.Poll(
		`document.getElementById("counts").textContent.startsWith("2 same, 9 different, 1 cannot say")`, nil))
	if got := l.lines(t); len(got) != 11 {
		t.Errorf("%d lines: want 11, one pair is unknown", len(got))
	}
	l.press(t, "u")
	if got := l.lines(t); len(got) != 0 && got[0] != "" {
		t.Errorf("after undo the file has %q", got)
	}
	l.press(t, "g")
	if !value[bool](t, l.browser, `document.getElementById("group").hidden`) {
		t.Error("g does not lead back to pairs")
	}
	l.do(t, chromedp.Poll(`Number(document.getElementById("plot").dataset.painted) > 0`, nil),
		chromedp.Focus("#plot"))
	for range 8 {
		l.settled(t, chromedp.KeyEvent("]"))
	}
	l.do(t, chromedp.KeyEvent("\r"),
		chromedp.Poll(`document.getElementById("ask-group").textContent === "Which belong to item 7?"`, nil))
	l.do(t, chromedp.Click("#mode-pair"), chromedp.Click("#different"),
		chromedp.Poll(`document.getElementById("counts").textContent.startsWith("0 same, 1 different")`, nil))
}

// TestLabelTexts: words that the other text does not have are marked. So are words of letters that
// both sequences have, which are aligned.
func TestLabelTexts(t *testing.T) {
	l := ask(t, filepath.Join(t.TempDir(), "links.csv"), 60, true)
	l.show(t, 9, 10)
	const texts = `[...document.querySelectorAll("#items .text")].map(e => e.innerHTML)`
	want := []string{"the <mark>quick</mark> brown <mark>fox</mark> number",
		"··<mark>MKVLAAGIVGLLQ</mark>WERTY",
		"the <mark>slow</mark> brown <mark>dog</mark> <mark>&lt;b&gt;bold&lt;/b&gt;</mark> number",
		"HH<mark>MKVLAAGIVGLLQ</mark>PPRTY"}
	if got := value[[]string](t, l.browser, texts); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("texts %q: want %q", got, want)
	}
}

// show makes the page ask about a pair.
func (l *labeling) show(t testing.TB, i, j int) {
	t.Helper()
	l.do(t, chromedp.Evaluate(
		fmt.Sprintf(`fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ i: %d, j: %d }) }).then(() => location.reload())`, i, j), nil), chromedp.Sleep(500*time.Millisecond),
		chromedp.Poll(fmt.Sprintf(
			`document.getElementById("ask").textContent.startsWith("Do item %d and item %d ")`, i, j), nil))
}

// TestLabelDisagreement: what one person said and another overruled is listed, and can be asked
// again.
func TestLabelDisagreement(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "people")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	l := ask(t, filepath.Join(folder, "links.csv"), 60, false)
	l.show(t, 9, 12)
	l.press(t, "s")
	l.do(t, chromedp.Navigate(l.server+"/fedcba9876543210/"),
		chromedp.Poll(`document.getElementById("counts").textContent.includes("you are ben")`, nil))
	if !value[bool](t, l.browser, `document.getElementById("finish").hidden`) {
		t.Error("one of several people can end the session")
	}
	l.show(t, 9, 12)
	l.press(t, "d")
	l.do(t, chromedp.Poll(
		`!document.getElementById("settle").hidden && document.getElementById("path").textContent.includes("said ann")`, nil),
		chromedp.Evaluate(`document.querySelector("#path button").click()`, nil),
		chromedp.Poll(`document.querySelectorAll("#disagreements tr").length === 1`, nil))
	if row := value[string](t, l.browser,
		`[...document.querySelector("#disagreements tr").cells].map(e => e.textContent).join("|")`); !strings.HasPrefix(row, "item 9, item 12|same|ann, ") || !strings.Contains(row, "|different|") {
		t.Errorf("the disagreement is %q", row)
	}
	if got := l.lines(t); len(got) != 1 || !strings.HasPrefix(got[0], "9,12,cannot,ben,") {
		t.Errorf("the file has %q", got)
	}
	l.do(t, chromedp.Evaluate(`document.querySelector("#disagreements button").click()`, nil),
		chromedp.Poll(`document.getElementById("ask").textContent.startsWith("Do item 9 and item 12 belong together? (The answers so far say: different.)")`, nil))
}

// TestLabelFold: on a screen of 1280 x 800 the question, its buttons, the verdict and the map are
// visible without scrolling. Small pictures are enlarged, rows without a group are gray, and the
// end shows the next command.
func TestLabelFold(t *testing.T) {
	l := ask(t, filepath.Join(t.TempDir(), "links.csv"), 60, true)
	l.do(t, emulation.SetDeviceMetricsOverride(1280, 800, 1, false))
	for range 12 {
		l.answer(t)
	}
	l.do(t, chromedp.Poll(`document.querySelectorAll("#curve svg").length > 0`, nil),
		chromedp.Poll(`Number(document.getElementById("plot").dataset.links) > 0`, nil))
	if below := value[[]string](t, l.browser, `["ask", "items", "same", "undo", "hint", "verdict", "curve", "plot"].filter(
		id => { const r = document.getElementById(id).getBoundingClientRect(); return r.height === 0 || r.top < 0 || r.bottom > 800; })`); len(below) > 0 {
		t.Errorf("not visible without scrolling: %v", below)
	}
	if width := value[float64](t, l.browser,
		`document.querySelector("#items img").getBoundingClientRect().width`); width < 200 {
		t.Errorf("a picture of 160 x 120 is %v wide", width)
	}
	if hint := value[string](t, l.browser, `document.getElementById("hint").textContent`); hint == "" {
		t.Error("the verdict has no sentence")
	}
	legend := value[[]string](t, l.browser,
		`[...document.querySelectorAll("#legend button")].map(e => e.textContent.replace(/ \(.*/, "") + " " + e.querySelector("path").getAttribute("fill"))`)
	if len(legend) < 2 || legend[len(legend)-1] != "no group yet #a0a0a0" ||
		strings.Contains(legend[0], "#a0a0a0") {
		t.Errorf("the legend is %q", legend)
	}
	l.do(t, chromedp.Evaluate(`window.confirm = () => true`, nil), chromedp.Click("#finish"),
		chromedp.Poll(`document.querySelector("pre") !== null`, nil))
	if next := value[string](t, l.browser, `document.querySelector("pre").textContent`); next != nextCommand {
		t.Errorf("the next command is %q: want %q", next, nextCommand)
	}
}

// TestLabelNarrow: no sideways scrolling on narrow screens, all controls have names, light and dark
// have enough contrast. Pictures go to the folder MUSTLINK_SCREENSHOTS.
func TestLabelNarrow(t *testing.T) {
	l := ask(t, filepath.Join(t.TempDir(), "links.csv"), 60, true)
	for range 12 {
		l.answer(t)
	}
	l.do(t, chromedp.Poll(`document.querySelectorAll("#curve svg").length > 0`, nil))
	for _, mode := range []string{"pair", "group"} {
		for _, width := range []int64{400, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				l.do(t, emulation.SetDeviceMetricsOverride(width, 800, 1, false),
					emulation.SetEmulatedMedia().WithFeatures(
						[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
					chromedp.Sleep(200*time.Millisecond))
				if wide := value[float64](t, l.browser,
					`document.documentElement.scrollWidth`); wide > float64(width) {
					t.Errorf("%s: the page is %v wide on a screen of %d: %v", mode, wide, width,
						value[[]string](t, l.browser,
							fmt.Sprintf(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > %d).slice(0, 5).map(e => e.tagName + "." + e.className + "#" + e.id)`, width)))
				}
				if list := value[[]string](t, l.browser, pale); len(list) > 0 {
					t.Errorf("%s %s: texts with little contrast: %v", mode, scheme, list)
				}
				if folder := os.Getenv("MUSTLINK_SCREENSHOTS"); folder != "" {
					var picture []byte
					l.do(t, chromedp.FullScreenshot(&picture, 100))
					if err := os.WriteFile(filepath.Join(folder,
						fmt.Sprintf("label-%s-%d-%s.png", mode, width, scheme)), picture, 0o600); err != nil {
						t.Error(err)
					}
				}
			}
		}
		if list := value[[]string](t, l.browser, nameless); len(list) > 0 {
			t.Errorf("controls without a name: %v", list)
		}
		l.press(t, "g")
		l.do(t, chromedp.Sleep(300*time.Millisecond))
	}
}
