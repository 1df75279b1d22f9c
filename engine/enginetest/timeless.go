package enginetest

import (
	"bytes"
	"regexp"

	"github.com/mustlink/mustlink/engine/model"
)

// elapsed is the only part of a model file that differs from fit to fit.
var elapsed = regexp.MustCompile(`"Elapsed":[0-9]+`)

// Timeless returns the bytes of a model file without the duration of the fit: equal fits have equal
// bytes.
func Timeless(file *model.File) ([]byte, error) {
	without := *file
	without.Header.Status = elapsed.ReplaceAll(file.Header.Status, []byte(`"Elapsed":0`))
	var buffer bytes.Buffer
	_, err := without.WriteTo(&buffer)
	return buffer.Bytes(), err
}

// TimelessModel returns the result of [Timeless] for the file of a model.
func TimelessModel(t Fataler, m interface{ Encode(*model.File) error }) []byte {
	t.Helper()
	file := &model.File{}
	if err := m.Encode(file); err != nil {
		t.Fatal(err)
	}
	out, err := Timeless(file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
