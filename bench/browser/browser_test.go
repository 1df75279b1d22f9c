package browser

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/mustlink/mustlink/internal/view"
	"github.com/mustlink/mustlink/internal/view/viewtest"
)

// browser is a page open in headless Chromium, with its console messages and its requests.
type browser struct {
	context.Context
	mu         sync.Mutex
	complaints []string
	requests   []string
}

// open writes the report to a file and opens it. Without Chromium, the test is skipped.
func open(t testing.TB, r *view.Report) *browser {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(viewtest.Written(t, r)), 0o600); err != nil {
		t.Fatal(err)
	}
	return visit(t, "file://"+file)
}

// visit opens a page. Without Chromium, the test is skipped.
func visit(t testing.TB, address string) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium on this machine")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WindowSize(1200, 1000), chromedp.Flag("disable-dev-shm-usage", true))
	allocated, free := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(free)
	limited, stop := context.WithTimeout(allocated, time.Minute)
	t.Cleanup(stop)
	ctx, done := chromedp.NewContext(limited)
	t.Cleanup(done)
	b := &browser{Context: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
		case *log.EventEntryAdded:
			b.complaints = append(b.complaints, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		}
	})
	b.do(t, log.Enable(), network.Enable(), runtime.Enable(), chromedp.Navigate(address),
		chromedp.WaitReady("body"))
	return b
}

func (b *browser) do(t testing.TB, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b, actions...); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		t.Fatal(err, b.complaints)
	}
}

// value evaluates an expression in the page.
func value[T any](t testing.TB, b *browser, expression string) T {
	t.Helper()
	var out T
	b.do(t, chromedp.Evaluate(expression, &out))
	return out
}

// enter sets the value of a control and dispatches the event.
func enter(id, event, value string) chromedp.Action {
	return chromedp.Evaluate(
		fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event(%q)); })()`, id, value, event), nil)
}

// settled waits until the canvas is painted again.
func (b *browser) settled(t testing.TB, change ...chromedp.Action) {
	t.Helper()
	const painted = `document.getElementById("plot").dataset.painted || "0"`
	before := value[string](t, b, painted)
	b.do(t, change...)
	b.do(t, chromedp.Poll(fmt.Sprintf("(%s) !== %q", painted, before), nil,
		chromedp.WithPollingTimeout(5*time.Second)))
}

// where is an expression for the position on the page of point i of view k on a canvas: the view
// fills it up to a margin of 36, with one scale for both axes.
func where(canvas string, k, i int) string {
	return fmt.Sprintf(`(() => {
		const decode = (t) => new Float32Array(Uint8Array.from(atob(t), c => c.charCodeAt(0)).buffer);
		const x = decode(DATA.views[%d].x), y = decode(DATA.views[%d].y), box = document.getElementById(%q).getBoundingClientRect();
		const spread = (a) => [Math.min(...a), Math.max(...a)], [x0, x1] = spread(x), [y0, y1] = spread(y);
		const unit = Math.min((box.width - 72) / (x1 - x0), (box.height - 72) / (y1 - y0));
		return [box.left + box.width / 2 + (x[%d] - (x0 + x1) / 2) * unit, box.top + box.height / 2 - (y[%d] - (y0 + y1) / 2) * unit];
	})()`, k, k, canvas, i, i)
}

// TestPage: the page is drawn, links are shown and hidden, hovering names the right row, keys step
// through points and zoom, the table is sorted and filtered, hostile texts stay text, and there are
// no requests and no console messages, in light and in dark mode.
func TestPage(t *testing.T) {
	r := viewtest.Sample(40)
	b := open(t, r)
	b.do(t, chromedp.Poll(`Number(document.getElementById("plot").dataset.painted) > 0`, nil))
	picture := func() string { return value[string](t, b, `document.getElementById("plot").toDataURL()`) }
	bare := picture()
	if empty := value[string](t, b,
		`(() => { const c = document.createElement("canvas"), p = document.getElementById("plot"); c.width = p.width; c.height = p.height; return c.toDataURL(); })()`); bare == empty {
		t.Error("the canvas is empty")
	}
	b.settled(t, chromedp.Click("#must"))
	if drawn := value[string](t, b, `document.getElementById("plot").dataset.links`); picture() == bare ||
		drawn != fmt.Sprint(len(r.Points.Must)) {
		t.Errorf("%s must-links are drawn", drawn)
	}
	b.settled(t, chromedp.Click("#cannot"))
	if drawn := value[string](t, b,
		`document.getElementById("plot").dataset.links`); drawn != fmt.Sprint(
		len(r.Points.Must)+len(r.Points.Cannot)) {
		t.Errorf("%s links with both kinds", drawn)
	}
	b.settled(t, chromedp.Click("#must"))
	b.settled(t, chromedp.Click("#cannot"))
	if picture() != bare {
		t.Error("links leave something behind when they are hidden")
	}

	for _, i := range []int{3, 17} {
		b.do(t, chromedp.Evaluate(`document.getElementById("before").scrollIntoView()`, nil))
		at := value[[]float64](t, b, where("before", 0, i))
		b.do(t, chromedp.MouseEvent("mouseMoved", at[0], at[1]),
			chromedp.Poll(`!document.getElementById("tip").hidden`, nil))
		tip := value[string](t, b, `document.getElementById("tip").textContent`)
		if want := strings.TrimRight(r.Points.IDs[i], "\n"); !strings.HasPrefix(tip,
			want[:min(len(want), 100)]) {
			t.Errorf("the point %d is called %.80q: want %.80q", i, tip, want)
		}
		if want := fmt.Sprintf("x: %.4g", r.Points.Features[1].Values[i]); !strings.Contains(tip, want[:7]) {
			t.Errorf("the tip %.300q does not contain %q", tip, want)
		}
		b.do(t, chromedp.MouseEvent("mouseMoved", 2, 2),
			chromedp.Poll(`document.getElementById("tip").hidden`, nil))
	}

	b.do(t, chromedp.Focus("#plot"))
	b.settled(t, chromedp.KeyEvent("]"))
	b.settled(t, chromedp.KeyEvent("]"))
	if said := value[string](t, b, `document.getElementById("said").textContent`); !strings.HasPrefix(said,
		r.Points.IDs[1]) {
		t.Errorf("the second point is announced as %.80q: want %.80q", said, r.Points.IDs[1])
	}
	b.settled(t, chromedp.KeyEvent("+"))
	b.settled(t, chromedp.KeyEvent("0"))

	b.checkFilter(t, r)
	b.checkNeighbors(t, r)

	b.settled(t, enter("view", "change", "1"))
	// label, cluster, one color, two features
	if options := value[int](t, b, `document.getElementById("color").options.length`); options != 5 {
		t.Errorf("%d colorings of the second view: want 5", options)
	}
	if legend := value[string](t, b,
		`document.getElementById("legend").textContent`); !strings.Contains(legend, "שלום") {
		t.Errorf("the legend is %.200q", legend)
	}

	b.checkTable(t, r)

	b.settled(t, emulation.SetEmulatedMedia().WithFeatures(
		[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	if back := value[string](t, b,
		`getComputedStyle(document.body).backgroundColor`); back != "rgb(21, 24, 28)" {
		t.Errorf("the dark background is %s", back)
	}
	if value[bool](t, b, `"broken" in window`) || value[int](t, b, `document.images.length`) != 0 {
		t.Error("a text has become a script or an image")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		t.Errorf("console messages: %q: want none", b.complaints)
	}
	if len(b.requests) != 1 || !strings.HasPrefix(b.requests[0], "file://") {
		t.Errorf("requests: %q: want none", b.requests)
	}
}

// TestScreenshots writes pictures of a page to the folder MUSTLINK_SCREENSHOTS, for people to look
// at: on a screen, in dark mode, and printed.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("MUSTLINK_SCREENSHOTS")
	if folder == "" {
		t.Skip("MUSTLINK_SCREENSHOTS is not set")
	}
	b := open(t, viewtest.Sample(40))
	b.do(t, chromedp.Poll(`Number(document.getElementById("plot").dataset.painted) > 0`, nil),
		chromedp.Click("#must"))
	feature := func(value string) []*emulation.MediaFeature {
		return []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}
	}
	for name, media := range map[string]*emulation.SetEmulatedMediaParams{
		"light.png": emulation.SetEmulatedMedia().WithFeatures(feature("light")),
		"dark.png":  emulation.SetEmulatedMedia().WithFeatures(feature("dark")),
		"print.png": emulation.SetEmulatedMedia().WithMedia("print").WithFeatures(feature("dark")),
	} {
		var picture []byte
		b.do(t, media, chromedp.Sleep(300*time.Millisecond), chromedp.FullScreenshot(&picture, 100))
		if err := os.WriteFile(filepath.Join(folder, name), picture, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// checkFilter shows satisfied and violated links alone: together they are all.
func (b *browser) checkFilter(t *testing.T, r *view.Report) {
	t.Helper()
	b.settled(t, chromedp.Click("#must"))
	b.settled(t, chromedp.Click("#cannot"))
	drawn := map[string]int{}
	for _, which := range []string{"satisfied", "violated", "all"} {
		b.settled(t, enter("which", "change", which))
		drawn[which] = value[int](t, b, `Number(document.getElementById("plot").dataset.links)`)
	}
	given := map[[2]int]string{}
	for _, l := range r.Points.Must {
		given[l] = "must"
	}
	for _, l := range r.Points.Cannot {
		given[l] = "cannot"
	}
	violated := 0
	for _, v := range r.Violations {
		if given[[2]int{v.I, v.J}] == v.Link {
			violated++
		}
	}
	if all := len(given); violated == 0 || drawn["violated"] != violated ||
		drawn["satisfied"] != all-violated || drawn["all"] != all {
		t.Errorf("links drawn: %v: want %d, %d of them violated", drawn, all, violated)
	}
	b.settled(t, chromedp.Click("#must"))
	b.settled(t, chromedp.Click("#cannot"))
}

// checkNeighbors clicks a point: the tables list its neighbors before and after, with their labels
// and distances. Enter does the same for the point of the keyboard, Escape closes the tables.
func (b *browser) checkNeighbors(t *testing.T, r *view.Report) {
	t.Helper()
	const listed = `[...document.querySelectorAll("#near table")].map(t => [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent.slice(0, 40)).join("|")).join("; "))`
	b.do(t, chromedp.Evaluate(`document.getElementById("plot").scrollIntoView()`, nil))
	at := value[[]float64](t, b, where("plot", 1, 8))
	b.settled(t, chromedp.MouseEvent("mouseMoved", at[0], at[1]), chromedp.MouseClickXY(at[0], at[1]))
	text := value[[]string](t, b, listed)
	if len(text) != 2 {
		t.Fatalf("tables of neighbors: %q: want two", text)
	}
	for k, rows := range text {
		for _, j := range r.Points.Views[k].Near.Index[2*8 : 2*8+2] {
			if want := r.Points.IDs[j][:min(8, len(r.Points.IDs[j]))]; !strings.Contains(rows,
				strings.TrimSpace(want)) {
				t.Errorf("the neighbors %q do not contain %q", rows, want)
			}
		}
		if !strings.Contains(rows, "≠ ") || !strings.HasSuffix(rows, "|2") {
			t.Errorf("the neighbors %q lack labels or distances", rows)
		}
	}
	b.do(t, chromedp.Focus("#plot"))
	b.settled(t, chromedp.KeyEvent("\x1b"))
	if !value[bool](t, b, `document.getElementById("near").hidden`) {
		t.Error("Escape leaves the neighbors on the page")
	}
	b.settled(t, chromedp.KeyEvent("]"))
	b.settled(t, chromedp.KeyEvent("\r"))
	if len(value[[]string](t, b, listed)) != 2 {
		t.Error("Enter lists no neighbors")
	}
	b.settled(t, chromedp.KeyEvent("\x1b"))
}

// nameless lists the controls without a name.
const nameless = `[...document.querySelectorAll("select, input, button, canvas")].filter(e => !(e.labels && e.labels.length) && !e.textContent.trim() && !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby")).map(e => e.id || e.tagName)`

// pale lists texts with little contrast.
const pale = `(() => {
	const light = (c) => c.match(/[\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, k) => s + v * [0.2126, 0.7152, 0.0722][k], 0);
	const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c !== "rgba(0, 0, 0, 0)") return c; } return "rgb(255, 255, 255)"; };
	return [...document.querySelectorAll("p, h1, h2, h3, td, th, dt, dd, li, label, .tag, figcaption")].filter(e => e.textContent.trim()).map(e => {
		const [a, b] = [light(getComputedStyle(e).color), light(back(e))].sort((x, y) => y - x);
		return [(a + 0.05) / (b + 0.05), e.tagName + "." + e.className];
	}).filter(([ratio]) => ratio < 4.5).map(String);
})()`

// TestNarrow: on a narrow screen the page does not scroll sideways, and every control has a name.
func TestNarrow(t *testing.T) {
	b := open(t, viewtest.Sample(40))
	for _, width := range []int64{320, 400, 1280} {
		b.do(t, emulation.SetDeviceMetricsOverride(width, 800, 1, false),
			chromedp.Sleep(100*time.Millisecond))
		if wide := value[float64](t, b, `document.documentElement.scrollWidth`); wide > float64(width) {
			t.Errorf("the page is %v wide on a screen of %d; the widest elements: %v", wide, width,
				value[[]string](t, b,
					fmt.Sprintf(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > %d && !e.closest(".scroll, svg")).slice(0, 5).map(e => e.tagName + "." + e.className + "#" + e.id)`, width)))
		}
	}
	if list := value[[]string](t, b, nameless); len(list) > 0 {
		t.Errorf("controls without a name: %v", list)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.do(t, emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		if list := value[[]string](t, b, pale); len(list) > 0 {
			t.Errorf("%s: texts with little contrast: %v", scheme, list)
		}
	}
}

// checkTable sorts and filters the table of suspicious links.
func (b *browser) checkTable(t *testing.T, r *view.Report) {
	t.Helper()
	column := func(k int) []string {
		return value[[]string](t, b,
			fmt.Sprintf(`[...document.querySelectorAll("#suspects tbody tr")].map(r => r.cells[%d].textContent)`, k))
	}
	click := func(title string) {
		b.do(t, chromedp.Evaluate(
			fmt.Sprintf(`[...document.querySelectorAll("#suspects th button")].find(e => e.textContent === %q).click()`, title), nil))
	}
	const distance = 5 // after link, first, second, labels, metric
	if got := column(distance); len(got) != len(r.Violations) {
		t.Fatalf("%d rows: want %d", len(got), len(r.Violations))
	}
	click("squared distance")
	if got := column(distance); got[0] != "30" || got[29] != "1" {
		t.Errorf("sorted down: %v", got)
	}
	click("squared distance")
	if got := column(distance); got[0] != "1" || got[9] != "10" { // by number, not by letter
		t.Errorf("sorted up: %v", got)
	}
	if sorted := value[string](t, b,
		`document.querySelectorAll("#suspects th")[5].getAttribute("aria-sort")`); sorted != "ascending" {
		t.Errorf("the column has the order %q: want ascending", sorted)
	}
	b.do(t, enter("kind", "change", "cannot"))
	for _, kind := range column(0) {
		if kind != "cannot" {
			t.Errorf("a %s-link among the cannot-links", kind)
		}
	}
	b.do(t, enter("filter", "input", "no such link"))
	if rows := column(0); len(rows) != 0 {
		t.Errorf("%d rows contain a text that is in no row", len(rows))
	}
	b.do(t, enter("filter", "input", ""))
	b.settled(t, chromedp.Evaluate(`document.querySelector("#suspects tbody tr").click()`, nil))
	if picked := value[int](t, b,
		`document.querySelectorAll('#suspects tr[aria-selected="true"]').length`); picked != 1 {
		t.Errorf("%d rows are picked", picked)
	}
}

// BenchmarkPage opens a page of 50,000 points with 64 features, and moves and zooms its drawing. It
// reports the time from the request to the text and to the points, and frames per second.
func BenchmarkPage(b *testing.B) {
	const n = 50_000
	r := &view.Report{Title: "many points"}
	r.Points.Count = n
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = rng.NormFloat64()
		}
		return out
	}
	for i := range n {
		r.Points.Labels = append(r.Points.Labels, fmt.Sprint("class ", i%10))
	}
	for j := range 64 {
		r.Points.Features = append(r.Points.Features,
			view.Feature{Name: fmt.Sprint("feature ", j), Values: draw()})
	}
	r.Points.Views = []view.Layout{{Name: "raw", X: draw(), Y: draw()},
		{Name: "learned", X: draw(), Y: draw()}}
	for b.Loop() {
		page := open(b, r)
		page.do(b, chromedp.Poll(
			`performance.getEntriesByName("points").length > 0 && performance.getEntriesByName("first-contentful-paint").length > 0`, nil))
		b.ReportMetric(value[float64](b, page,
			`performance.getEntriesByName("first-contentful-paint")[0].startTime`), "ms-first-paint")
		b.ReportMetric(value[float64](b, page, `performance.getEntriesByName("points")[0].startTime`),
			"ms-points")
		var rate float64
		page.do(b, chromedp.Evaluate(`new Promise((done) => {
			const canvas = document.getElementById("plot"), frames = 90, from = performance.now(), before = Number(canvas.dataset.painted);
			let k = 0;
			const step = () => {
				canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: k % 30 < 15 ? -20 : 20, clientX: 300 + k, clientY: 300, cancelable: true }));
				if (++k < frames) requestAnimationFrame(step);
				else done(1000 * (Number(canvas.dataset.painted) - before) / (performance.now() - from));
			};
			requestAnimationFrame(step);
		})`, &rate, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		b.ReportMetric(rate, "frames/s")
	}
}

// TestOrder: the verdict comes first, then the points and the columns, then the violated links,
// with the rows of the worst or a chosen one side by side. Scores on training rows are folded,
// except in print.
func TestOrder(t *testing.T) {
	r := viewtest.Sample(40)
	r.Scores.Fold = true
	b := open(t, r)
	b.do(t, chromedp.Poll(`Number(document.getElementById("plot").dataset.painted) > 0`, nil))
	titles := value[[]string](t, b, `[...document.querySelectorAll("h2")].map(e => e.textContent)`)
	at := -1
	for _, title := range []string{r.Models[0].Name, "Points before and after",
		"Columns that the metric uses", "Violated links", "Details: scores on training rows, parameters and files", "Scores"} {
		next := slices.IndexFunc(titles, func(s string) bool { return strings.HasPrefix(s, title) })
		if next <= at {
			t.Errorf("%q is number %d of %q: want it after number %d", title, next, titles, at)
		}
		at = next
	}
	rows := value[[]string](t, b, `[...document.querySelectorAll("#both tbody th")].map(e => e.textContent)`)
	names := value[[]string](t, b, `[...document.querySelectorAll("#both thead th")].map(e => e.textContent)`)
	if len(rows) != len(r.Points.Features) || len(names) != 3 || names[1] == names[2] {
		t.Errorf("the rows of the worst link have the columns %q, titled %q", rows, names)
	}
	b.do(t, chromedp.Evaluate(`[...document.querySelectorAll("#suspects tbody tr")].at(-1).click()`, nil))
	if other := value[[]string](t, b, `[...document.querySelectorAll("#both thead th")].map(e => e.textContent)`); slices.Equal(other, names) {
		t.Errorf("a click shows %q again", other)
	}
	const folded = `!document.querySelector("details").open`
	if !value[bool](t, b, folded) {
		t.Error("the details are not folded")
	}
	b.do(t, chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	if value[bool](t, b, folded) {
		t.Error("the details are folded in print")
	}
}
