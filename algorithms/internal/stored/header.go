package stored

import (
	"encoding/json"
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
)

// SetHeader fills in the method, its parameters and its status, and what else the method has to say
// in an entry of its own name; nil for nothing.
func SetHeader(f *model.File, method string, params, status, extra any) error {
	f.Header.Method = method
	for _, part := range []struct {
		from any
		to   *json.RawMessage
	}{{params, &f.Header.Params}, {status, &f.Header.Status}} {
		text, err := json.Marshal(part.from)
		if err != nil {
			return fmt.Errorf("%s: header: %w", method, err)
		}
		*part.to = text
	}
	if extra == nil {
		return nil
	}
	text, err := json.Marshal(extra)
	if err != nil {
		return fmt.Errorf("%s: header: %w", method, err)
	}
	if f.Header.Extra == nil {
		f.Header.Extra = map[string]json.RawMessage{}
	}
	f.Header.Extra[method] = text
	return nil
}

// Header reads what [SetHeader] stored; extra may be nil. Text that does not parse, or of another
// method, is a *fault.DataError.
func Header(f *model.File, method string, params, status, extra any) error {
	if f.Header.Method != method {
		return fault.Data("", "model of method %q: want %q", f.Header.Method, method)
	}
	for _, part := range []struct {
		name string
		text json.RawMessage
		to   any
	}{{"params", f.Header.Params, params}, {"status", f.Header.Status, status}, {method, f.Header.Extra[method], extra}} {
		if part.to == nil {
			continue
		}
		if err := json.Unmarshal(part.text, part.to); err != nil {
			return fault.Data("", "header of the model, %s: %w", part.name, err)
		}
	}
	return nil
}

// InHeader says of an error that it is about the header.
func InHeader(err error) error { return fault.Data("", "header of the model: %w", err) }

// Kernel reads the kernel of the header.
func Kernel(f *model.File) (kernel.Kernel, error) {
	spec, err := kernel.Parse(f.Header.Kernel)
	if err != nil {
		return kernel.Kernel{}, InHeader(err)
	}
	k, err := kernel.New(spec)
	if err != nil {
		return kernel.Kernel{}, InHeader(err)
	}
	return k, nil
}

// Empty says of a tensor that it has no values.
func Empty(name string) error {
	return fault.Data("", "tensor %s is empty: want at least one value", name)
}
