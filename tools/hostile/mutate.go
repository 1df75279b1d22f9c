package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// tokens are cells that no one means.
var tokens = []string{
	"", "NaN", "Inf", "-Inf", "1e999", "-1e999", "1e308", "-1", "0", "-0", "1e-320", "99999999999999999999",
	"9223372036854775807", "-9223372036854775808", "2147483648",
	"4294967296", "0x1p3", "1_000", "1,5", "\"", "\"\"\"", "a\"b", "\x00", "\xff\xfe", "\xef\xbb\xbf",
	"\u202e", "\U0001f600", "=1+1", "<script>", "\r", "\x1b[31m", "@/dev/zero", "%n", "none",
	"must", "null", "true", "2024-02-30", "9999-99-99", "1:2", "3:NaN", "2147483647:1", "0:1", "-5:1",
	"qid:1", "#",
}

// integers are counts and offsets that no file has.
var integers = []uint64{0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32,
	1<<40 + 1, 1<<62 + 1, 1<<63 - 1, 1 << 63, math.MaxUint64}

// mutate returns a hostile variant of a sound file: one or two changes of bytes, of cells and
// lines, or of what its format says.
func mutate(rng *rand.Rand, s specimen) []byte {
	text := bytes.Clone(s.text)
	if len(text) == 0 {
		return text
	}
	if strings.HasSuffix(s.name, ".gz") && rng.IntN(3) > 0 {
		inner := specimen{strings.TrimSuffix(s.name, ".gz"), unpacked(text), nil}
		return packed(mutate(rng, inner))
	}
	for range 1 + rng.IntN(2) {
		if len(text) == 0 {
			break
		}
		switch k := rng.IntN(10); {
		case strings.HasSuffix(s.name, ".mlk") && k < 7:
			text = mutateModel(rng, text)
		case strings.HasSuffix(s.name, ".npy") && k < 4:
			text = mutateNPY(rng, text)
		case isText(s.name) && k < 7:
			text = mutateText(rng, text)
		default:
			text = mutateBytes(rng, text)
		}
	}
	return text
}

func isText(name string) bool {
	for _, end := range []string{".csv", ".tsv", ".svm", ".fasta", ".txt", ".jsonl"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// mutateBytes changes bytes of any file.
func mutateBytes(rng *rand.Rand, text []byte) []byte {
	at := rng.IntN(len(text))
	if rng.IntN(2) == 0 { // where headers and tables of contents are
		at = min(rng.IntN(128), len(text)-1)
		if rng.IntN(2) == 0 {
			at = max(0, len(text)-1-rng.IntN(512))
		}
	}
	end := min(len(text), at+1+rng.IntN(64))
	switch rng.IntN(11) {
	case 0:
		return text[:at]
	case 1:
		return text[at:]
	case 2:
		return nil
	case 3:
		for range 1 + rng.IntN(8) {
			text[rng.IntN(len(text))] ^= 1 << rng.IntN(8)
		}
	case 4:
		text[at] = byte(rng.Uint32())
	case 5:
		return bytes.Join([][]byte{text[:end], text[at:]}, nil)
	case 6:
		return bytes.Join([][]byte{text[:at], text[end:]}, nil)
	case 7:
		clear(text[at:end])
	case 8:
		return append(text, text...)
	default:
		v := integers[rng.IntN(len(integers))]
		number := [][]byte{binary.LittleEndian.AppendUint64(nil, v), binary.BigEndian.AppendUint64(nil, v),
			binary.LittleEndian.AppendUint32(nil, uint32(v)), binary.BigEndian.AppendUint32(nil, uint32(v)),
			binary.AppendUvarint(nil, v)}
		copy(text[at:], number[rng.IntN(len(number))])
	}
	return text
}

// mutateText changes cells and lines.
func mutateText(rng *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	at := rng.IntN(len(lines))
	line := lines[at]
	token := []byte(tokens[rng.IntN(len(tokens))])
	switch rng.IntN(12) {
	case 0, 1, 2, 3: // a cell
		cells := bytes.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;\t :\n", r) })
		if len(cells) > 0 {
			lines[at] = bytes.Replace(line, cells[rng.IntN(len(cells))], token, 1)
		}
	case 4:
		lines[at] = append(append(bytes.Clone(line), line...), token...)
	case 5:
		lines[at] = nil
	case 6: // a cell more
		lines[at] = append(append(token, ','), line...)
	case 7: // a long line
		part := []byte([]string{"0", ",1", "\"", "a", " 1:1", "\t", "\xe4"}[rng.IntN(7)])
		lines[at] = append(bytes.Clone(line[:max(0, len(line)-1)]),
			bytes.Repeat(part, 1<<rng.IntN(24)/len(part))...)
	case 8: // many lines, though not so many that fits need longer than the patience
		return bytes.Join([][]byte{text, bytes.Repeat(line, 1<<rng.IntN(17)/max(1, len(line)))}, nil)
	case 9: // other line ends
		return bytes.ReplaceAll(text, []byte("\n"),
			[]byte([]string{"\r\n", "\r", "\n\n", "\n\x00"}[rng.IntN(4)]))
	case 10: // UTF-16, perhaps cut off
		wide := []byte{0xff, 0xfe}
		for _, b := range text {
			wide = append(wide, b, 0)
		}
		return wide[:len(wide)-rng.IntN(2)]
	default:
		i := rng.IntN(len(text))
		return bytes.Join([][]byte{text[:i], token, text[i:]}, nil)
	}
	return bytes.Join(lines, nil)
}

// mutateNPY writes another header.
func mutateNPY(rng *rand.Rand, text []byte) []byte {
	shapes := []string{"()", "(0,)", "(0, 3)", "(40,)", "(-1, 3)", "(1099511627776, 1099511627776)",
		"(9223372036854775807,)", "(40, 0)", "(1, 2, 3)", "(4e1, 3)", "(40, 3", "(100000000, 3)",
		"(18446744073709551617, 3)"}
	types := []string{"<f8", ">f8", "<f4", "<i8", "|O", "<U100000000", "|b1", "<f2", "<c16", "[('a', '<f8')]",
		"<f99", ""}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", types[rng.IntN(len(types))],
		[]string{"False", "True", "0"}[rng.IntN(3)], shapes[rng.IntN(len(shapes))])
	if rng.IntN(4) == 0 {
		header += strings.Repeat(" ", rng.IntN(70000))
	}
	out := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header)))...)
	return bytes.Join([][]byte{out, []byte(header), text[min(128, len(text)):]}, nil)
}
