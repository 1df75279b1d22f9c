package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// packed returns random values in the hybrid encoding: runs of one value, and groups of eight.
func packed(t *rapid.T, width int, runs int) (b []byte, want []uint32) {
	mask := uint64(1)<<width - 1
	value := func() uint32 { return uint32(rapid.Uint64().Draw(t, "value") & mask) }
	for range runs {
		if n := rapid.IntRange(1, 40).Draw(t, "run"); rapid.Bool().Draw(t, "one value") {
			v := value()
			b = binary.AppendUvarint(b, uint64(n)<<1)
			b = append(b, binary.LittleEndian.AppendUint32(nil, v)[:(width+7)/8]...)
			want = append(want, slices.Repeat([]uint32{v}, n)...)
			continue
		}
		groups := rapid.IntRange(1, 3).Draw(t, "groups")
		b = binary.AppendUvarint(b, uint64(groups)<<1|1)
		block := make([]byte, groups*width)
		for i := range 8 * groups {
			v := value()
			want = append(want, v)
			for k := range width { // bit by bit, the lowest first
				block[(i*width+k)/8] |= byte(v>>k&1) << ((i*width + k) % 8)
			}
		}
		b = append(b, block...)
	}
	return b, want
}

// The three ways to read the hybrid encoding return the encoded values.
func TestHybrid(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(0, 32).Draw(rt, "width")
		b, want := packed(rt, width, rapid.IntRange(1, 6).Draw(rt, "runs"))
		all := hybrid{b: b, width: width}
		got := make([]uint32, len(want))
		if err := all.read(got); err != nil || !slices.Equal(got, want) {
			rt.Fatalf("%v: %v, want %v", err, got, want)
		}
		if _, err := all.next(); err != errShort {
			rt.Errorf("after the end: %v", err)
		}
		one, levels := hybrid{b: b, width: width}, hybrid{b: b, width: width}
		for i, v := range want {
			if got, err := one.next(); got != v || err != nil {
				rt.Fatalf("value %d is %d, %v: want %d", i, got, err, v)
			}
		}
		for i := 0; i < len(want); {
			n := rapid.IntRange(1, len(want)-i).Draw(rt, "n")
			k, err := levels.equal(want[0], n)
			expected := 0
			for expected < n && want[i+expected] == want[0] {
				expected++
			}
			if k != expected || err != nil {
				rt.Fatalf("%d of %d values from %d on are %d, %v: want %d", k, n, i, want[0], err, expected)
			}
			if i += k; k < n {
				i++ // the other one
			}
		}
	})
}

// A page that ends early, or claims something impossible, is an error in every encoding.
func TestShortPages(t *testing.T) {
	for name, c := range map[string]struct {
		width int
		b     []byte
		want  error
	}{
		"nothing":                 {3, nil, errShort},
		"a head without an end":   {3, []byte{0x80}, errShort},
		"a run without its value": {9, []byte{4, 1}, errShort},
		"groups without values":   {9, []byte{3}, errShort},
		"runs of nothing":         {1, []byte{0, 1, 0, 1}, errShort},
	} {
		h := hybrid{b: c.b, width: c.width}
		if _, err := h.next(); err != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if err := h.read(make([]uint32, 3)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	head := func(v ...uint64) (b []byte) {
		for _, x := range v {
			b = binary.AppendUvarint(b, x)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"nothing":                     nil,
		"no first value":              head(128, 4, 2),
		"no parts":                    head(128, 0, 2, 0),
		"more parts than values":      head(8, 16, 2, 0),
		"parts of no bytes":           head(128, 32, 2, 0),
		"parts that are not equal":    head(128, 3, 2, 0),
		"a block of a billion":        head(1<<30, 4, 2, 0),
		"more values than allowed":    head(128, 4, 1000, 0),
		"no block":                    head(128, 4, 2, 0),
		"no widths":                   append(head(128, 4, 2, 0), 1, 8),
		"a width of 65":               append(head(128, 4, 2, 0), 1, 65, 0, 0, 0),
		"a miniblock that ends early": append(head(128, 4, 2, 0), 1, 8, 0, 0, 0, 7),
		"a minimum difference too large": append(head(128, 4, 2, 0),
			"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"...),
	} {
		d, err := newDelta(b, 100)
		if err == nil {
			err = each(d.next)(make([]uint64, 2))
		}
		if err == nil {
			t.Errorf("%s is read", name)
		}
		if _, err := deltaTexts(b, 100); err == nil {
			t.Errorf("%s is read as lengths", name)
		}
		if _, err := frontTexts(b, 100); err == nil {
			t.Errorf("%s is read as shared beginnings", name)
		}
	}
	three := func(v values[uint64]) error { return v(make([]uint64, 3)) }
	wide := func(v uint32) uint64 { return uint64(v) }
	for name, err := range map[string]error{
		"plain":         three(plain(make([]byte, 23), 8)),
		"booleans":      three(booleans(nil)),
		"runs":          three(converted((&hybrid{width: 1}).read, wide)),
		"split":         three(split(make([]byte, 11), 4)),
		"text":          plainTexts([]byte{5, 0, 0, 0, 'a'})(make([]string, 1)),
		"text's length": plainTexts([]byte{5, 0})(make([]string, 1)),
	} {
		if err != errShort {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A front-coded text that repeats itself grows to at most a megabyte.
func TestGrowingTexts(t *testing.T) {
	const n = 64
	constant := func(first uint64, minimum int64, count int) []byte { // a progression
		b := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 1), uint64(count))
		b = binary.AppendUvarint(b, first<<1)
		return append(binary.AppendVarint(b, minimum), 0)
	}
	const letters = 1 << 15
	b := append(constant(0, letters, n), constant(letters, 0, n)...)
	text, err := frontTexts(append(b, make([]byte, n*letters)...), n)
	if err != nil {
		t.Fatal(err)
	}
	var last string
	for range n {
		var next string
		if next, err = text(); err != nil {
			break
		}
		if len(next) != len(last)+letters {
			t.Fatalf("a text of %d bytes after one of %d", len(next), len(last))
		}
		last = next
	}
	if err != errDamaged || bits.Len(uint(len(last))) > 21 {
		t.Errorf("%v after a text of %d bytes", err, len(last))
	}
}
