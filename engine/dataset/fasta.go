package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// fastaKind describes FASTA for messages.
func fastaKind() textKind {
	return textKind{"fasta", "FASTA text", "records of a header (>NAME) and letters"}
}

// fastaReader collects the records of a FASTA file.
type fastaReader struct {
	textRows           // a row is a record
	alphabet string    // "" to ignore the letters
	letter   [256]byte // the letter of the alphabet, Gap for any other, 0 for ignored characters

	ids     *names
	labels  *names // nil when they are not requested
	letters []byte
	opened  int  // line of the current record's header
	gap     bool // letters outside the alphabet since the last inside it
	skipped skipped
}

// skipped counts the letters that were ignored because they are outside the alphabet.
type skipped struct {
	letters, records int
	record           int    // the last record with such a letter
	first, line      int    // record and line of the first such letter
	kinds            []rune // different letters, in order
}

// decodeFASTA reads sequences of the letters of o.Alphabet, in upper or lower case. A run of other
// letters becomes one points.Gap; at the ends of the sequence it is dropped.
func decodeFASTA(src *source, o ReadOptions, rep *report) (*table, error) {
	alphabet, err := Alphabet(o.Alphabet)
	if err != nil {
		return nil, err
	}
	f, err := readFASTA(src, alphabet, o.HeaderLabels && !o.IgnoreLabels, o, rep)
	if err != nil {
		return nil, err
	}
	n := len(f.start)
	t := &table{rows: n, cols: len(alphabet), ids: f.ids.values, warnings: f.warnings()}
	if f.labels != nil {
		t.labels = f.labels.values
	}
	t.points, err = points.NewSequences(alphabet, append(f.start, len(f.letters)), f.letters)
	return t, err
}

// labelsFASTA returns the second words of the headers.
func labelsFASTA(src *source, o ReadOptions, rep *report) (LabelRows, error) {
	f, err := readFASTA(src, "", true, ReadOptions{MaxLine: o.MaxLine, MemoryLimit: src.limit}, rep)
	if err != nil {
		return LabelRows{}, err
	}
	return LabelRows{f.labels.values, f.ids.values}, nil
}

// Alphabet returns the letters of a named alphabet ("protein", also "", "dna", "rna") or of one
// given by its letters, in upper case. Other text is a *fault.ParamError.
func Alphabet(text string) (string, error) {
	switch strings.ToLower(text) {
	case "", "protein":
		return points.Protein, nil
	case "dna":
		return "ACGT", nil
	case "rna":
		return "ACGU", nil
	}
	letters := strings.ToUpper(text)
	for i, c := range letters {
		if c < 'A' || c > 'Z' || strings.IndexRune(letters, c) < i {
			return "", fault.Param("alphabet", text, "protein, dna, rna, or letters from A to Z, each once")
		}
	}
	return letters, nil
}

func readFASTA(src *source, alphabet string, labels bool, o ReadOptions, rep *report) (*fastaReader, error) {
	f := &fastaReader{textRows: textRows{rep: rep}, alphabet: alphabet, ids: idNames(0),
		skipped: skipped{record: -1}}
	if labels {
		f.labels = labelNames(0)
	}
	for c := range f.letter {
		f.letter[c] = points.Gap
	}
	for _, c := range []byte(" \t\v\f") {
		f.letter[c] = 0
	}
	for _, c := range []byte(alphabet) {
		f.letter[c], f.letter[c|0x20] = c, c
	}
	if err := f.begin(src, o.MaxLine, fastaKind()); err != nil {
		return nil, err
	}
	err := f.each(func(text []byte) error {
		if err := f.takeLine(text); err != nil {
			return err
		}
		return checkBytes(o, src.name, int64(len(f.letters))+8*int64(len(f.start)))
	})
	if err == nil {
		err = f.endRecord()
	}
	if err != nil {
		return nil, err
	}
	switch {
	case len(rep.problems) > 0:
		return nil, errStop
	case len(f.start) == 0:
		return nil, rep.fatal("check that it was written to the end", "the file is blank: want %s",
			fastaKind().want)
	}
	return f, nil
}

// name returns the current record's name, quoted for a message.
func (f *fastaReader) name() string { return quote(f.ids.values[len(f.start)-1]) }

func (f *fastaReader) takeLine(text []byte) error {
	switch {
	case len(text) > 0 && text[0] == '>':
		f.blank = 0
		if err := f.endRecord(); err != nil {
			return err
		}
		return f.header(string(text[1:]))
	case len(bytes.TrimSpace(text)) == 0:
		f.blank = cmp.Or(f.blank, f.line)
		return nil
	case len(f.start) == 0:
		// Without a header it is not known where the first record begins.
		_ = f.problem(f.line, "write a header above the letters",
			"the line is %s: want a header that begins with >", quote(string(text)))
		return errStop
	}
	if blank := f.blank; blank > 0 {
		f.blank = 0
		if err := f.problem(blank, "remove the line, or write the header that is missing below it",
			"a blank line splits the sequence of record %s: want blank lines only between records and at "+
				"the end", f.name()); err != nil {
			return err
		}
	}
	if f.alphabet != "" {
		f.sequence(text)
	}
	return nil
}

// header begins a record.
func (f *fastaReader) header(text string) error {
	words := strings.Fields(text)
	f.start, f.opened, f.gap = append(f.start, len(f.letters)), f.line, false
	if len(words) == 0 {
		f.ids.values = append(f.ids.values, "")
		return f.problem(f.line, "write a name after the >", "the header has no name: want >NAME")
	}
	if first := f.ids.push(words[0], f.line); first > 0 {
		if err := f.problem(f.line, "rename or remove one of the two records",
			"record %s is already on line %d: want different names", f.name(), first); err != nil {
			return err
		}
	}
	if f.labels == nil {
		return nil
	}
	label := ""
	if len(words) > 1 {
		label = words[1]
	}
	f.labels.push(label, f.line)
	return nil
}

// sequence adds a line of letters to the current record.
func (f *fastaReader) sequence(text []byte) {
	for i, c := range text {
		switch l := f.letter[c]; l {
		case 0:
		case points.Gap:
			f.gap = len(f.letters) > f.start[len(f.start)-1]
			if utf8.RuneStart(c) {
				f.skip(text[i:])
			}
		default:
			if f.gap {
				f.letters, f.gap = append(f.letters, points.Gap), false
			}
			f.letters = append(f.letters, l)
		}
	}
}

// skip counts the first letter of text as ignored.
func (f *fastaReader) skip(text []byte) {
	s, record := &f.skipped, len(f.start)-1
	if s.letters++; s.letters == 1 {
		s.first, s.line = record, f.line
	}
	if s.record != record {
		s.records++
		s.record = record
	}
	const maxKinds = 8 // letters to name
	if c, _ := utf8.DecodeRune(bytes.ToUpper(text[:min(len(text), utf8.UTFMax)])); len(s.kinds) <= maxKinds &&
		!slices.Contains(s.kinds, c) {
		s.kinds = append(s.kinds, c)
	}
}

// endRecord checks the last record.
func (f *fastaReader) endRecord() error {
	switch n := len(f.start); {
	case n == 0 || f.alphabet == "" || len(f.letters) > f.start[n-1]:
		return nil
	case f.skipped.record == n-1:
		return f.problem(f.opened, "give the alphabet of the file, or remove the record",
			"record %s has no letter of the alphabet %s: want at least one", f.name(), f.alphabet)
	}
	return f.problem(f.opened, "write its letters below the header, or remove it",
		"record %s has no sequence: want letters below the header", f.name())
}

func (f *fastaReader) warnings() []string {
	s := f.skipped
	if s.letters == 0 {
		return nil
	}
	kinds := string(s.kinds[:min(len(s.kinds), 8)])
	if len(s.kinds) > 8 {
		kinds += "…"
	}
	return []string{fmt.Sprintf(
		"%s outside the alphabet %s (%s) in %s ignored, the first in record %s on line %d",
		fault.Count(s.letters, "letter"), f.alphabet, printable(kinds), fault.Count(s.records, "record"),
		quote(f.ids.values[s.first]), s.line)}
}

// printable returns a text with its control characters as escapes.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(text)
		return quoted[1 : len(quoted)-1]
	}
	return text
}
