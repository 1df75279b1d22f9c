package dataset

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestUTF16InPieces reads characters of one to four bytes into buffers that end inside them, and a
// file with lines longer than the buffers of the readers.
func TestUTF16InPieces(t *testing.T) {
	const text = "aé€😀,b\n"
	wide := []byte{}
	for _, u := range utf16.Encode([]rune(text)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for size := 1; size <= 9; size++ {
		r := &utf16Reader{in: bufio.NewReader(bytes.NewReader(wide)), name: "x.csv"}
		var got []byte
		p := make([]byte, size)
		for {
			n, err := r.Read(p)
			got = append(got, p[:n]...)
			if err != nil {
				break
			}
		}
		if string(got) != text {
			t.Errorf("pieces of %d bytes make %q, want %q", size, got, text)
		}
	}
	for shift := range 4 { // of where the buffer ends
		file := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune("a\n" + strings.Repeat("1\n", shift) + "0." + strings.Repeat("0", 3*bufferSize) + "1\n")) {
			file = append(file, byte(u), byte(u>>8))
		}
		if d, err := decodeText(string(file), "x.csv", ReadOptions{}); err != nil || d.Points.Len() != shift+1 {
			t.Errorf("long lines of UTF-16, %d before: error %v", shift, err)
		}
	}
}
