package paper

import (
	"context"
	"fmt"
	"strings"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// The large data sets.
const (
	yeungRealImages = 2000 // for each digit
	yeungIsolet     = "Isolet"
)

// yeungFiles are the files of the large data sets.
func yeungFiles() []string {
	return []string{"mnist-train-images-idx3-ubyte.gz", "mnist-train-labels-idx1-ubyte.gz",
		"isolet-1559.csv.gz", "isolet-1560.csv.gz"}
}

func yeungImagesSetup() string {
	return fmt.Sprintf("Data: for a set of digits %d of the training images of MNIST of each, drawn at "+
		"random once for all repetitions, 784 features, divided by 255; Isolet is the two files joined, "+
		"3119 rows "+
		"of 617 features in 26 classes.", yeungRealImages)
}

// yeungParts is how our data differ from those of the paper, for the printed numbers.
func yeungParts() map[string]string { return map[string]string{yeungIsolet: "3119 of 7797 rows"} }

func yeungPart() string {
	return "Only two of the five parts of Isolet are available, 3119 of 7797 rows; its numbers are counted " +
		"apart."
}

// yeungSet is a data set.
type yeungSet struct {
	name      string
	x         *points.Dense
	labels    []string
	kernel    kernel.Kernel
	pairs     int
	landmarks int

	input, rbf float64     // J of the points, and in the feature space
	gram       blas.Matrix // the kernel matrix of all points

	narrow map[string]kernel.Kernel // Figure 4: kernels of other widths, by the names of their systems
}

// loadYeung reads large data sets; prepare, if not nil, computes what trials share.
func loadYeung(ctx context.Context, eng *engine.Engine, t Trial, sets []string,
	prepare func(*yeungSet, context.Context, *engine.Engine) error) ([]*yeungSet, error) {
	digits, err := readDigits(t)
	if err != nil {
		return nil, err
	}
	var out []*yeungSet
	for _, set := range sets {
		s := &yeungSet{name: yeungName(set), pairs: yeungRealPairs, landmarks: yeungRealLandmarks}
		if set == yeungIsolet {
			s.x, s.labels, err = isolet(t, yeungFiles()[2:])
		} else {
			s.x, s.labels, err = digits.of(t, set)
		}
		if err != nil {
			return nil, err
		}
		if s.kernel, err = resolved(ctx, eng, yeungKernel, s.x); err != nil {
			return nil, err
		}
		if prepare != nil {
			if err := prepare(s, ctx, eng); err != nil {
				return nil, err
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// digitImages are images of digits.
type digitImages struct {
	images points.Points
	labels []string
}

func readDigits(t Trial) (*digitImages, error) {
	files := yeungFiles()
	images, err := dataset.Read(t.Path(files[0]), dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	rows, err := dataset.ReadLabels(dataset.Input{Name: t.Path(files[1])}, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	labels := rows.Labels
	if len(labels) != images.Points.Len() {
		return nil, fault.Data(t.Path(files[1]), "%d labels for %d images: want as many", len(labels),
			images.Points.Len())
	}
	return &digitImages{images.Points, labels}, nil
}

// of returns images of each digit of a set, drawn at random: the same of a digit in every set.
func (d *digitImages) of(t Trial, set string) (*points.Dense, []string, error) {
	var rows []int
	for _, digit := range strings.Split(set, "") {
		var all []int
		for i, label := range d.labels {
			if label == digit {
				all = append(all, i)
			}
		}
		order := t.Rand(100 + int(digit[0]-'0')).Perm(len(all))
		for _, i := range order[:min(len(order), yeungRealImages)] {
			rows = append(rows, all[i])
		}
	}
	x, ok := d.images.Select(rows).(*points.Dense)
	if !ok {
		return nil, nil, fault.Data("", "images are %T: want vectors of numbers", d.images)
	}
	for i := range x.Data {
		x.Data[i] /= 255
	}
	return x, pick(d.labels, rows), nil
}

// isolet joins the files.
func isolet(t Trial, files []string) (*points.Dense, []string, error) {
	var data []float64
	var labels []string
	d := 0
	for _, name := range files {
		part, err := dataset.Read(t.Path(name), dataset.ReadOptions{})
		if err != nil {
			return nil, nil, err
		}
		x, ok := part.Points.(*points.Dense)
		if !ok || d != 0 && x.D != d {
			return nil, nil, fault.Data(t.Path(name),
				"rows of %d features: want vectors with as many as in the other file", part.Points.Dim())
		}
		d = x.D
		data, labels = append(data, x.Data...), append(labels, part.Labels...)
	}
	x, err := points.NewDense(len(labels), d, data)
	return x, labels, err
}
