package stored

import (
	"encoding/json"
	"fmt"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
)

// SetHeader stores the method, its parameters and its status in the header, and the members of all
// extra structs in an entry with the method's name. A nil extra has no members.
func SetHeader(f *model.File, method string, params, status any, extra ...any) (err error) {
	f.Header.Method = method
	if f.Header.Params, err = object(method, params); err != nil {
		return err
	}
	if f.Header.Status, err = object(method, status); err != nil {
		return err
	}
	own, err := object(method, extra...)
	if err == nil && own != nil {
		if f.Header.Extra == nil {
			f.Header.Extra = map[string]json.RawMessage{}
		}
		f.Header.Extra[method] = own
	}
	return err
}

// object returns a JSON object with the members of all parts, nil for none.
func object(method string, parts ...any) (json.RawMessage, error) {
	var out json.RawMessage
	for _, part := range parts {
		if part == nil {
			continue
		}
		text, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("%s: header: %w", method, err)
		}
		switch {
		case len(out) <= len("{}"):
			out = text
		case len(text) > len("{}"):
			out = append(append(out[:len(out)-1], ','), text[1:]...)
		}
	}
	return out, nil
}

// Header reads what [SetHeader] stored. A header that does not parse, or that of another method, is
// a *fault.DataError.
func Header(f *model.File, method string, params, status any, extra ...any) error {
	if f.Header.Method != method {
		return fault.Data("", "model of method %q: want %q", f.Header.Method, method)
	}
	if err := Params(f, params); err != nil {
		return err
	}
	if err := member("status", f.Header.Status, status); err != nil {
		return err
	}
	return Extra(f, method, extra...)
}

// Params reads the parameters of the header.
func Params(f *model.File, to any) error { return member("params", f.Header.Params, to) }

// Extra reads the structs of a method's own entry in the header.
func Extra(f *model.File, method string, to ...any) error {
	for _, part := range to {
		if err := member(method, f.Header.Extra[method], part); err != nil {
			return err
		}
	}
	return nil
}

func member(name string, text json.RawMessage, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return fault.Data("", "header of the model, %s: %w", name, err)
	}
	return nil
}

// InHeader adds to an error that it is about the header.
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

// Empty returns the error of a tensor without values.
func Empty(name string) error {
	return fault.Data("", "tensor %s is empty: want at least one value", name)
}
