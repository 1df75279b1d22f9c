package docpage

import (
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

const sheet = "# Page\n\nwords\n<!-- a -->\nold\n<!-- end of a -->\nmore\n<!-- b -->\n<!-- end of b -->\n"

// TestFill: one part changes, the rest stays, and a second call changes nothing.
func TestFill(t *testing.T) {
	once, err := Fill("p.md", sheet, "a", "| new |\n\n")
	if want := strings.Replace(sheet, "old", "| new |", 1); err != nil || once != want {
		t.Errorf("%q, error %v: want %q", once, err, want)
	}
	if twice, err := Fill("p.md", once, "a", "| new |"); err != nil || twice != once {
		t.Errorf("again: %q, error %v", twice, err)
	}
	if both, err := Fill("p.md", once, "b", "x"); err != nil ||
		!strings.HasSuffix(both, "<!-- b -->\nx\n<!-- end of b -->\n") || !strings.Contains(both, "| new |") {
		t.Errorf("the other part: %q, error %v", both, err)
	}
}

func TestFillRefuses(t *testing.T) {
	for _, text := range []string{"", "<!-- a -->\n", "<!-- end of a -->\n<!-- a -->\n", sheet + sheet} {
		if _, err := Fill("p.md", text, "a", "x"); !fault.IsInput(err) ||
			!strings.Contains(err.Error(), "p.md") || !strings.Contains(err.Error(), "<!-- a -->") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}
