package dataset

import (
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// halves returns a picture whose left half has one color and whose right half another.
func halves(width, height int, left, right color.Color) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, left)
			if 2*x >= width {
				m.Set(x, y, right)
			}
		}
	}
	return m
}

// save writes a picture in the format of its name.
func save(t *testing.T, path string, m image.Image) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(path) {
	case ".png":
		err = png.Encode(f, m)
	case ".gif":
		err = gif.Encode(f, m, nil)
	default:
		err = jpeg.Encode(f, m, &jpeg.Options{Quality: 100})
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A folder is a table of its pictures, whose names are ids and whose folders are labels. Whatever
// their size and format, pictures of the same halves have the same pixels.
func TestFolderOfPictures(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a/one.png", "a/two.JPG", "b/three.gif", "four.png", ".hidden/five.png",
		"note.txt"} {
		save(t, filepath.Join(dir, name), halves(8+8*i, 20+i, color.Black, color.White))
	}
	d, err := Read(dir, ReadOptions{Mixed: true, Pictures: &Pictures{Pixels: "4x2"}})
	x := dense(t, d, err)
	if !slices.Equal(d.IDs, []string{"a/one.png", "a/two.JPG", "b/three.gif", "four.png"}) ||
		!slices.Equal(d.Labels, []string{"a", "a", "b", ""}) || x.D != 8 || d.Features[7] != "picture.7" {
		t.Fatalf("ids %v, labels %v, features %v", d.IDs, d.Labels, d.Features)
	}
	for i := range x.N {
		for k, v := range x.Row(i) {
			// the kernel of the scaling mixes neighbors, and JPEG and the colors of GIF are not exact
			if dark := k%4 < 2; dark && v > 30 || !dark && v < 225 {
				t.Errorf("%s: pixel %d is %v", d.IDs[i], k, v)
			}
		}
	}
	plain, err := Read(dir, ReadOptions{})
	if x := dense(t, plain, err); x.D != 32*32 {
		t.Errorf("%d features: want those of 32x32", x.D)
	}
	s, err := OpenStream(dir, ReadOptions{Pictures: &Pictures{Pixels: "4x2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range x.N {
		block, err := s.Next(1)
		if got := dense(t, block, err); !slices.Equal(got.Data, x.Row(i)) || block.IDs[0] != d.IDs[i] {
			t.Errorf("block %d: %v", i, got.Data)
		}
	}
}

// A column of paths becomes the pixels in color, next to the other columns. Uniform pictures keep
// their color, and transparent ones are white.
func TestColumnOfPictures(t *testing.T) {
	dir := t.TempDir()
	red, clear := color.RGBA{200, 10, 30, 255}, color.RGBA{}
	save(t, filepath.Join(dir, "p/red.png"), halves(5, 9, red, red))
	save(t, filepath.Join(dir, "p/clear.png"), halves(64, 3, clear, clear))
	path := filepath.Join(dir, "t.csv")
	write2 := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	abs := filepath.ToSlash(filepath.Join(dir, "p/red.png"))
	write2(fmt.Sprintf("n,photo,c,label\n1,p/red.png,x,a\n2,p/clear.png,y,b\n3,%s,,a\n", abs))
	o := ReadOptions{Mixed: true, Pictures: &Pictures{Column: "photo", Pixels: "2x1x3"}}
	d, err := Read(path, o)
	if err != nil {
		t.Fatal(err)
	}
	m := d.Points.(*points.Mixed)
	want := []string{"n", "photo.0", "photo.1", "photo.2", "photo.3", "photo.4", "photo.5", "c"}
	if !slices.Equal(d.Features, want) || !slices.Equal(m.Names(), want) {
		t.Fatalf("features %v", d.Features)
	}
	for k, v := range []float64{200, 10, 30, 200, 10, 30} {
		if got := m.Columns[1+k].Numbers; !slices.Equal(got, []float64{v, 255, v}) {
			t.Errorf("pixel %d: %v", k, got)
		}
	}
	o.Numbers = []string{"n", "photo.0"} // as a model names them
	if again, err := Read(path, o); err != nil || Fingerprint(again.Points) != Fingerprint(d.Points) {
		t.Errorf("with the columns of a model: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p/no.png"), []byte("no picture"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p/empty.png"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for cell, want := range map[string]string{
		"p/other.png": "is no file", "p": "is no file", "": "the cell is empty",
		"p/no.png": "is no picture", "p/empty.png": "is no picture",
	} {
		write2("photo,c\np/red.png,x\n" + cell + ",y\n")
		_, err := Read(path, ReadOptions{Pictures: o.Pictures})
		e, is := err.(*fault.DataError)
		if !is || e.Row != 1 || e.Column != "photo" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", cell, err)
		}
	}
	for _, bad := range []Pictures{{"photo", "5"}, {"photo", "0x5"}, {"photo", "5x5x2"}, {"photo", "5x5x3x1"},
		{"photo", "2000x2000"}, {"", "5x5"}, {"other", ""}, {"photo", "5x"}, {"photo", "99999999999x1"}} {
		if _, err := Read(path, ReadOptions{Pictures: &bad}); !fault.IsInput(err) {
			t.Errorf("%+v: error %v", bad, err)
		}
	}
	if _, err := Read(path, ReadOptions{Pictures: o.Pictures, MemoryLimit: 100}); !fault.IsInput(err) {
		t.Errorf("beyond the limit: error %v", err)
	}
	if _, err := Read(t.TempDir(), ReadOptions{}); !fault.IsInput(err) ||
		!strings.Contains(err.Error(), "folder without pictures") {
		t.Errorf("an empty folder: error %v", err)
	}
}

// A small file that claims a huge picture is refused before there is memory for it.
func TestHugePicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.gif")
	save(t, path, halves(2, 2, color.Black, color.White))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for k := 6; k < 10; k++ { // the width and the height of the screen
		content[k] = 0xff
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Read(filepath.Dir(path), ReadOptions{})
	if !fault.IsInput(err) || !strings.Contains(err.Error(), "65535 x 65535 pixels: want 1 to") {
		t.Errorf("error %v", err)
	}
}

// Each pixel is the mean of what it covers: means over the whole picture stay, and pictures that
// are enlarged by whole factors have equal pixels in blocks.
func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w, h, width, height := 1+rng.IntN(20), 1+rng.IntN(20), 1+rng.IntN(30), 1+rng.IntN(30)
		m := image.NewRGBA(image.Rect(0, 0, w, h))
		var mean [3]float64
		for i := range w * h {
			for c := range mean {
				m.Pix[4*i+c] = uint8(rng.IntN(256))
				mean[c] += float64(m.Pix[4*i+c]) / float64(w*h)
			}
		}
		out := make([]float64, 3*width*height)
		scale(m, width, height, out)
		for c := range mean {
			sum := 0.0
			for k := c; k < len(out); k += 3 {
				sum += out[k] / float64(width*height)
			}
			if math.Abs(sum-mean[c]) > .5 { // each is rounded
				t.Fatalf("%d x %d to %d x %d: mean %v, want %v", w, h, width, height, sum, mean[c])
			}
		}
		large := make([]float64, 3*4*w*h)
		scale(m, 2*w, 2*h, large)
		for y := range 2 * h {
			for x := range 2 * w {
				if got, want := large[3*(2*w*y+x)], float64(m.Pix[y/2*m.Stride+x/2*4]); got != want {
					t.Fatalf("pixel %d, %d of the double is %v: want %v", x, y, got, want)
				}
			}
		}
	}
}
