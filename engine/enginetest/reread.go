package enginetest

import "github.com/mustlink/mustlink/engine/model"

// Reread returns a model after writing and reading it.
func Reread[M any](t Fataler, m interface{ Encode(*model.File) error }, decode func(*model.File) (M, error)) M {
	t.Helper()
	file := &model.File{}
	if err := m.Encode(file); err != nil {
		t.Fatal(err)
	}
	back, err := decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return back
}
