package view

import "testing"

// TestWindows1252: letters, quotes and the euro have their numbers in the code page, and other
// characters become a question mark.
func TestWindows1252(t *testing.T) {
	if got, want := windows1252("aé€“Ÿ”\u0081 שλ?"), "a\xe9\x80\x93\x9f\x94? ???"; got != want {
		t.Errorf("%q: want %q", got, want)
	}
}
