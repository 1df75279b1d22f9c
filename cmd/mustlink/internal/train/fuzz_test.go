package train

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// FuzzFlags: values of flags with a grammar. Accepted sizes are not negative and equal their
// number; parameters are the text around the first equals sign; an axis has all its values, and
// those of a range lie between its ends.
func FuzzFlags(f *testing.F) {
	for _, text := range []string{"8GiB", "500MB", "1e300", "NaN", "-0", "9223372036854775807", "0x1p62b",
		"eps=1", "rule=a=b\nk=", "a\na", "neighbors=5,10,20", "C=0.1:10:5",
		"x=1:2:1001", "x=0:1:2", "x=1:Inf:3", "x=1e-320:1e300:1000", "=a", "x=,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size(t, text)
		list := strings.Split(text, "\n")
		params, err := parseParams(list)
		if err != nil && usage.ExitCode(t.Context(), err) != usage.ExitInput {
			t.Errorf("%q: error %v is not of the input", list, err)
		}
		if err == nil && len(params) != len(list) {
			t.Errorf("%q gives %d parameters", list, len(params))
		}
		for name, value := range params {
			if !slices.Contains(list, name+"="+value) {
				t.Errorf("%q gives %s=%s", list, name, value)
			}
		}
		axis(t, text)
	})
}

func size(t *testing.T, text string) {
	t.Helper()
	var b session.ByteSize
	if err := b.Set(text); err != nil {
		return
	}
	if b < 0 {
		t.Errorf("size %q is %d", text, int64(b))
	}
	if v, err := strconv.ParseInt(text, 10, 53); err == nil && int64(b) != v {
		t.Errorf("size %q is %d", text, int64(b))
	}
	var again session.ByteSize // the printed value is rounded, and may exceed the end of the range
	if err := again.Set(b.String()); b > 0 && b < 1<<62 &&
		(err != nil || float64(again) < 0.9*float64(b)-1 || float64(again) > 1.1*float64(b)+1) {
		t.Errorf("size %q prints as %q, which is %d, error %v", text, b.String(), int64(again), err)
	}
}

func axis(t *testing.T, text string) {
	t.Helper()
	a, err := parseAxis(text)
	if err != nil {
		if !fault.IsInput(err) {
			t.Errorf("axis %q: error %v is not of the input", text, err)
		}
		return
	}
	if a.Name == "" || len(a.Values) == 0 || len(a.Values) > 1+len(text)+1000 {
		t.Fatalf("axis %q has name %q and %d values", text, a.Name, len(a.Values))
	}
	parts := strings.Split(strings.TrimPrefix(text, a.Name+"="), ":")
	if len(parts) == 1 {
		if strings.Join(a.Values, ",") != parts[0] {
			t.Errorf("axis %q has the values %q", text, a.Values)
		}
		return
	}
	from, _ := strconv.ParseFloat(parts[0], 64)
	to, _ := strconv.ParseFloat(parts[1], 64)
	for k, value := range a.Values {
		v, err := strconv.ParseFloat(value, 64)
		// Four digits are kept.
		if err != nil || !(v >= 0.999*from && v <= 1.001*to) {
			t.Fatalf("axis %q: value %d is %s, error %v", text, k, value, err)
		}
	}
}
