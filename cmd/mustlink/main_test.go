package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
)

func TestMain(m *testing.M) { os.Exit(commandtest.Main(m, ".")) }

// TestRoot: the version is one line, and the help about parameters knows the methods.
func TestRoot(t *testing.T) {
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		root := newRoot(&session.Session{Name: "mustlink", Stdin: strings.NewReader(""), Stdout: &out,
			Stderr: io.Discard, Getenv: func(string) string { return "" }})
		root.SetOut(&out)
		root.SetArgs(args)
		err := root.Execute()
		return out.String(), err
	}
	if got, err := run("--version"); err != nil || got != "mustlink "+catalog.Version()+"\n" {
		t.Errorf("the version is %q, error %v", got, err)
	}
	if got, err := run("help", "parameters", "krca"); err != nil || !strings.Contains(got, "krca") {
		t.Errorf("help about krca: %q, error %v", got, err)
	}
	got, err := run("help", "parameters", "krac")
	if !fault.IsInput(err) || !strings.Contains(err.Error(), "krca") {
		t.Errorf("help about a method that does not exist: %q, error %v", got, err)
	}
}
