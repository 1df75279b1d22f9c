package prepare

import (
	"slices"
	"strings"
	"testing"
)

// TestNameWords: spellings of a name have the same words, and a long name takes no more room than
// its letters.
func TestNameWords(t *testing.T) {
	for _, name := range []string{"customerID", "customer_id", "Customer ID", "  customer--Id 7 "} {
		if got := nameWords(name); !slices.Equal(got, []string{"customer", "id"}) {
			t.Errorf("%q: words %q", name, got)
		}
	}
	long := strings.Repeat("ÜN", 1<<19)
	if n := testing.AllocsPerRun(1, func() { nameWords(long) }); n > 100 {
		t.Errorf("%v allocations for a name of %d letters", n, len(long))
	}
}
