package enginetest

import "github.com/mustlink/mustlink/engine/kernel"

// Spec returns the parsed text of a kernel.
func Spec(t Fataler, text string) kernel.Spec {
	t.Helper()
	s, err := kernel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Kernel returns the kernel of a text.
func Kernel(t Fataler, text string) kernel.Kernel {
	t.Helper()
	k, err := kernel.New(Spec(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}
