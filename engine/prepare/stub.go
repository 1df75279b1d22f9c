// Package prepare stub.
package prepare

import (
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

type Kind string

type Options struct {
	Kinds      map[string]Kind
	Impute     string
	Indicators bool
	Scale      string
	Levels     int
	Cyclic     bool
	Text       string
}

type Column struct {
	Name              string
	Kind              Kind
	Missing, Distinct int
	Low, High         float64
	Example           string
	Outputs           int
	Does              string
	Warning           string
}

func Fit(d *dataset.Data, o Options) (dataset.Transform, []Column, error) { return nil, nil, nil }

type Preparation struct{}

func (p *Preparation) Features() int                                { return 0 }
func (p *Preparation) Columns() []string                            { return nil }
func (p *Preparation) Outputs() []string                            { return nil }
func (p *Preparation) Apply(x points.Points) (points.Points, error) { return x, nil }
func (p *Preparation) Unseen(x *points.Mixed) map[string]int        { return nil }
func (p *Preparation) Encode(f *model.File) error                   { return nil }
func (p *Preparation) OutputBytes(n int) int64                      { return 0 }
func Decode(f *model.File) (*Preparation, error)                    { return nil, nil }

const (
	Number Kind = "number"
	Drop   Kind = "drop"
)

const (
	Standardize = "standardize"
	Robust      = "robust"
)

func Kinds() []string        { return nil }
func CheckKind(k Kind) error { return nil }

func (p *Preparation) IsText(j int) bool { return false }

func (c *Column) Range() string { return "" }
