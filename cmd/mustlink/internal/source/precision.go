package source

import (
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/engine/fault"
)

// Precision is the value of --precision: double or single.
type Precision string

// The precisions: 64-bit and 32-bit numbers.
const (
	Double Precision = "double"
	Single Precision = "single"
)

// Flag defines the flag; what names the object of the precision.
func (p *Precision) Flag(f *pflag.FlagSet, what string) {
	f.StringVar((*string)(p), "precision", string(Double), "double or single: the `PRECISION` of "+what)
}

// Check refuses values other than double and single.
func (p Precision) Check() error {
	if p != Double && p != Single {
		return fault.Unknown("--precision", string(p), []string{string(Double), string(Single)})
	}
	return nil
}
