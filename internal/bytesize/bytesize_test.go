package bytesize

import "testing"

func TestByteSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"0", 0}, {"1073741824", 1 << 30}, {"8GiB", 8 << 30}, {"1.5g", 3 << 29}, {"500MB", 500e6}, {"2 KiB", 2048}, {"7b", 7}, {"1t", 1 << 40},
	} {
		var b Size
		if err := b.Set(c.text); err != nil || int64(b) != c.want {
			t.Errorf("%q: %d, %v: want %d", c.text, int64(b), err, c.want)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "NaN", "inf", "8 parsecs", "1e300", "0x"} {
		var b Size
		if err := b.Set(text); err == nil {
			t.Errorf("%q is taken as %d: want an error", text, int64(b))
		}
	}
}
