package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// svmKind describes the svmlight format for messages.
func svmKind() textKind {
	return textKind{"svm", "svmlight text", "rows of LABEL NUMBER:VALUE ..."}
}

// svmReader collects the rows of an svmlight file.
type svmReader struct {
	textRows
	features int // given number of features, 0 for none

	labels  *names
	col     blocks[int32]
	val     blocks[float64]
	largest int // largest feature number so far

	queries, queryLine int // number of words qid:N, and the line of the first
}

// decodeSVM reads sparse rows. Values of 0 are not stored: files with and without them give the
// same points.
func decodeSVM(src *source, o ReadOptions, rep *report) (*table, error) {
	if o.Features < 0 || o.Features > math.MaxInt32 {
		return nil, fault.Param("features", o.Features,
			"a number from 1 to %d, or 0 for the largest in the file", math.MaxInt32)
	}
	r := &svmReader{textRows: textRows{rep: rep, start: []int{0}}, features: o.Features,
		labels: labelNames(0)}
	if err := r.begin(src, o.MaxLine, svmKind()); err != nil {
		return nil, err
	}
	err := r.each(func(text []byte) error {
		if err := r.takeLine(text); err != nil {
			return err
		}
		return checkBytes(o, src.name, 12*int64(r.val.n)+8*int64(len(r.start)))
	})
	if err != nil {
		return nil, err
	}
	rows, d := len(r.start)-1, cmp.Or(r.features, r.largest)
	switch {
	case len(rep.problems) > 0:
		return nil, errStop
	case rows == 0:
		return nil, rep.fatal("check that it was written to the end", "it has no data rows: want %s",
			svmKind().want)
	case d == 0:
		return nil, rep.fatal("give the number of features, or correct the rows",
			"no row has a feature: want NUMBER:VALUE after the labels")
	}
	t := &table{rows: rows, cols: d, labels: r.labels.values, warnings: r.warnings()}
	t.points, err = points.NewCSR(rows, d, r.start, r.col.join(), r.val.join())
	return t, err
}

// labelsSVM returns the labels of an svmlight file.
func labelsSVM(src *source, o ReadOptions, rep *report) (LabelRows, error) {
	// With the maximum number of features, a file of labels without features is accepted.
	t, err := decodeSVM(src, ReadOptions{MaxLine: o.MaxLine, Features: math.MaxInt32, MemoryLimit: src.limit},
		rep)
	if err != nil {
		return LabelRows{}, err
	}
	return LabelRows{Labels: t.labels}, nil
}

// takeLine parses one line: a row, a comment, or nothing.
func (r *svmReader) takeLine(text []byte) error {
	row, _, comment := bytes.Cut(text, []byte("#"))
	row = bytes.TrimRight(bytes.TrimLeft(row, spaces+byteOrderMark), spaces)
	switch {
	case len(row) > 0:
	case comment:
		return nil
	default:
		r.blank = cmp.Or(r.blank, r.line)
		return nil
	}
	if blank := r.blank; blank > 0 {
		r.blank = 0
		if err := r.problem(blank, "remove the line, or give it a label",
			"the line is blank: want blank lines only at the end"); err != nil {
			return err
		}
	}
	err := r.takeRow(row)
	r.start = append(r.start, r.val.n)
	return err
}

// takeRow parses "LABEL NUMBER:VALUE ...".
func (r *svmReader) takeRow(row []byte) error {
	label, rest := cutWord(row)
	if bytes.IndexByte(label, ':') >= 0 {
		return r.problem(r.line, "write the row's label first", "the row begins with %s: want a label",
			quote(string(label)))
	}
	if len(label) > 1 && label[0] == '+' && '0' <= label[1] && label[1] <= '9' {
		label = label[1:] // +1 and 1 are one class
	}
	r.labels.push(string(label), r.line)
	last := 0 // feature number
	for len(rest) > 0 {
		if number, v, length := plainFeature(rest); number > last &&
			(r.features == 0 || number <= r.features) {
			r.keep(number, v)
			last, rest = number, rest[length:]
			continue
		}
		var word []byte
		word, rest = cutWord(rest)
		name, value, ok := bytes.Cut(word, []byte(":"))
		switch {
		case !ok:
			if err := r.problem(r.line, "write NUMBER:VALUE", "%s is not a feature: want NUMBER:VALUE",
				quote(string(word))); err != nil {
				return err
			}
		case string(name) == "qid":
			if r.queries++; r.queries == 1 {
				r.queryLine = r.line
			}
		default:
			number, what, fix := r.number(name, last)
			if what == "" {
				last = number
				what, fix = r.value(number, value)
			}
			if what != "" {
				if err := r.problem(r.line, fix, "%s", what); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// cutWord splits a trimmed text after its first word.
func cutWord(text []byte) (word, rest []byte) {
	for i, c := range text {
		if isSpace(c) {
			return text[:i], bytes.TrimLeft(text[i:], spaces)
		}
	}
	return text, nil
}

// number parses a feature number, which must be larger than last. If it is wrong, what states the
// problem and fix what to do.
func (r *svmReader) number(name []byte, last int) (number int, what, fix string) {
	for _, c := range name {
		if c < '0' || c > '9' {
			return 0, fmt.Sprintf("feature number %s is not a whole number: want 1 or more",
				quote(string(name))), "number the features from 1"
		}
		if number = 10*number + int(c-'0'); number > math.MaxInt32 {
			return 0, fmt.Sprintf("feature number %s is too large: want at most %d", quote(string(name)),
				math.MaxInt32), "number the features from 1"
		}
	}
	switch {
	case len(name) == 0:
		return 0, "a feature number is missing before the colon: want NUMBER:VALUE",
			"number the features from 1"
	case number == 0:
		return 0, "feature number 0: want numbers from 1", "add 1 to every number"
	case r.features > 0 && number > r.features:
		return 0, fmt.Sprintf("feature %d: want numbers from 1 to %d", number, r.features),
			"give a larger number of features, or correct the row"
	case number == last:
		return 0, fmt.Sprintf("feature %d occurs twice: want it once", number), "keep one of the two"
	case number < last:
		return 0, fmt.Sprintf("feature %d comes after feature %d: want ascending numbers", number, last),
			"sort the features of the row"
	}
	return number, "", ""
}

// value parses and stores the value of a feature. If it is wrong, what states the problem and fix
// what to do.
func (r *svmReader) value(number int, text []byte) (what, fix string) {
	v, err := ParseFloat(string(text))
	if err != nil || v-v != 0 {
		if v, what, fix = parseNumber(string(text)); what != "" {
			if len(text) == 0 {
				what = "the value is empty" + wantFinite
			}
			return fmt.Sprintf("feature %d: %s", number, what), fix
		}
	}
	r.keep(number, v)
	return "", ""
}

func (r *svmReader) keep(number int, v float64) {
	r.largest = max(r.largest, number)
	if v != 0 {
		r.col.add(int32(number - 1))
		r.val.add(v)
	}
}

// plainFeature parses the first feature of text in its usual form: a number of up to 9 digits, a
// colon and a value of up to 15 digits. It returns the length with the spaces after it, or length 0
// for any other form.
func plainFeature(text []byte) (number int, value float64, length int) {
	number, i := plainDigits(text, 9)
	if i == 0 || i == len(text) || text[i] != ':' {
		return 0, 0, 0
	}
	v, n := plainDigits(text[i+1:], 15)
	length = i + 1 + n
	if n == 0 || length < len(text) && !isSpace(text[length]) {
		return 0, 0, 0
	}
	for length < len(text) && isSpace(text[length]) {
		length++
	}
	return number, float64(v), length
}

// plainDigits parses the leading digits of text, at most limit of them.
func plainDigits(text []byte, limit int) (v, n int) {
	for n < len(text) && n < limit && text[n]-'0' <= 9 {
		v = 10*v + int(text[n]-'0')
		n++
	}
	return v, n
}

// spaces separate the words of a row.
const spaces = " \t\r\v\f"

func isSpace(c byte) bool { return c <= ' ' && strings.IndexByte(spaces, c) >= 0 }

func (r *svmReader) warnings() []string {
	if r.queries == 0 {
		return nil
	}
	return []string{fault.Count(r.queries, "query number") + " (qid) ignored, the first on line " +
		strconv.Itoa(r.queryLine)}
}

// blocks collects an unknown number of values. Unlike append it copies each value once, at the end.
type blocks[T any] struct {
	n    int // values so far
	full [][]T
	last []T
}

func (b *blocks[T]) add(v T) {
	if len(b.last) == cap(b.last) {
		const minBlock, maxBlock = 1 << 8, 1 << 16
		if b.last != nil {
			b.full = append(b.full, b.last)
		}
		b.last = make([]T, 0, min(max(minBlock, b.n), maxBlock))
	}
	b.last = append(b.last, v)
	b.n++
}

// join returns all values.
func (b *blocks[T]) join() []T { return slices.Concat(append(b.full, b.last)...) }
