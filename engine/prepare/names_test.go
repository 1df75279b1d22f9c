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

// TestNumberText: whole numbers have all their digits as long as these fit, others six.
func TestNumberText(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -7: "-7", 0.5: "0.5", 1.0 / 3: "0.333333",
		123456789: "123456789", 999999999999999: "999999999999999", -999999999999999: "-999999999999999",
		1e15: "1e+15", 2e15: "2e+15", -3e15: "-3e+15", 1e300: "1e+300", 1234567.5: "1.23457e+06"} {
		if got := numberText(v); got != want {
			t.Errorf("%v is written %s: want %s", v, got, want)
		}
	}
}
