package export_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/export"
	"github.com/mustlink/mustlink/export/internal/onnxtest"
)

// runtime compares the results of graphs, evaluated by package onnxtest, with those of models.
// Where MUSTLINK_ONNXRUNTIME is the folder of onnxruntime-node (make test-onnx), onnxruntime
// evaluates them too, and package onnx of Python checks them.
type runtime struct {
	t      *testing.T
	folder string // of files for onnxruntime, "" without
	jobs   []job
	want   []*mat.Dense
	limits []float64
}

// job is a graph to evaluate, as testdata/run.js takes it.
type job struct {
	Model   string     `json:"model"`
	Single  bool       `json:"single"`
	X       string     `json:"x"`
	Columns int        `json:"columns"`
	Texts   [][]string `json:"texts,omitempty"`
	Rows    int        `json:"rows"`
	Y       string     `json:"y"`
}

func newRuntime(t *testing.T) *runtime {
	r := &runtime{t: t}
	if os.Getenv("MUSTLINK_ONNXRUNTIME") != "" {
		r.folder = t.TempDir()
	}
	return r
}

// add exports a model; want are the coordinates of the rows x and texts.
func (r *runtime) add(name string, m *mustlink.Model, p export.Precision, x [][]float64, texts [][]string,
	want *mat.Dense) {
	r.t.Helper()
	var file bytes.Buffer
	if _, err := export.ONNX(context.Background(), &file, m, export.ONNXOptions{Precision: p}); err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	r.addFile(name, file.Bytes(), p, x, texts, want, limitOf(m, p))
}

// addFile compares a graph by package onnxtest, and adds it to those for onnxruntime.
func (r *runtime) addFile(name string, file []byte, p export.Precision, x [][]float64, texts [][]string,
	want *mat.Dense, limit float64) {
	r.t.Helper()
	got, err := evaluate(file, p, x, texts)
	if err != nil {
		r.t.Errorf("%s %s: %v", name, p, err)
	} else {
		r.near(name+" "+string(p), got, want, limit)
	}
	if r.folder == "" {
		return
	}
	name = fmt.Sprintf("%03d %s %s", len(r.jobs), name, p)
	rows, _ := want.Dims()
	j := job{Model: name + ".onnx", Single: p == export.Single, X: name + ".x", Texts: texts, Rows: rows,
		Y: name + ".y"}
	var numbers []byte
	for _, row := range x {
		j.Columns = len(row)
		for _, v := range row {
			if j.Single {
				numbers = binary.NativeEndian.AppendUint32(numbers, math.Float32bits(float32(v)))
			} else {
				numbers = binary.NativeEndian.AppendUint64(numbers, math.Float64bits(v))
			}
		}
	}
	r.write(j.Model, file)
	r.write(j.X, numbers)
	r.jobs, r.want, r.limits = append(r.jobs, j), append(r.want, want), append(r.limits, limit)
}

// evaluate returns the coordinates of rows by package onnxtest.
func evaluate(file []byte, p export.Precision, x [][]float64, texts [][]string) ([]float64, error) {
	m, err := onnxtest.Read(file)
	if err != nil {
		return nil, err
	}
	inputs := map[string]*onnxtest.Tensor{}
	if len(x) > 0 && len(x[0]) > 0 {
		in := &onnxtest.Tensor{Type: onnxtest.Float64, Dims: []int{len(x), len(x[0])},
			Numbers: slices.Concat(x...)}
		if p == export.Single {
			in.Type = onnxtest.Float32
			for i, v := range in.Numbers {
				in.Numbers[i] = float64(float32(v))
			}
		}
		inputs["x"] = in
	}
	if len(texts) > 0 {
		inputs["texts"] = &onnxtest.Tensor{Type: onnxtest.Text, Dims: []int{len(texts), len(texts[0])},
			Texts: slices.Concat(texts...)}
	}
	out, err := m.Run(inputs)
	if err != nil {
		return nil, err
	}
	return out["coordinates"].Numbers, nil
}

// near compares coordinates.
func (r *runtime) near(name string, got []float64, want *mat.Dense, limit float64) {
	r.t.Helper()
	if off := distance(got, want); !(off <= limit) {
		r.t.Errorf("%s: coordinates differ by %.2g of the largest: want at most %.2g", name, off, limit)
	} else {
		r.t.Logf("%s: %.2g", name, off)
	}
}

// limitOf returns by how much coordinates may differ, relative to the largest.
func limitOf(m *mustlink.Model, p export.Precision) float64 {
	if p == export.Single {
		return 1e-5
	}
	switch k := m.Describe().Kernel; {
	case strings.Contains(k, "exp") && strings.Contains(k, "@"):
		return 1e-8 // roots of differences of kernel values, also in Embed
	case k == "linear":
		return 1e-11 // its values are sums that cancel, in another order, which a condition does not count
	}
	return 1e-12
}

// TestSumsRuntime evaluates a map over pairs of equal points, whose weights cancel to a millionth.
func TestSumsRuntime(t *testing.T) {
	r := newRuntime(t)
	p := newProblem(t, 40, 3)
	m := p.fit(t, "kpca", "kernel=rbf:sigma=4", "dims=2", "unscaled")
	f, err := m.Record().Model.(algorithms.Formulas).Formula()
	if err != nil {
		t.Fatal(err)
	}
	e := *f.(*formula.Expansion)
	once := e.Support.(*points.Dense)
	n := once.N
	e.Support = &points.Dense{N: 2 * n, D: once.D, Data: append(slices.Clone(once.Data), once.Data...)}
	e.Center, e.V = nil, blas.NewMatrix(2*n, 2)
	want, rng := mat.NewDense(len(p.rows), 2, nil), rand.New(rand.NewPCG(5, 5))
	for l := range n {
		for c := range 2 {
			e.V.Set(l, c, 1e6*rng.NormFloat64())
			e.V.Set(n+l, c, -(1+1e-6*rng.NormFloat64())*e.V.At(l, c))
			for i, x := range p.rows {
				k := math.Exp(-points.SquaredDistance(x, once.Row(l)) / (2 * 4 * 4))
				want.Set(i, c, want.At(i, c)+k*(e.V.At(l, c)+e.V.At(n+l, c)))
			}
		}
	}
	file, err := export.GraphOf(m, &e)
	if err != nil {
		t.Fatal(err)
	}
	r.addFile("sums", file, export.Double, p.rows, nil, want, 1e-13)
	r.compare()
}

func (r *runtime) write(name string, content []byte) {
	if err := os.WriteFile(filepath.Join(r.folder, name), content, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// compare evaluates all graphs by onnxruntime, if it is there, and compares the coordinates.
func (r *runtime) compare() {
	if r.folder == "" {
		return
	}
	list, err := json.Marshal(r.jobs)
	if err != nil {
		r.t.Fatal(err)
	}
	r.write("jobs.json", list)
	if out, err := exec.Command("node", "testdata/run.js", r.folder).CombinedOutput(); err != nil {
		r.t.Errorf("onnxruntime: %v\n%s", err, out)
	}
	for k, j := range r.jobs {
		got, err := r.read(j)
		if err != nil {
			r.t.Errorf("%s: %v", j.Model, err)
			continue
		}
		r.near("onnxruntime: "+j.Model, got, r.want[k], r.limits[k])
	}
	r.checked()
}

// checked lets Python's package onnx check all graphs.
func (r *runtime) checked() {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import onnx").Run() != nil {
		r.t.Log("not checked by package onnx of Python, which is not installed: want python3-onnx")
		return
	}
	args := []string{"testdata/check.py"}
	for _, j := range r.jobs {
		args = append(args, filepath.Join(r.folder, j.Model))
	}
	if out, err := exec.Command(python, args...).CombinedOutput(); err != nil {
		r.t.Errorf("package onnx: %v\n%s", err, out)
	}
}

// read returns the coordinates that a job has written.
func (r *runtime) read(j job) ([]float64, error) {
	content, err := os.ReadFile(filepath.Join(r.folder, j.Y))
	if err != nil {
		return nil, err
	}
	var out []float64
	for len(content) > 0 {
		if j.Single {
			out = append(out, float64(math.Float32frombits(binary.NativeEndian.Uint32(content))))
			content = content[4:]
		} else {
			out = append(out, math.Float64frombits(binary.NativeEndian.Uint64(content)))
			content = content[8:]
		}
	}
	return out, nil
}

// distance returns the largest difference, relative to the largest coordinate.
func distance(got []float64, want *mat.Dense) float64 {
	rows, cols := want.Dims()
	if len(got) != rows*cols {
		return math.Inf(1)
	}
	largest, off := 0.0, 0.0
	for i := range rows {
		for c := range cols {
			d := math.Abs(got[i*cols+c] - want.At(i, c))
			if math.IsNaN(d) {
				return math.NaN()
			}
			largest, off = max(largest, math.Abs(want.At(i, c))), max(off, d)
		}
	}
	return off / largest
}
