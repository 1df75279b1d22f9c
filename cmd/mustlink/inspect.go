package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/suspicion"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type inspectFlags struct {
	data  dataFlags
	links linkFlags
	max   int
	// suspicious is how many links to list that others speak against; they are judged with seed.
	suspicious int
	seed       uint64
}

func newInspect(a *app) *cobra.Command {
	var i inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect MODEL [-i DATA -c LINKS]",
		Short: "show what is in a model, and which links it violates",
		Long: `Show what a model file holds: method, parameters, kernel, features, figures of the method
and every tensor with its shape and size.

With DATA and LINKS it also measures the links in the learned metric and lists those that
look wrong, worst first: must-links longer than the median of random pairs of rows, and
cannot-links shorter than the median of the must-links (without must-links: than 5 % of
random pairs). Such a link was not learned, or is a mistake in the file. A cannot-link
between rows that must-links join is listed with their path.

A model meets most of the links that it was fitted on, the wrong ones too. --suspicious N
finds those by fits without them: every link is judged by metrics of several methods
(` + strings.Join(suspicion.Judges(), ", ") + `) that are learned from other links, on the points as the model takes
them. It lists the N links that are most likely wrong; a score is the logarithm of the odds.`,
		Example: `  mustlink inspect model.mlk
  mustlink inspect model.mlk -i data.csv -c links.csv
  mustlink inspect model.mlk -i data.csv -c links.csv --suspicious 20 --json`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runInspect(cmd, args[0], &i) },
	}
	i.data.add(cmd)
	i.links.add(cmd)
	cmd.Flags().IntVar(&i.max, "max", 20, "list at most this many links that look wrong; --json lists all")
	cmd.Flags().IntVar(&i.suspicious, "suspicious", 0, "list the `N` most suspicious links, judged by fits without them")
	usage.SeedFlag(cmd.Flags(), &i.seed)
	return cmd
}

// inspectReport is what `mustlink inspect` prints.
type inspectReport struct {
	Model          string              `json:"model"`
	Bytes          int64               `json:"bytes"` // of the tensors
	FormatVersion  int                 `json:"format_version"`
	Method         string              `json:"method"`
	Params         json.RawMessage     `json:"params,omitempty"`
	Kernel         string              `json:"kernel,omitempty"`
	Features       []string            `json:"features,omitempty"`
	Scaling        string              `json:"scaling"`
	Dim            int                 `json:"dim"`
	Status         statusReport        `json:"status"`
	LibraryVersion string              `json:"library_version"`
	Build          string              `json:"build"`
	Fingerprint    string              `json:"fingerprint,omitempty"`
	Figures        []algorithms.Figure `json:"figures"`
	Tensors        []tensorReport      `json:"tensors"`
	Links          *linkFit            `json:"links,omitempty"`
	Warnings       []string            `json:"warnings"`
	max            int
}

type statusReport struct {
	Converged  bool    `json:"converged"`
	Iterations int     `json:"iterations"`
	Message    string  `json:"message,omitempty"`
	Seconds    float64 `json:"seconds"`
}

type tensorReport struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
	Bytes int64  `json:"bytes"`
}

// linkFit says how links look in the learned metric.
type linkFit struct {
	TrainingData bool           `json:"training_data"` // the data are those of the fit
	Must         int            `json:"must_links"`
	Cannot       int            `json:"cannot_links"`
	MedianMust   session.Number `json:"median_must"` // squared distances
	MedianCannot session.Number `json:"median_cannot"`
	MedianRandom session.Number `json:"median_random"`
	Violated     []wrongLink    `json:"violated"`
	Conflicts    []string       `json:"conflicts"`
	// Suspicious are the links that others speak against, where they are asked for.
	Suspicious []suspiciousLink `json:"suspicious,omitempty"`
}

// wrongLink is a link that the metric does not respect.
type wrongLink struct {
	I        int     `json:"i"`
	J        int     `json:"j"`
	Link     string  `json:"link"`
	Line     int     `json:"line,omitempty"`
	Distance float64 `json:"squared_distance"`
	Bound    float64 `json:"expected"` // at most this for a must-link, at least for a cannot-link
	excess   float64
}

func (a *app) runInspect(cmd *cobra.Command, path string, i *inspectFlags) error {
	if err := a.checkInspect(cmd, path, i); err != nil {
		return err
	}
	r, fitted, err := a.inspectModel(cmd.Context(), path)
	if err != nil {
		return err
	}
	r.max = i.max
	if i.data.path != "" {
		if r.Links, err = a.inspectLinks(cmd.Context(), fitted, i); err != nil {
			return err
		}
	}
	r.Warnings = a.Warnings()
	return a.Print(r, r.text)
}

func (a *app) checkInspect(cmd *cobra.Command, path string, i *inspectFlags) error {
	check := a.Check(cmd)
	check.Models([]string{path})
	check.Least("--max", i.max, 1)
	check.Least("--suspicious", i.suspicious, 0)
	check.Refuse(i.suspicious > 0 && i.links.path == "", "--suspicious needs links: want -i and -c")
	check.Refuse((i.data.path == "") != (i.links.path == ""), "-i and -c go together: want both, or neither")
	if i.data.path != "" {
		i.data.check(check)
		i.links.check(check)
	}
	return check.Err
}

func (a *app) inspectModel(ctx context.Context, path string) (*inspectReport, *catalog.Fitted, error) {
	file, fitted, err := a.loadModel(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	h, about := file.Header, mustlink.NewModel(fitted, nil).Describe()
	r := &inspectReport{
		Model:          path,
		FormatVersion:  h.FormatVersion,
		Method:         h.Method,
		Params:         h.Params,
		Kernel:         h.Kernel,
		Features:       h.Features,
		Scaling:        about.Preparation,
		Dim:            about.Dim,
		Status:         statusReport{about.Converged, about.Iterations, about.Message, about.Elapsed.Seconds()},
		LibraryVersion: h.LibraryVersion,
		Build:          h.Build,
		Fingerprint:    h.Fingerprint,
		Figures:        append([]algorithms.Figure{}, about.Statistics...),
		Tensors:        tensors(file),
	}
	for _, t := range r.Tensors {
		r.Bytes += t.Bytes
	}
	return r, fitted, nil
}

func tensors(file *model.File) []tensorReport {
	var list []tensorReport
	for _, name := range slices.Sorted(maps.Keys(file.Tensors)) {
		t := file.Tensors[name]
		size := int64(8)
		if t.DType() == model.F32 {
			size = 4
		}
		list = append(list, tensorReport{name, string(t.DType()), append([]int{}, t.Shape...), size * int64(t.Len())})
	}
	return list
}

// inspectLinks measures the links in the learned metric.
func (a *app) inspectLinks(ctx context.Context, fitted *catalog.Fitted, i *inspectFlags) (*linkFit, error) {
	eng, err := a.Engine()
	if err != nil {
		return nil, err
	}
	d, err := a.readTwo(ctx, &i.data)
	if err != nil {
		return nil, err
	}
	fit := &linkFit{TrainingData: dataset.Fingerprint(d.Points) == fitted.Fingerprint, Violated: []wrongLink{}, Conflicts: []string{}}
	x, err := fitted.Prepare(d)
	if err != nil {
		return nil, err
	}
	set, err := a.readLinks(ctx, &i.links, d)
	if err != nil {
		return nil, err
	}
	if set.Len() == 0 {
		return nil, fault.Data(i.links.path, "it has no links: want at least one")
	}
	for _, c := range set.Conflicts() {
		fit.Conflicts = append(fit.Conflicts, c.String())
	}
	if err := fit.measure(ctx, eng, fitted.Model, x, set); err != nil || i.suspicious == 0 {
		return fit, err
	}
	ranked, err := a.judged(ctx, eng, d, x, set, i.links.path, i.seed)
	if err != nil {
		return nil, err
	}
	fit.Suspicious = mostSuspicious(ranked, d, i.suspicious)
	return fit, nil
}

// measure fills in the distances and the links that they speak against.
func (f *linkFit) measure(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points, set *links.Set) error {
	must, err := m.Distances(ctx, eng, x, pairsOf(set.Must()))
	if err != nil {
		return err
	}
	cannot, err := m.Distances(ctx, eng, x, pairsOf(set.Cannot()))
	if err != nil {
		return err
	}
	random, err := m.Distances(ctx, eng, x, randomPairs(x.Len()))
	if err != nil {
		return err
	}
	f.Must, f.Cannot = len(must), len(cannot)
	f.MedianMust, f.MedianCannot = session.Number(session.Quantile(must, 0.5)), session.Number(session.Quantile(cannot, 0.5))
	f.MedianRandom = session.Number(session.Quantile(random, 0.5))
	near := session.Quantile(must, 0.5)
	if len(must) == 0 {
		near = session.Quantile(random, 0.05)
	}
	for k, l := range set.Must() {
		f.judge(l, must[k], float64(f.MedianRandom), must[k]-float64(f.MedianRandom))
	}
	for k, l := range set.Cannot() {
		f.judge(l, cannot[k], near, near-cannot[k])
	}
	slices.SortStableFunc(f.Violated, func(a, b wrongLink) int { return cmp.Compare(b.excess, a.excess) })
	return nil
}

func (f *linkFit) judge(l links.Link, distance, bound, excess float64) {
	if excess > 0 {
		f.Violated = append(f.Violated, wrongLink{l.I, l.J, l.Sign.String(), l.Line, distance, bound, excess})
	}
}

// randomPairs draws pairs of different rows, the same for the same n.
func randomPairs(n int) [][2]int {
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	pairs := make([][2]int, 2000)
	for k := range pairs {
		pairs[k] = randomPair(rng, n)
	}
	return pairs
}

// randomPair draws two different rows of n.
func randomPair(rng *rand.Rand, n int) [2]int {
	i, j := rng.IntN(n), rng.IntN(n-1)
	if j >= i {
		j++
	}
	return [2]int{i, j}
}

func (r *inspectReport) text(w io.Writer) {
	fmt.Fprintf(w, "model\t%s (%s of tensors, format version %d)\n", r.Model, fault.FormatBytes(r.Bytes), r.FormatVersion)
	fmt.Fprintf(w, "method\t%s\n", r.Method)
	if len(r.Params) > 0 {
		fmt.Fprintf(w, "parameters\t%s\n", compact(r.Params))
	}
	if len(r.Features) > 0 {
		fmt.Fprintf(w, "features\t%d: %s\n", len(r.Features), firstFew(r.Features, 8))
	}
	fmt.Fprintf(w, "scaling\t%s\n", r.Scaling)
	for _, f := range r.Figures {
		fmt.Fprintf(w, "%s\t%v\n", f.Name, f.Value)
	}
	fmt.Fprintf(w, "status\t%s\n", statusText(r.Status.Converged, 0, r.Status.Message))
	fmt.Fprintf(w, "made by\tmustlink %s, %s\n", r.LibraryVersion, r.Build)
	if r.Fingerprint != "" {
		fmt.Fprintf(w, "data\tsha256 %s\n", r.Fingerprint)
	}
	for _, t := range r.Tensors {
		fmt.Fprintf(w, "tensor\t%s %s %s, %s\n", t.Name, t.Type, shapeText(t.Shape), fault.FormatBytes(t.Bytes))
	}
	if r.Links != nil {
		r.Links.text(w, r.max)
	}
}

func (f *linkFit) text(w io.Writer, most int) {
	which := "other data than those of the fit"
	if f.TrainingData {
		which = "the data of the fit"
	}
	fmt.Fprintf(w, "links\t%d must, %d cannot, on %s\n", f.Must, f.Cannot, which)
	fmt.Fprintf(w, "median squared distance\tmust %.4g, cannot %.4g, random pairs %.4g\n", float64(f.MedianMust), float64(f.MedianCannot), float64(f.MedianRandom))
	for _, c := range f.Conflicts {
		fmt.Fprintf(w, "contradiction\t%s\n", c)
	}
	fmt.Fprintf(w, "links that look wrong\t%d\n", len(f.Violated))
	for k, v := range f.Violated {
		if k == most {
			fmt.Fprintf(w, "\tand %d more\n", len(f.Violated)-most)
			break
		}
		side := "at most"
		if v.Link == links.Cannot.String() {
			side = "at least"
		}
		line := ""
		if v.Line > 0 {
			line = fmt.Sprintf(" (line %d)", v.Line)
		}
		fmt.Fprintf(w, "\t%s-link %d-%d%s: squared distance %.4g, expected %s %.4g\n", v.Link, v.I, v.J, line, v.Distance, side, v.Bound)
	}
	if f.Suspicious != nil {
		suspiciousText(w, f.Suspicious)
	}
}

func compact(raw json.RawMessage) string {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, v[name]))
	}
	return strings.Join(parts, " ")
}

func firstFew(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:n], ", ") + ", …"
}

func shapeText(shape []int) string {
	if len(shape) == 0 {
		return "single number"
	}
	return session.Joined(shape, " x ")
}
