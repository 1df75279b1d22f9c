package points

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Gap marks one or more letters outside the alphabet in a sequence: no word (k-mer) spans it.
const Gap = '-'

// Protein is the alphabet of the twenty amino acids.
const Protein = "ACDEFGHIKLMNPQRSTVWY"

// Sequences is n strings of letters over a finite alphabet: row i is
// Letters[Start[i]:Start[i+1]].
type Sequences struct {
	Alphabet string // distinct printable ASCII letters, without Gap
	Start    []int  // length n+1, Start[0] = 0
	Letters  []byte // each a letter of Alphabet, or Gap
}

var _ Points = (*Sequences)(nil)

// NewSequences returns sequences over alphabet. The slices are kept, not copied. An invalid
// alphabet, an inconsistent structure or a letter that is not in the alphabet is a
// *fault.DataError, the last with its row and position.
func NewSequences(alphabet string, start []int, letters []byte) (*Sequences, error) {
	p := &Sequences{Alphabet: alphabet, Start: start, Letters: letters}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// Len returns the number of sequences.
func (p *Sequences) Len() int { return len(p.Start) - 1 }

// Dim returns the number of letters in the alphabet.
func (p *Sequences) Dim() int { return len(p.Alphabet) }

// Row returns sequence i, sharing memory.
func (p *Sequences) Row(i int) []byte { return p.Letters[p.Start[i]:p.Start[i+1]:p.Start[i+1]] }

// Select returns copies of the sequences at rows, in that order. Cost: O(letters copied).
func (p *Sequences) Select(rows []int) Points {
	out := &Sequences{Alphabet: p.Alphabet, Start: make([]int, 1, len(rows)+1)}
	for _, r := range rows {
		checkRow(r, p.Len())
		out.Letters = append(out.Letters, p.Row(r)...)
		out.Start = append(out.Start, len(out.Letters))
	}
	return out
}

// Validate reports the first inconsistency of the alphabet or of the structure, then the first
// letter, by row and position, that is neither in the alphabet nor Gap.
func (p *Sequences) Validate() error {
	if err := CheckAlphabet(p.Alphabet); err != nil {
		return asData(err)
	}
	if err := p.validateFrame(); err != nil {
		return asData(err)
	}
	known := [256]bool{Gap: true}
	for _, c := range []byte(p.Alphabet) {
		known[c] = true
	}
	for i := range p.Len() {
		bad := func(c byte) bool { return !known[c] }
		if at := slices.IndexFunc(p.Row(i), bad); at >= 0 {
			return &fault.DataError{Row: i, Err: fmt.Errorf("letter %q at position %d is not in the alphabet: want one of %s, or %q", p.Row(i)[at], at, p.Alphabet, Gap)}
		}
	}
	return nil
}

func (p *Sequences) validateFrame() error {
	switch {
	case len(p.Start) == 0:
		return &fault.ShapeError{What: "number of sequence starts", Got: 0, Want: "one more than the number of sequences"}
	case p.Start[0] != 0:
		return &fault.ShapeError{What: "start of sequence 0", Got: p.Start[0], Want: "0"}
	case p.Start[p.Len()] != len(p.Letters):
		return &fault.ShapeError{What: "end of the last sequence", Got: p.Start[p.Len()], Want: fmt.Sprintf("%d, the number of letters", len(p.Letters))}
	}
	for i := range p.Len() {
		if p.Start[i+1] < p.Start[i] || p.Start[i+1] > len(p.Letters) {
			return &fault.ShapeError{What: fmt.Sprintf("end of sequence %d", i), Got: p.Start[i+1], Want: fmt.Sprintf("a position from %d to %d", p.Start[i], len(p.Letters))}
		}
	}
	return nil
}

// CheckAlphabet returns a *fault.ParamError unless alphabet is one or more distinct printable
// ASCII characters, none of them Gap or a space.
func CheckAlphabet(alphabet string) error {
	bad := func(want string) error {
		return &fault.ParamError{Param: "alphabet", Value: alphabet, Want: want}
	}
	if alphabet == "" {
		return bad("at least one letter")
	}
	for i, c := range []byte(alphabet) {
		switch {
		case c <= ' ' || c > '~':
			return bad("printable ASCII letters")
		case c == Gap:
			return bad("letters other than " + string(Gap) + ", which marks a gap")
		case strings.IndexByte(alphabet, c) < i:
			return bad(fmt.Sprintf("distinct letters (%q occurs twice)", c))
		}
	}
	return nil
}
