package soak

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Bounds of the random problems.
const (
	maxPoints   = 300
	smallPoints = 30 // points, for a method for few points
	maxFeatures = 30
)

// job is one problem, drawn from its number.
type job struct {
	method   catalog.Method
	config   catalog.Config
	x, fresh points.Points
	set      *links.Set
	more     *links.Set // for models that can be updated
}

// newJob draws job number. The same seed and number give the same job.
func newJob(seed, number uint64) (job, error) {
	rng := rand.New(rand.NewPCG(seed, number))
	methods := catalogtest.Methods()
	j := job{method: methods[rng.IntN(len(methods))]}
	most := maxPoints
	if j.method.Small {
		most = smallPoints
	}
	n, d := 2+rng.IntN(most-1), 1+rng.IntN(maxFeatures)
	classes := 2 + rng.IntN(3)
	x, labels := clouds(rng, n, d, classes)
	j.x = x
	j.fresh, _ = clouds(rng, rng.IntN(maxPoints), d, classes)
	if rng.IntN(8) == 0 {
		j.x, j.fresh = sparse(x), sparse(j.fresh.(*points.Dense))
	}
	j.config = catalog.Config{Seed: rng.Uint64(), Kernel: randomKernel(rng, j.method),
		Params: randomParams(rng, j.method)}
	var err error
	if j.set, err = sample(rng, labels); err != nil {
		return job{}, err
	}
	j.more, err = sample(rng, labels)
	return j, err
}

// clouds returns n points around the centers of classes.
func clouds(rng *rand.Rand, n, d, classes int) (*points.Dense, []string) {
	x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
	scale := math.Exp(3 * rng.NormFloat64())
	for i := range n {
		class := rng.IntN(classes)
		labels[i] = strconv.Itoa(class)
		for f := range d {
			x.Data[i*d+f] = scale * (rng.NormFloat64() + float64(3*((class>>(f%2))%2)))
		}
	}
	return x, labels
}

// sparse returns x as a sparse matrix, without zeros and small values.
func sparse(x *points.Dense) *points.CSR {
	out := &points.CSR{N: x.N, D: x.D, Start: make([]int, 1, x.N+1)}
	for i := range x.N {
		for f, v := range x.Data[i*x.D : (i+1)*x.D] {
			if math.Abs(v) > 1 {
				out.Col, out.Val = append(out.Col, int32(f)), append(out.Val, v)
			}
		}
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

// sample draws a random number of links, at most as many as there are pairs.
func sample(rng *rand.Rand, labels []string) (*links.Set, error) {
	sizes := map[string]int{}
	for _, l := range labels {
		sizes[l]++
	}
	same, n := 0, len(labels)
	for _, size := range sizes {
		same += size * (size - 1) / 2
	}
	different := n*(n-1)/2 - same
	return links.SampleByCount(labels, rng.IntN(min(same, n)+1), rng.IntN(min(different, n)+1), rng.Uint64())
}

// randomKernel returns a random kernel, often "" for the default of the method, which most people
// use.
func randomKernel(rng *rand.Rand, m catalog.Method) string {
	if m.DefaultKernel == "" && !m.Linear || rng.IntN(2) == 0 {
		return ""
	}
	kernels := []string{"linear", "rbf:sigma=median", "rbf:sigma=0.5msq", "poly:degree=2", "exp:width=mean",
		"cosine"}
	return kernels[rng.IntN(len(kernels))]
}

// randomParams changes up to two parameters to values of the type of their defaults.
func randomParams(rng *rand.Rand, m catalog.Method) map[string]string {
	params := map[string]string{}
	for range rng.IntN(3) {
		if len(m.Parameters) == 0 {
			break
		}
		p := m.Parameters[rng.IntN(len(m.Parameters))]
		counts := []string{"1", "2", "3", "5", "10"}
		if _, err := strconv.Atoi(p.Default); err == nil {
			params[p.Name] = counts[rng.IntN(len(counts))]
		} else if v, err := strconv.ParseFloat(p.Default, 64); err == nil {
			params[p.Name] = strconv.FormatFloat(v*math.Pow(10, 2*rng.Float64()-1), 'g', 3, 64)
		} else if v, err := strconv.ParseBool(p.Default); err == nil {
			params[p.Name] = strconv.FormatBool(!v)
		}
	}
	return params
}

// answer is the result of a job: the kind of its error, or the digest of everything it computed.
type answer struct {
	failure string // "" for none
	digest  [sha256.Size]byte
	embeds  int
}

// errPanic wraps the value of a panic in a job.
var errPanic = errors.New("panic")

// errLoaded is the error if a model and its copy read back from a file embed differently.
var errLoaded = errors.New("the embedding of the model that was read back is not bit-identical")

// do fits, encodes, reads back, embeds and updates a model. A panic is an error that wraps
// errPanic.
func (j job) do(ctx context.Context, eng *engine.Engine) (a answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
		}
	}()
	learner, err := j.method.New(j.config)
	if err != nil {
		return a, err
	}
	m, err := learner.Fit(ctx, eng, j.x, j.set)
	if err != nil {
		return a, err
	}
	sum := sha256.New()
	if err := j.use(ctx, eng, m, sum, &a); err != nil {
		return a, err
	}
	if with, ok := m.(algorithms.Linker); ok {
		if m, err = with.AddLinks(ctx, eng, j.x, j.more); err == nil {
			err = j.use(ctx, eng, m, sum, &a)
		}
	} else if with, ok := m.(algorithms.Updater); ok && j.fresh.Len() > 1 {
		if m, err = with.Update(ctx, eng, j.fresh,
			[]algorithms.Chunklet{{ID: algorithms.NewChunklet, Rows: []int{0, 1}}}); err == nil {
			err = j.use(ctx, eng, m, sum, &a)
		}
	}
	sum.Sum(a.digest[:0])
	return a, err
}

// use writes the model, reads it back, and embeds with both.
func (j job) use(ctx context.Context, eng *engine.Engine, m algorithms.Model, sum hash.Hash,
	a *answer) error {
	file, err := catalog.Encode(catalog.NewFitted(eng, m, nil))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if _, err := file.WriteTo(&text); err != nil {
		return err
	}
	status := m.Status()
	status.Elapsed = 0 // the only value in a file that differs from fit to fit
	fmt.Fprint(sum, status)
	timeless := *file
	timeless.Header.Status = nil
	if _, err := timeless.WriteTo(sum); err != nil {
		return err
	}
	if file, err = model.Read(bytes.NewReader(text.Bytes()), int64(text.Len())); err != nil {
		return err
	}
	loaded, err := catalog.Decode(file)
	if err != nil {
		return err
	}
	coordinates, err := m.Embed(ctx, eng, j.fresh)
	if err != nil {
		return err
	}
	again, err := loaded.Model.Embed(ctx, eng, j.fresh)
	if err != nil {
		return err
	}
	a.embeds += 2
	values := bits(coordinates.Clone().Data)
	if !slices.Equal(values, bits(again.Clone().Data)) {
		return errLoaded
	}
	sum.Write(values)
	return nil
}

// bits returns the bytes of values.
func bits(values []float64) []byte {
	out := make([]byte, 0, 8*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// kind names the kind of an error; expected is false for errors that no input should cause.
func kind(err error) (name string, expected bool) {
	var (
		param  *fault.ParamError
		data   *fault.DataError
		shape  *fault.ShapeError
		memory *fault.MemoryError
	)
	switch {
	case errors.Is(err, errPanic):
		return "panic", false
	case errors.As(err, &param):
		return "parameter", true
	case errors.As(err, &shape):
		return "shape", true
	case errors.As(err, &memory):
		return "memory", true
	case errors.As(err, &data):
		return "data", true
	case fault.IsInput(err):
		return "other input", true
	}
	return "failure", false
}
