package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func sequences(t testing.TB, d *Data, err error) *points.Sequences {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	x, ok := d.Points.(*points.Sequences)
	if !ok {
		t.Fatalf("points are %T, want *points.Sequences", d.Points)
	}
	return x
}

func rowsOf(x *points.Sequences) []string {
	var rows []string
	for i := range x.Len() {
		rows = append(rows, string(x.Row(i)))
	}
	return rows
}

func TestDecodeFASTA(t *testing.T) {
	text := "\ufeff>s1 fold.a more words\r\nACXXd\r\n e-fX\r\n\r\n>s2 fold.b\nXX\nWWé*Y\nu\n\n \n"
	for _, name := range []string{"a.fasta", "a.fa", "a.faa", "A.FNA"} {
		d, err := decodeText(text, name, ReadOptions{HeaderLabels: true})
		x := sequences(t, d, err)
		if want := []string{"AC-DE-F", "WW-Y"}; !slices.Equal(rowsOf(x), want) ||
			x.Alphabet != points.Protein {
			t.Errorf("rows %q over %s, want %q", rowsOf(x), x.Alphabet, want)
		}
		if !slices.Equal(d.IDs, []string{"s1", "s2"}) ||
			!slices.Equal(d.Labels, []string{"fold.a", "fold.b"}) {
			t.Errorf("ids %q, labels %q", d.IDs, d.Labels)
		}
		want := []string{"9 letters outside the alphabet ACDEFGHIKLMNPQRSTVWY (X-É*U) in 2 records " +
			"ignored, the first in record \"s1\" on line 2"}
		if !slices.Equal(d.Warnings, want) {
			t.Errorf("warnings %q, want %q", d.Warnings, want)
		}
	}
	d, err := decodeText(">a\nAC\x1b[31D\nE\\\u202e\n", "a.fasta", ReadOptions{})
	const escaped = `(\x1b[31\\\u202e)`
	if sequences(t, d, err); len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], escaped) {
		t.Errorf("warnings %q, want control characters as escapes, %s", d.Warnings, escaped)
	}
	d, err = decodeText(text, "a.fasta", ReadOptions{})
	if sequences(t, d, err); d.Labels != nil {
		t.Errorf("labels %q without asking for them", d.Labels)
	}
	for alphabet, want := range map[string]string{"dna": "ACGT", "RNA": "ACGU", "tgca": "TGCA",
		"": points.Protein} {
		d, err := decodeText(">a\nACGAacga\n", "a.fasta", ReadOptions{Alphabet: alphabet})
		if x := sequences(t, d, err); x.Alphabet != want || string(x.Row(0)) != "ACGAACGA" ||
			d.Warnings != nil {
			t.Errorf("%q: alphabet %s, letters %s, warnings %q", alphabet, x.Alphabet, x.Row(0), d.Warnings)
		}
	}
	path := write(t, "labels.csv", []byte("id,label\ns1,x\ns2,y\n"))
	d, err = decodeText(text, "a.fasta", ReadOptions{Labels: path})
	if sequences(t, d, err); !slices.Equal(d.Labels, []string{"x", "y"}) {
		t.Errorf("labels %q, want those of the file", d.Labels)
	}
	from := write(t, "labels.fasta", []byte(text))
	if labels, err := ReadLabels(Input{Name: from}, ReadOptions{}); err != nil ||
		!slices.Equal(labels.Labels, []string{"fold.a", "fold.b"}) {
		t.Errorf("labels %q, error %v", labels, err)
	}
}

func TestFASTAErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		o    ReadOptions
		at   place
		want string
	}{
		"empty": {"", ReadOptions{}, place{0, -1, ""}, "empty"},
		"blank": {"\n \n", ReadOptions{}, place{0, -1, ""}, "blank"},
		"no header": {"ACD\n>a\nACD\n", ReadOptions{}, place{1, -1, ""},
			"want a header that begins with >"},
		"a comment": {";ACD\n>a\nACD\n", ReadOptions{}, place{1, -1, ""},
			"want a header that begins with >"},
		"CSV": {"a,b\n1,2\n", ReadOptions{}, place{1, -1, ""}, `"a,b"`},
		"no sequence": {">a\nACD\n>b\n>c\nACD\n", ReadOptions{}, place{3, 1, ""},
			`record "b" has no sequence`},
		"no sequence at the end": {">a\nACD\n>b\n\n", ReadOptions{}, place{3, 1, ""},
			`record "b" has no sequence`},
		"all letters bad": {">a\nACD\n>b\nX\nXX\n>c\nACD\n", ReadOptions{}, place{3, 1, ""},
			`record "b" has no letter of the alphabet ACDEFGHIKLMNPQRSTVWY`},
		"the wrong alphabet": {">a\nWWW\n", ReadOptions{Alphabet: "dna"}, place{1, 0, ""},
			"alphabet ACGT"},
		"duplicate names": {">a x\nACD\n>b\nACD\n>a y\nACD\n", ReadOptions{}, place{5, 2, ""},
			`record "a" is already on line 1`},
		"no name": {">a\nACD\n> \t\nACD\n", ReadOptions{}, place{3, 1, ""}, "no name"},
		"a blank line in a record": {">a\nACD\n\nACD\n", ReadOptions{}, place{3, 0, ""},
			`splits the sequence of record "a"`},
		"binary":    {">a\nACD\x00\n", ReadOptions{}, place{0, -1, ""}, "binary"},
		"not UTF-8": {">a\nACD\xff\n", ReadOptions{}, place{2, 0, ""}, "UTF-8"},
		"long line": {">a\n" + strings.Repeat("A", 100) + "\n", ReadOptions{MaxLine: 50},
			place{2, 0, ""}, "longer than the limit"},
		"as a Gram matrix": {">a\nACD\n", ReadOptions{Gram: true}, place{0, -1, ""},
			"cannot hold a Gram matrix"},
		"gzip": {"\x1f\x8b\x08", ReadOptions{}, place{0, -1, ""}, "gzip data"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeText(c.text, "a.fasta", c.o)
			wantData(t, err, "a.fasta", c.at, c.want)
		})
	}
	for _, alphabet := range []string{"ACA", "AC-", "aA", "Ä", "prot ein"} {
		var pe *fault.ParamError
		if _, err := decodeText(">a\nA\n", "a.fasta", ReadOptions{Alphabet: alphabet}); !errors.As(err,
			&pe) || pe.Param != "alphabet" {
			t.Errorf("alphabet %q: error %v, want a ParamError", alphabet, err)
		}
	}
	var me *fault.MemoryError
	if _, err := decodeText(">a\n"+strings.Repeat("ACDEFGHIKL\n", 100), "a.fasta",
		ReadOptions{MemoryLimit: 500}); !errors.As(err, &me) {
		t.Errorf("error %v, want a MemoryError", err)
	}
	labels := write(t, "labels.csv", []byte("id,label\nb,x\n"))
	_, err := decodeText(">a\nA\n", "a.fasta", ReadOptions{Labels: labels})
	wantData(t, err, labels, place{0, 0, "id"}, `the id is "b"`)
	one := write(t, "one.fasta", []byte(">a x\nA\n>b\nA\n"))
	if rows, err := ReadLabels(Input{Name: one}, ReadOptions{}); err != nil ||
		!slices.Equal(rows.Labels, []string{"x", ""}) {
		t.Errorf("labels %q, error %v: want one row without a label", rows, err)
	}
}

// Check continues after the first problem.
func TestCheckFASTA(t *testing.T) {
	path := write(t, "a.fasta", []byte(">a x\nACD\n\nACD\n>\nACD\n>a\nXX\n>b y\n>c z\n\xff\n"))
	problems, err := Check(path, ReadOptions{HeaderLabels: true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, strconv.Itoa(p.Err.Line)+"/"+strconv.Itoa(p.Err.Row))
		if p.Fix == "" {
			t.Errorf("%v: no fix", p)
		}
	}
	// The blank line; no name; a again, without a letter of the alphabet; b is empty; c is not text
	// and so is empty.
	if want := []string{"3/0", "5/1", "7/2", "7/2", "9/3", "11/4", "10/4"}; !slices.Equal(got, want) {
		t.Errorf("problems at line/row %v, want %v", got, want)
	}
}

// The result is each record's text in upper case, with every run of other characters as one gap and
// none at the ends, for any line breaks, case and spaces.
func TestFASTARoundTrip(t *testing.T) {
	other := regexp.MustCompile(`[^ACGT]+`)
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "n")
		letter := rapid.SampledFrom([]string{"A", "C", "G", "T", "a", "c", "g", "t", "N", "n", "-", "*", "é"})
		end := rapid.SampledFrom([]string{"\n", "\r\n", " \n"})
		var text strings.Builder
		var ids, labels, want []string
		bad := 0
		for i := range n {
			ids, labels = append(ids, fmt.Sprintf("id%d", i)), append(labels, fmt.Sprintf("l%d", i%2))
			fmt.Fprintf(&text, ">%s %s and more%s", ids[i], labels[i], end.Draw(rt, "end"))
			var whole string
			for range rapid.IntRange(0, 3).Draw(rt, "lines") {
				line := strings.Join(rapid.SliceOfN(letter, 1, 9).Draw(rt, "letters"), "")
				whole += line
				text.WriteString(line + end.Draw(rt, "end"))
			}
			whole += "G" // at least one letter of the alphabet
			text.WriteString("g\n" + strings.Repeat("\n", rapid.IntRange(0, 2).Draw(rt, "blank lines")))
			for _, c := range strings.ToUpper(whole) {
				if !strings.ContainsRune("ACGT", c) {
					bad++
				}
			}
			want = append(want, strings.Trim(other.ReplaceAllString(strings.ToUpper(whole), "-"), "-"))
		}
		d, err := decodeText(text.String(), "a.fna", ReadOptions{Alphabet: "dna", HeaderLabels: true})
		if err != nil {
			rt.Fatalf("%v\n%q", err, text.String())
		}
		x := d.Points.(*points.Sequences)
		if !slices.Equal(rowsOf(x), want) || !slices.Equal(d.IDs, ids) || !slices.Equal(d.Labels, labels) {
			rt.Fatalf("got %q %q %q, want %q %q %q", rowsOf(x), d.IDs, d.Labels, want, ids, labels)
		}
		switch {
		case bad == 0 && d.Warnings != nil:
			rt.Fatalf("warnings %q", d.Warnings)
		case bad > 0 && (len(d.Warnings) != 1 ||
			!strings.HasPrefix(d.Warnings[0], fault.Count(bad, "letter")+" outside")):
			rt.Fatalf("warnings %q, want one about %d letters", d.Warnings, bad)
		}
	})
}

// The sequences of SCOP have the expected lengths (an X inside counts, but a run of them is one
// gap) and one warning about all letters X.
func TestRealSequences(t *testing.T) {
	d, err := Read(realData(t, "scop40.fasta.gz"), ReadOptions{})
	x := sequences(t, d, err)
	letters, longest := 0, 0
	for i := range x.Len() {
		longest = max(longest, len(x.Row(i)))
		for _, c := range x.Row(i) {
			if c != points.Gap {
				letters++
			}
		}
	}
	if want := 1948246 - 8123; letters != want || longest != 1419 || d.IDs[0] != "d1vkya_" {
		t.Errorf("%d letters, the longest sequence of %d, first %s: want %d, 1419, d1vkya_", letters, longest,
			d.IDs[0], want)
	}
	const want = "8123 letters outside the alphabet ACDEFGHIKLMNPQRSTVWY (X) in 2028 records ignored, "
	if len(d.Warnings) != 1 || !strings.HasPrefix(d.Warnings[0], want) {
		t.Errorf("warnings %q, want %q", d.Warnings, want)
	}
}

// FuzzDecodeFASTA: any bytes give an input error, or valid sequences that survive writing and
// reading.
func FuzzDecodeFASTA(f *testing.F) {
	fuzzSeeds(f, ">a x\nACD\nEF\n>b y\nGHI\n", ">a\r\nAXXC\r\n", ">a\nXAX\n\n\n>b\nC", ">", ">a", ">a\n\nA",
		";c\n>a\nA", ">a\nX\n", ">a\nA\n>a\nA\n", "\ufeff>\u00e9\n\u00e9A")
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(bytes.NewReader(b), "f.fasta", "", ReadOptions{MaxLine: 1 << 16})
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		x := sequences(t, d, err)
		if err := x.Validate(); err != nil {
			t.Fatal(err)
		}
		if x.Len() != len(d.IDs) || len(d.Warnings) > 1 {
			t.Fatalf("%d sequences, %d ids, warnings %q", x.Len(), len(d.IDs), d.Warnings)
		}
		var text strings.Builder
		for i, row := range rowsOf(x) {
			if row == "" || strings.Contains(row, "--") || strings.Trim(row, "-") != row {
				t.Fatalf("row %d is %q", i, row)
			}
			fmt.Fprintf(&text, ">%s\n%s\n", d.IDs[i], row)
		}
		again, err := decodeText(text.String(), "f.fasta", ReadOptions{})
		if err != nil {
			t.Fatalf("reading what was written: %v", err)
		}
		if y := sequences(t, again, err); !slices.Equal(rowsOf(x), rowsOf(y)) ||
			!slices.Equal(d.IDs, again.IDs) {
			t.Fatalf("changed: %q %q, want %q %q", rowsOf(y), again.IDs, rowsOf(x), d.IDs)
		}
	})
}
