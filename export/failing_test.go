package export_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/export"
	"github.com/mustlink/mustlink/internal/failtest"
)

// TestFailing: the error of a writer comes through from every format, and so does what fails at any
// look at the context.
func TestFailing(t *testing.T) {
	p := newProblem(t, 60, 3)
	for method, m := range map[string]*mustlink.Model{"rca": fitMixed(t, "rca", preparings["defaults"]),
		"krca": p.fit(t, "krca", "kernel=rbf:sigma=1")} {
		failtest.Writes(t, method+" model", func(w io.Writer) error {
			_, err := m.WriteTo(w)
			return err
		})
		for _, format := range export.Formats() {
			if method == "krca" && format != "onnx" {
				continue // which have only linear maps
			}
			name := method + " " + format
			failtest.Writes(t, name, func(w io.Writer) error {
				_, err := export.Write(context.Background(), w, m, format, export.Options{})
				return err
			})
			whole := enginetest.FailAt(0, failtest.Err)
			if _, err := export.Write(whole, io.Discard, m, format, export.Options{}); err != nil {
				t.Fatal(err)
			}
			if format == "onnx" && whole.Looks() == 0 {
				t.Errorf("%s never looks at its context", name)
			}
			for k := 1; k <= whole.Looks(); k++ {
				ctx, w := enginetest.FailAt(k, failtest.Err), &failtest.Writer{}
				_, err := export.Write(ctx, w, m, format, export.Options{})
				if !errors.Is(err, failtest.Err) || w.Calls() > 0 {
					t.Errorf("%s, failing at look %d of %d: %d writes, error %v, at %s", name, k, whole.Looks(),
						w.Calls(), err, ctx.Place())
				}
			}
		}
	}
}
