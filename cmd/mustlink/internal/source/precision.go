package source

import (
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/fault"
)

// Precision is --precision: double, or single for those who ask for it.
type Precision string

const (
	Double Precision = "double"
	Single Precision = "single"
)

// Flag defines the flag, which says the precision of what.
func (p *Precision) Flag(f *pflag.FlagSet, what string) {
	f.StringVar((*string)(p), "precision", string(Double), "double or single: the `PRECISION` of "+what)
}

// Check refuses other words.
func (p Precision) Check() error {
	if p != Double && p != Single {
		return fault.Unknown("--precision", string(p), []string{string(Double), string(Single)})
	}
	return nil
}
