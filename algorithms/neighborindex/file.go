package neighborindex

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// kind is what the header of a file names as its method.
const kind = "nearest-neighbor index"

// parameters are those in the header of a file.
type parameters struct {
	Neighbors int    `json:"neighbors"`
	Seed      uint64 `json:"seed"`
	Model     string `json:"model"`
}

// file returns the content of the file: a container as that of models, with checksums.
func (x *Index) file() (*model.File, error) {
	params, err := json.Marshal(parameters{x.neighbors, x.seed, x.source.Model})
	if err != nil {
		return nil, err
	}
	f := &model.File{Header: model.Header{Method: kind, Params: params, Fingerprint: x.source.Data}}
	f.SetFloat64s("centers", x.centers.Data[:x.centers.Rows*x.centers.Cols], x.centers.Rows, x.centers.Cols)
	cells := make([]int64, len(x.cells))
	for i, c := range x.cells {
		cells[i] = int64(c)
	}
	f.SetInt64s("cells", cells)
	f.SetInt64s("sample.chosen", x.chosen.hits)
	f.SetInt64s("sample.chosen.squares", x.chosen.squares)
	f.SetInt64s("sample.held", x.held.hits)
	f.List()
	return f, nil
}

// WriteTo writes the bytes of the index file.
func (x *Index) WriteTo(w io.Writer) (int64, error) {
	f, err := x.file()
	if err != nil {
		return 0, err
	}
	return f.WriteTo(w)
}

// WriteFile writes the index to a file: completely, or not at all if there is an error.
func (x *Index) WriteFile(path string) error {
	f, err := x.file()
	if err != nil {
		return err
	}
	return f.WriteFile(path)
}

// ReadFile reads the index file at path. A file that is not an index, or is damaged, is a
// *fault.DataError, and so is one of more than limit bytes, 0 for no limit, before it is read.
func ReadFile(path string, limit int64) (*Index, error) {
	f, err := model.ReadFileWithin(path, limit)
	if err != nil {
		return nil, unusable(err)
	}
	x, err := decode(f)
	return x, fault.InFile(err, path)
}

// decode checks the content of a file.
func decode(f *model.File) (*Index, error) {
	if f.Header.Method != kind {
		return nil, fault.Data("",
			"it is the model of a method, %s: want an index of mustlink neighbors, or a new file",
			f.Header.Method)
	}
	if err := f.Complete(); err != nil {
		return nil, err
	}
	var p parameters
	if err := json.Unmarshal(f.Header.Params, &p); err != nil {
		return nil, fault.Data("", "parameters of the index: %w", err)
	}
	x := &Index{source: Source{p.Model, f.Header.Fingerprint}, neighbors: p.Neighbors, seed: p.Seed}
	if err := x.decodeCells(f); err != nil {
		return nil, err
	}
	if p.Neighbors < 1 || p.Neighbors >= x.Rows() {
		return nil, fault.Data("", "the index is for %d neighbors of %d rows: want 1 to %d", p.Neighbors,
			x.Rows(), x.Rows()-1)
	}
	for name, s := range map[string]*sample{"sample.chosen": &x.chosen, "sample.held": &x.held} {
		if err := x.decodeSample(f, name, s); err != nil {
			return nil, err
		}
	}
	return x, x.decodeSquares(f)
}

// decodeCells reads the centers and the cell of each row.
func (x *Index) decodeCells(f *model.File) error {
	shape, err := f.Dims("centers", 2)
	if err != nil {
		return err
	}
	if shape[0] < 1 || shape[1] < 1 {
		return fault.Data("", "the index has %d cells of %d dimensions: want at least one of each", shape[0],
			shape[1])
	}
	values, err := f.Float64s("centers", shape...)
	if err != nil {
		return err
	}
	for at, v := range values {
		if v-v != 0 {
			return fault.Data("", "value %d of the centers of the index is %v: want a finite number", at, v)
		}
	}
	x.centers = blas.MatrixOf(shape[0], shape[1], values)
	cells, err := f.Int64s("cells")
	if err != nil {
		return err
	}
	if len(cells) > math.MaxInt32 {
		return fault.Data("", "the index has %d rows: want at most %d", len(cells), math.MaxInt32)
	}
	x.cells = make([]int32, len(cells))
	used := make([]bool, shape[0])
	for i, c := range cells {
		if c < 0 || c >= int64(shape[0]) {
			return fault.Data("", "row %d of the index is in cell %d: want 0 to %d", i, c, shape[0]-1)
		}
		x.cells[i], used[c] = int32(c), true
	}
	for c, ok := range used {
		if !ok {
			return fault.Data("", "cell %d of the index has no rows: want at least one", c)
		}
	}
	return nil
}

// decodeSample reads the ranks of a sample.
func (x *Index) decodeSample(f *model.File, name string, s *sample) error {
	var err error
	if s.hits, err = f.Int64s(name, x.Cells()); err != nil {
		return err
	}
	total := int64(0)
	for rank, v := range s.hits {
		if v < 0 || v > math.MaxInt32 {
			return fault.Data("", "rank %d of tensor %q has %d neighbors: want 0 to %d", rank, name, v,
				math.MaxInt32)
		}
		total += v
	}
	if total == 0 || total%int64(x.neighbors) != 0 {
		return fault.Data("", "tensor %q has %d neighbors: want a multiple of %d, at least one", name, total,
			x.neighbors)
	}
	return nil
}

// decodeSquares reads the squares of the sample by which probes are chosen. A row with f of its k
// neighbors in the nearest cells adds f^2, which is from f to f k.
func (x *Index) decodeSquares(f *model.File) error {
	const name = "sample.chosen.squares"
	var err error
	if x.chosen.squares, err = f.Int64s(name, x.Cells()); err != nil {
		return err
	}
	found := int64(0)
	for rank, v := range x.chosen.squares {
		found += x.chosen.hits[rank]
		if v < found || v/int64(x.neighbors) > found {
			return fault.Data("", "rank %d of tensor %q is %d: want %d to %d times as much", rank, name, v,
				found, x.neighbors)
		}
	}
	return nil
}

// unusable says that the file is wrong as an index. Other errors than those of the content speak
// for themselves.
func unusable(err error) error {
	de, ok := errors.AsType[*fault.DataError](err)
	for _, of := range []error{model.ErrForeign, model.ErrTruncated, model.ErrCorrupted, model.ErrVersion} {
		if ok && errors.Is(de.Err, of) {
			named := *de
			named.Err = fmt.Errorf("not a usable index: %w", de.Err)
			return &named
		}
	}
	return err
}
