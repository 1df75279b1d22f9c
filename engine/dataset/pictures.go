package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"image/draw"
	_ "image/gif" // the formats of pictures
	_ "image/jpeg"
	_ "image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/internal/atomicfile"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/panics"
)

// Pictures says which column of a table has the paths of pictures (PNG, JPEG or GIF), and what they
// become: a feature for each pixel, from 0 to 255, in the order of rows. The paths begin in the
// folder of the table. Parts that are transparent are white, and the first picture of a moving GIF
// counts. A model keeps it, so that later pictures become the same features.
type Pictures struct {
	Column string `json:"column"` // "" in a folder of pictures, which has only one
	// Pixels are the width and the height to which pictures are scaled, and with a third factor of 3
	// their colors: "32x32", which "" stands for, or "32x32x3".
	Pixels string `json:"pixels,omitempty"`
}

const (
	pictureColumn  = "picture" // in a folder
	defaultPixels  = "32x32"
	mostPixels     = 1 << 20 // of what a picture becomes
	pictureEndings = ".png .jpg .jpeg .gif"
)

// IsFolder reports whether a path is that of a folder, which is a table of pictures.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// size returns the numbers of columns and rows of pixels, and of their colors.
func (p *Pictures) size() (width, height, colors int, err error) {
	text := cmp.Or(p.Pixels, defaultPixels)
	n := []int{0, 0, 1}
	parts := strings.Split(text, "x")
	for k := range parts {
		if k < len(n) {
			n[k], err = strconv.Atoi(parts[k])
		}
		if err != nil || k >= len(n) || n[k] < 1 || n[k] > mostPixels {
			parts = nil
			break
		}
	}
	if len(parts) < 2 || n[2] != 1 && n[2] != 3 || n[0]*n[1]*n[2] > mostPixels {
		return 0, 0, 0, fault.Param("pixels", p.Pixels,
			"WIDTHxHEIGHT, or WIDTHxHEIGHTx3 for colors, of at most 1048576 features")
	}
	return n[0], n[1], n[2], nil
}

// forPictures returns the options with what the source and its pictures ask for.
func (o ReadOptions) forPictures(src *source) (ReadOptions, error) {
	if src.folder {
		p := Pictures{Column: pictureColumn}
		if o.Pictures != nil {
			p.Pixels = o.Pictures.Pixels
		}
		o.Pictures = &p
	}
	if o.Pictures == nil {
		return o, nil
	}
	if o.Pictures.Column == "" {
		return o, fault.Param("pixels", o.Pictures.Pixels,
			"none without a column of pictures, or a folder of them")
	}
	if _, _, _, err := o.Pictures.size(); err != nil {
		return o, err
	}
	pixel := func(name string) bool { return strings.HasPrefix(name, o.Pictures.Column+".") }
	o.Mixed = true
	o.Numbers = slices.DeleteFunc(slices.Clone(o.Numbers), pixel) // of a model that has them
	o.Text = append(slices.DeleteFunc(slices.Clone(o.Text), pixel), o.Pictures.Column)
	return o, nil
}

// openFolder returns a list of the pictures of a folder, and of its folders, as the text of a table
// with their paths in the columns id and picture. Pictures in folders have the name of the
// uppermost one as their label.
func openFolder(path string) (*source, error) {
	var paths []string
	labels := false
	err := filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		name := e.Name()
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(name, ".") && at != path:
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.Type().IsRegular() && slices.Contains(strings.Fields(pictureEndings),
			strings.ToLower(filepath.Ext(name))):
			if name, err = filepath.Rel(path, at); err != nil {
				return err
			}
			paths = append(paths, filepath.ToSlash(name))
			labels = labels || strings.Contains(paths[len(paths)-1], "/")
		}
		return nil
	})
	if err != nil {
		return nil, atomicfile.CannotRead(path, err)
	}
	if len(paths) == 0 {
		return nil, fault.Data(path, "it is a folder without pictures: want a file, or pictures ending in %s",
			strings.ReplaceAll(pictureEndings, " ", ", "))
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	header := []string{idColumn, pictureColumn, labelColumn}
	if !labels {
		header = header[:2]
	}
	_ = w.Write(header) // to memory
	for _, name := range paths {
		label, _, below := strings.Cut(name, "/")
		if !below {
			label = ""
		}
		_ = w.Write([]string{name, name, label}[:len(header)])
	}
	w.Flush()
	src := newSource(path, &text, int64(text.Len()), false)
	src.folder, src.named = true, true
	return src, nil
}

// readPictures replaces the column of paths by those of pixels. Cost: that of decoding all
// pictures, on all processors; memory for the pixels and, on each processor, for one picture.
func (t *table) readPictures(src *source, o ReadOptions) error {
	x, _ := t.points.(*points.Mixed)
	j := slices.Index(t.features, o.Pictures.Column)
	if x == nil || j < 0 || !x.Columns[j].IsText() {
		return fault.Data(src.name, "column %s has no texts: want paths of pictures", quote(o.Pictures.Column))
	}
	width, height, colors, err := o.Pictures.size()
	if err != nil {
		return err
	}
	size, paths := width*height*colors, &x.Columns[j]
	const word = 8
	if err := checkBytes(o, src.name, 2*word*int64(t.rows)*int64(size)); err != nil {
		return err
	}
	folder := src.name
	if !src.folder {
		folder = filepath.Dir(src.name)
	}
	data, errs := make([]float64, t.rows*size), make([]error, t.rows)
	var next atomic.Int64
	panics.Run(min(runtime.GOMAXPROCS(0), t.rows), func() {
		for i := int(next.Add(1)) - 1; i < t.rows; i = int(next.Add(1)) - 1 {
			if paths.Codes[i] < 0 {
				errs[i] = errors.New("the cell is empty: want the path of a picture")
				continue
			}
			cell := paths.Levels[paths.Codes[i]]
			path := filepath.FromSlash(cell)
			if !filepath.IsAbs(path) {
				path = filepath.Join(folder, path)
			}
			if err := readPicture(path, width, height, data[i*size:(i+1)*size]); err != nil {
				errs[i] = fmt.Errorf("%s %w", quote(cell), err)
			}
		}
	})
	for i, err := range errs {
		if err != nil {
			return &fault.DataError{File: src.name, Row: i, Column: paths.Name, Err: err}
		}
	}
	names := ItemNames(o.Pictures.Column, size)
	t.features = slices.Replace(slices.Clone(t.features), j, j+1, names...)
	if len(x.Columns) == 1 {
		t.points, t.data, t.cols = nil, data, size
		return nil
	}
	columns := make([]points.Column, size)
	for k := range columns {
		columns[k] = points.Column{Name: names[k], Numbers: make([]float64, t.rows)}
		for i := range t.rows {
			columns[k].Numbers[i] = data[i*size+k]
		}
	}
	t.points = &points.Mixed{N: x.N, Columns: slices.Replace(slices.Clone(x.Columns), j, j+1, columns...)}
	return nil
}

// mostDecoded is the number of pixels that a picture may have in its file: 134 megapixels.
const mostDecoded = 1 << 27

// readPicture writes the pixels of a picture to out, row by row, gray or with three colors each. A
// picture with too many is refused before there is memory for them.
func readPicture(path string, width, height int, out []float64) error {
	info, err := os.Stat(path) // a pipe would wait
	if err != nil || !info.Mode().IsRegular() {
		return errors.New("is no file: want the path of a picture")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	config, _, err := image.DecodeConfig(bufio.NewReader(f))
	if err == nil && (config.Width < 1 || config.Height < 1 || config.Width > mostDecoded/config.Height) {
		return fmt.Errorf("has %d x %d pixels: want 1 to %d", config.Width, config.Height, mostDecoded)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	var decoded image.Image
	if err == nil {
		decoded, _, err = image.Decode(bufio.NewReader(f))
	}
	if err != nil {
		return fmt.Errorf("is no picture: %w: want PNG, JPEG or GIF", err)
	}
	whole := image.NewRGBA(image.Rect(0, 0, decoded.Bounds().Dx(), decoded.Bounds().Dy()))
	draw.Draw(whole, whole.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(whole, whole.Bounds(), decoded, decoded.Bounds().Min, draw.Over)
	scale(whole, width, height, out)
	return nil
}

// scale writes the means of a picture over the parts that the pixels of another size cover, rounded
// to whole numbers.
func scale(m *image.RGBA, width, height int, out []float64) {
	const red, green, blue = .299, .587, .114 // the luma of ITU-R BT.601
	across, down := parts(m.Rect.Dx(), width), parts(m.Rect.Dy(), height)
	colors := len(out) / (width * height)
	for y, rows := range down {
		for x, columns := range across {
			var sum [3]float64
			for i, v := range rows.weights {
				at := (rows.first+i)*m.Stride + 4*columns.first
				for j, w := range columns.weights {
					for c := range sum {
						sum[c] += v * w * float64(m.Pix[at+4*j+c])
					}
				}
			}
			to := out[(y*width+x)*colors:]
			if colors == 1 {
				to[0] = math.Round(red*sum[0] + green*sum[1] + blue*sum[2])
				continue
			}
			for c := range sum {
				to[c] = math.Round(sum[c])
			}
		}
	}
}

// part is the pixels that one pixel of another size covers, with their shares, whose sum is 1.
type part struct {
	first   int
	weights []float64
}

// parts returns what each of size pixels covers of n.
func parts(n, size int) []part {
	list := make([]part, size)
	for k := range list {
		// in units of 1/size of a pixel, all whole numbers
		begin, end := k*n, (k+1)*n
		p := part{first: begin / size}
		for i := p.first; i*size < end; i++ {
			covered := min(end, (i+1)*size) - max(begin, i*size)
			p.weights = append(p.weights, float64(covered)/float64(n))
		}
		list[k] = p
	}
	return list
}
