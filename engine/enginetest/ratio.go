package enginetest

import (
	"testing"
	"time"
)

// Ratio reports, as a metric, the time of the first function divided by that of the second one; the
// two are called in turn.
func Ratio(b *testing.B, metric string, first, second func() error) {
	b.Helper()
	var spent [2]time.Duration
	for b.Loop() {
		for k, f := range []func() error{first, second} {
			begin := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			spent[k] += time.Since(begin)
		}
	}
	b.ReportMetric(spent[0].Seconds()/spent[1].Seconds(), metric)
}
