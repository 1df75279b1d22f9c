package peers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Contest is a method that both sides fit to a data set, each with its own stopping rule, and the
// objective that compares the resulting metrics. One function of ours computes it for both.
type Contest struct {
	Name, Set string
	Higher    bool // objectives are better the higher they are
	rows      int  // the number of rows drawn from the set, 0 for all
	iterates  bool // the method iterates and reports its objective
	job       func(l *lesson) job
	objective func(l *lesson, y blas.Matrix) float64 // of an outcome
}

// job is our side of a contest.
type job struct {
	run     func(ctx context.Context, s Subject, p algorithms.ProgressFunc) error
	outcome func(ctx context.Context, s Subject) (blas.Matrix, error) // coordinates, or a column of clusters
}

// Score is the objective that each side reached.
type Score struct {
	Name   string  `json:"name"`
	Set    string  `json:"set"`
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
	Higher bool    `json:"higher_is_better"`
	// Reached is the time, in seconds, after which our objective was as good as their final one.
	// Ratio is their time divided by it. Both are 0 if they are not known, as for methods that do
	// not iterate.
	Reached float64 `json:"reached,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"`
}

// Contests returns the contests. They need the data sets, and an interpreter that finds
// metric-learn.
func Contests() []Contest {
	var all []Contest
	for _, set := range contestSets() {
		for _, c := range []Contest{
			{Name: "rca", Higher: false, job: fitting(rcaLearner), objective: whiteness},
			{Name: "mmc", Higher: true, job: fitting(mmcLearner(false)), objective: separation,
				iterates: true},
			{Name: "mmc-diagonal", Higher: true, job: fitting(mmcLearner(true)), objective: separation,
				iterates: true},
			{Name: "lmnn", Higher: false, job: fitting(lmnnLearner), objective: margins, iterates: true},
			{Name: "nca", Higher: true, job: fitting(ncaLearner), objective: chances, iterates: true},
			{Name: "mpck", Higher: false, job: mpck, objective: penalties},
		} {
			c.Set, c.rows = set.file, set.rows
			all = append(all, c)
		}
	}
	return all
}

type contestSet struct {
	file string
	rows int
}

func contestSets() []contestSet {
	return []contestSet{{"wine.csv", 0}, {"image.csv", 0}, {"usps.csv.gz", 2000}}
}

// Sets returns the names of the data sets of contests.
func Sets() []string {
	var names []string
	for _, set := range contestSets() {
		names = append(names, setName(set.file))
	}
	return names
}

func setName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".csv")
}

// On returns the contests on the named data sets, or all contests if there are no names. An unknown
// name is an input error.
func On(contests []Contest, sets []string) ([]Contest, error) {
	for _, name := range sets {
		if !slices.Contains(Sets(), name) {
			return nil, fault.Unknown("set", name, Sets())
		}
	}
	return slices.DeleteFunc(contests, func(c Contest) bool {
		return len(sets) > 0 && !slices.Contains(sets, setName(c.Set))
	}), nil
}

// ContestNames returns the names of the contests, each once.
func ContestNames() []string {
	var names []string
	for _, c := range Contests() {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// lesson is the training data of a contest.
type lesson struct {
	x          *points.Dense // standardized, without constant columns
	labels     []string
	pairs      *links.Set // 500 of each kind
	chunklets  *links.Set // of 4 points
	classified *links.Set // the links that the labels imply
}

// newLesson reads a set and draws rows and links with a fixed seed.
func newLesson(path string, rows int) (*lesson, error) {
	d, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	if d.Labels == nil {
		return nil, fault.Data(path, "no labels: want labeled rows")
	}
	x, labels := d.Points, d.Labels
	if rows > 0 && rows < x.Len() {
		order := rand.New(rand.NewPCG(1, 2)).Perm(x.Len())[:rows]
		slices.Sort(order)
		x = x.Select(order)
		some := make([]string, rows)
		for k, i := range order {
			some[k] = labels[i]
		}
		labels = some
	}
	scaling, constant, err := prepare.Standardize(x)
	if err != nil {
		return nil, err
	}
	if x, err = scaling.Apply(x); err != nil {
		return nil, err
	}
	l := &lesson{x: without(x.(*points.Dense), constant), labels: labels}
	if l.classified, err = links.FromLabels(labels); err != nil {
		return nil, err
	}
	if l.pairs, err = links.SampleByCount(labels, 500, 500, 1); err != nil {
		return nil, err
	}
	size := 100
	for size > 1 {
		if l.chunklets, err = sampleChunklets(labels, size, 4, 1); err == nil {
			break
		}
		size /= 2
	}
	return l, err
}

// without returns the points without some columns.
func without(x *points.Dense, columns []int) *points.Dense {
	out := &points.Dense{N: x.N, D: x.D - len(columns)}
	for i := range x.N {
		for j, v := range x.Row(i) {
			if !slices.Contains(columns, j) {
				out.Data = append(out.Data, v)
			}
		}
	}
	return out
}

// write writes the files that the other side reads to a folder.
func (l *lesson) write(folder string) error {
	x := l.matrix()
	number := map[string]float64{}
	labels := blas.NewMatrix(l.x.N, 1)
	for i, text := range l.labels {
		if _, known := number[text]; !known {
			number[text] = float64(len(number))
		}
		labels.Set(i, 0, number[text])
	}
	groups := blas.NewMatrix(l.x.N, 1)
	for i := range l.x.N {
		groups.Set(i, 0, -1)
	}
	for k, rows := range l.chunklets.Chunklets() {
		for _, i := range rows {
			groups.Set(i, 0, float64(k))
		}
	}
	list := slices.Concat(l.pairs.Must(), l.pairs.Cannot())
	pairs := blas.NewMatrix(len(list), 3)
	for k, link := range list {
		copy(pairs.Row(k), []float64{float64(link.I), float64(link.J), float64(link.Sign)})
	}
	for name, m := range map[string]blas.Matrix{"x": x, "labels": labels, "chunklets": groups,
		"pairs": pairs} {
		if err := dataset.WriteMatrix(filepath.Join(folder, name+".npy"), m.Rows, m.Cols, m.Data, m.Stride,
			nil, dataset.WriteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// Run fits on both sides in turn, for the given number of rounds.
func (c Contest) Run(ctx context.Context, s Subject, p *Process, threads,
	rounds int) (measure.Measurement, Score, error) {
	if s.Data == "" {
		return measure.Measurement{}, Score{},
			&fault.ParamError{Param: "MUSTLINK_DATA", Value: "",
				Want: "the folder of the data sets, for the case " + c.Name}
	}
	l, err := newLesson(filepath.Join(s.Data, c.Set), c.rows)
	if err != nil {
		return measure.Measurement{}, Score{}, err
	}
	folder, err := os.MkdirTemp("", "mustlink-peers-")
	if err != nil {
		return measure.Measurement{}, Score{}, err
	}
	defer os.RemoveAll(folder)
	if err := l.write(folder); err != nil {
		return measure.Measurement{}, Score{}, err
	}
	if err := p.learn(c.Name, folder); err != nil {
		return measure.Measurement{}, Score{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	ours := c.job(l)
	var seconds [2][]float64
	for range rounds {
		calls, begin := 0, time.Now()
		for calls == 0 || time.Since(begin) < 200*time.Millisecond {
			if err = ours.run(ctx, s, nil); err != nil {
				return measure.Measurement{}, Score{}, fmt.Errorf("%s: %w", c.Name, err)
			}
			calls++
		}
		seconds[0] = append(seconds[0], time.Since(begin).Seconds()/float64(calls))
		took, err := p.time(1)
		if err != nil {
			return measure.Measurement{}, Score{}, err
		}
		seconds[1] = append(seconds[1], took.Seconds())
	}
	mine, err := ours.outcome(ctx, s)
	if err != nil {
		return measure.Measurement{}, Score{}, err
	}
	theirs, err := p.coordinates(folder)
	if err != nil {
		return measure.Measurement{}, Score{}, err
	}
	score := Score{Name: c.Name, Set: c.Set, Ours: c.objective(l, mine), Theirs: c.objective(l, theirs),
		Higher: c.Higher}
	if c.iterates {
		err = ours.run(ctx, s, func(p algorithms.Progress) {
			if score.Reached == 0 &&
				(c.Higher && p.Objective >= score.Theirs || !c.Higher && p.Objective <= score.Theirs) {
				score.Reached = p.Elapsed.Seconds()
			}
		})
		if err != nil {
			return measure.Measurement{}, Score{}, err
		}
		if score.Reached > 0 {
			slices.Sort(seconds[1])
			score.Ratio = seconds[1][len(seconds[1])/2] / score.Reached
		}
	}
	return measure.Compare(c.Name, fmt.Sprintf("%s n=%d d=%d", setName(c.Set), l.x.N, l.x.D), threads,
		[]string{"mustlink", "peer"}, seconds[:]), score, nil
}

// fitting returns the job of a learner; its outcome is the embedding of the points.
func fitting(make func(l *lesson, p algorithms.ProgressFunc) (algorithms.Learner,
	*links.Set)) func(l *lesson) job {
	return func(l *lesson) job {
		var model algorithms.Model
		return job{
			func(ctx context.Context, s Subject, p algorithms.ProgressFunc) (err error) {
				learner, set := make(l, p)
				model, err = learner.Fit(ctx, s.Engine, l.x, set)
				return err
			},
			func(ctx context.Context, s Subject) (blas.Matrix, error) {
				return model.Embed(ctx, s.Engine, l.x)
			},
		}
	}
}

// matrix returns the points.
func (l *lesson) matrix() blas.Matrix {
	return blas.MatrixOf(l.x.N, l.x.D, l.x.Data)
}

// classes returns the number of labels.
func (l *lesson) classes() int {
	return len(slices.Compact(slices.Sorted(slices.Values(l.labels))))
}

// mpck is MPCK-means with one diagonal metric, the best of ten starts. The peer uses one start;
// with one, the objective depends on luck.
func mpck(l *lesson) job {
	var found *cluster.PenalizedResult
	p := cluster.PenalizedParams{Params: cluster.Params{K: l.classes(), Restarts: cluster.DefaultRestarts,
		Seed: 1}, Metric: cluster.MetricDiagonal}
	return job{
		func(ctx context.Context, s Subject, _ algorithms.ProgressFunc) (err error) {
			found, err = cluster.Penalized(ctx, s.Engine, l.matrix(), l.pairs, p)
			return err
		},
		func(context.Context, Subject) (blas.Matrix, error) {
			out := blas.NewMatrix(len(found.Labels), 1)
			for i, c := range found.Labels {
				out.Set(i, 0, float64(c))
			}
			return out, nil
		},
	}
}

func rcaLearner(l *lesson, _ algorithms.ProgressFunc) (algorithms.Learner, *links.Set) {
	p := param.Default[baseline.RCA]()
	p.EpsRel = 1e-12
	return &baseline.RCALearner{Params: p}, l.chunklets
}

func mmcLearner(diagonal bool) func(l *lesson, p algorithms.ProgressFunc) (algorithms.Learner, *links.Set) {
	return func(l *lesson, progress algorithms.ProgressFunc) (algorithms.Learner, *links.Set) {
		p := param.Default[baseline.MMC]()
		p.Diagonal, p.EpsRel = diagonal, 1e-9
		return baseline.MMCLearner{Params: p, Progress: progress}, l.pairs
	}
}

func lmnnLearner(l *lesson, progress algorithms.ProgressFunc) (algorithms.Learner, *links.Set) {
	p := param.Default[baseline.LMNN]()
	p.Rank = 0
	return baseline.LMNNLearner{Params: p, Progress: progress}, l.classified
}

func ncaLearner(l *lesson, progress algorithms.ProgressFunc) (algorithms.Learner, *links.Set) {
	p := param.Default[baseline.NCA]()
	p.Rank = 0
	return baseline.NCALearner{Params: p, Progress: progress}, l.classified
}

// whiteness returns the largest element of the difference between the covariance within chunklets
// and the identity.
func whiteness(l *lesson, y blas.Matrix) float64 {
	c, rows := blas.NewMatrix(y.Cols, y.Cols), 0
	for _, members := range l.chunklets.Chunklets() {
		rows += len(members)
		mean := make([]float64, y.Cols)
		for _, i := range members {
			for k, v := range y.Row(i) {
				mean[k] += v / float64(len(members))
			}
		}
		for _, i := range members {
			for a, v := range y.Row(i) {
				for b, w := range y.Row(i) {
					c.Set(a, b, c.At(a, b)+(v-mean[a])*(w-mean[b]))
				}
			}
		}
	}
	most := 0.0
	for a := range y.Cols {
		for b := range y.Cols {
			v := c.At(a, b) / float64(rows)
			if a == b {
				v--
			}
			most = max(most, math.Abs(v))
		}
	}
	return most
}

// separation returns the sum of the distances of cannot-linked points, divided by the root of the
// sum of the squared distances of must-linked points.
func separation(l *lesson, y blas.Matrix) float64 {
	near, far := 0.0, 0.0
	for _, link := range l.pairs.Must() {
		near += points.SquaredDistance(y.Row(link.I), y.Row(link.J))
	}
	for _, link := range l.pairs.Cannot() {
		far += math.Sqrt(points.SquaredDistance(y.Row(link.I), y.Row(link.J)))
	}
	return far / math.Sqrt(near)
}

// margins returns the objective of lmnn with three target neighbors and mu = 1/2.
func margins(l *lesson, y blas.Matrix) float64 {
	sum := 0.0
	for i := range y.Rows {
		var mates []int
		for j := range y.Rows {
			if j != i && l.labels[i] == l.labels[j] {
				mates = append(mates, j)
			}
		}
		before := func(j int) float64 { return points.SquaredDistance(l.x.Row(i), l.x.Row(j)) }
		slices.SortStableFunc(mates, func(a, b int) int {
			switch p, q := before(a), before(b); {
			case p < q:
				return -1
			case p > q:
				return 1
			}
			return 0
		})
		for _, j := range mates[:min(3, len(mates))] {
			limit := points.SquaredDistance(y.Row(i), y.Row(j))
			sum += 0.5 * limit
			for k := range y.Rows {
				if l.labels[k] != l.labels[i] {
					sum += 0.5 * max(0, 1+limit-points.SquaredDistance(y.Row(i), y.Row(k)))
				}
			}
		}
	}
	return sum
}

// chances returns the objective of nca.
func chances(l *lesson, y blas.Matrix) float64 {
	mean := 0.0
	for i := range y.Rows {
		least, same, all := math.Inf(1), 0.0, 0.0
		for j := range y.Rows {
			if j != i {
				least = min(least, points.SquaredDistance(y.Row(i), y.Row(j)))
			}
		}
		for j := range y.Rows {
			if j != i {
				v := math.Exp(least - points.SquaredDistance(y.Row(i), y.Row(j)))
				if all += v; l.labels[i] == l.labels[j] {
					same += v
				}
			}
		}
		mean += same / all / float64(y.Rows)
	}
	return mean
}

// penalties returns the objective of MPCK-means for a column of clusters with the best diagonal
// metric for them: the number of points divided by their scatter around the centers and along
// violated links.
func penalties(l *lesson, clusters blas.Matrix) float64 {
	x, n, d := l.matrix(), l.x.N, l.x.D
	centers, count := blas.NewMatrix(l.classes(), d), make([]float64, l.classes())
	of := func(i int) int { return int(clusters.At(i, 0)) }
	for i := range n {
		count[of(i)]++
	}
	for i := range n {
		for k, v := range x.Row(i) {
			centers.Set(of(i), k, centers.At(of(i), k)+v/count[of(i)])
		}
	}
	weights := make([]float64, d)
	for k := range weights {
		weights[k] = 1
	}
	squared := func(a, b []float64) float64 {
		sum := 0.0
		for k, v := range a {
			sum += weights[k] * (v - b[k]) * (v - b[k])
		}
		return sum
	}
	farthest := func() (most float64, pair [2]int) {
		for i := range n {
			for j := range i {
				if v := squared(x.Row(i), x.Row(j)); v > most {
					most, pair = v, [2]int{i, j}
				}
			}
		}
		return most, pair
	}
	_, pair := farthest()
	sums := make([]float64, d)
	add := func(a, b []float64, w float64) {
		for k, v := range a {
			sums[k] += w * (v - b[k]) * (v - b[k])
		}
	}
	for i := range n {
		add(x.Row(i), centers.Row(of(i)), 1)
	}
	for _, k := range l.pairs.Must() {
		if of(k.I) != of(k.J) {
			add(x.Row(k.I), x.Row(k.J), 1)
		}
	}
	for _, k := range l.pairs.Cannot() {
		if of(k.I) == of(k.J) {
			add(x.Row(pair[0]), x.Row(pair[1]), 1)
			add(x.Row(k.I), x.Row(k.J), -1)
		}
	}
	logdet := 0.0
	for k, v := range sums {
		weights[k] = float64(n) / max(v, 1e-9)
		logdet += math.Log(weights[k])
	}
	most, _ := farthest()
	total := -float64(n) * logdet
	for i := range n {
		total += squared(x.Row(i), centers.Row(of(i)))
	}
	for _, k := range l.pairs.Must() {
		if of(k.I) != of(k.J) {
			total += squared(x.Row(k.I), x.Row(k.J))
		}
	}
	for _, k := range l.pairs.Cannot() {
		if of(k.I) == of(k.J) {
			total += most - squared(x.Row(k.I), x.Row(k.J))
		}
	}
	return total
}
