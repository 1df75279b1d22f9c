// Package blocking (internal: may change) finds the pairs of records that have equal keys, such as
// the same postal code and the same first letter of the name.
package blocking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Rule is keys that must all be equal.
type Rule []Key

// Key is a function of the texts of a column.
type Key struct {
	Column string
	of     func(text string) string
}

// functions are the functions of keys. Texts come trimmed and in lower case; "" is no key.
func functions() map[string]func(string) string {
	return map[string]func(string) string{
		"first-letter": func(text string) string { return first(letters(text), 1) },
		"first-three":  func(text string) string { return first(letters(text), 3) },
		"digits": func(text string) string {
			return strings.Map(func(r rune) rune { return kept(r, unicode.IsDigit(r)) }, text)
		},
		"year":    year,
		"soundex": soundex,
	}
}

// Functions returns the names of the functions of keys.
func Functions() []string {
	return []string{"first-letter", "first-three", "digits", "year", "soundex"}
}

// Parse reads a rule: COLUMN or FUNCTION(COLUMN), several with commas. A *fault.ParamError says
// what is wrong.
func Parse(text string) (Rule, error) {
	var rule Rule
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		key := Key{Column: part, of: func(text string) string { return text }}
		if name, rest, ok := strings.Cut(part, "("); ok {
			if key.of, ok = functions()[name]; !ok {
				return nil, fault.Unknown("key", name, Functions())
			}
			key.Column = strings.TrimSpace(strings.TrimSuffix(rest, ")"))
			if !strings.HasSuffix(rest, ")") {
				key.Column = ""
			}
		}
		if key.Column == "" {
			return nil, &fault.ParamError{Param: "key", Value: text,
				Want: "columns, or functions of them, with commas: zip,first-letter(name)"}
		}
		rule = append(rule, key)
	}
	return rule, nil
}

// Pairs returns the pairs i < j of rows that are equal in all keys of a rule, ascending, each once.
// A row without a key of a rule has no pairs by it. column returns a column of texts by its name.
//
// Errors: those of column, a *fault.ParamError for more than most pairs, which names the largest
// block, a *fault.MemoryError, and ctx.Err(). Cost: O(n log n) and O(p log p) for p pairs.
func Pairs(ctx context.Context, eng *engine.Engine, rules []Rule,
	column func(name string) (*points.Column, error), most int) ([][2]int32, error) {
	var blocks [][]int32
	total, largest, of := 0, 0, ""
	for _, rule := range rules {
		keys, err := rule.keys(column)
		if err != nil {
			return nil, err
		}
		number := map[string]int{}
		begin := len(blocks)
		for i, key := range keys {
			if key == "" {
				continue
			}
			k, ok := number[key]
			if !ok {
				k = len(blocks)
				number[key], blocks = k, append(blocks, nil)
			}
			blocks[k] = append(blocks[k], int32(i))
		}
		for _, rows := range blocks[begin:] {
			total += len(rows) * (len(rows) - 1) / 2
			if len(rows) > largest {
				largest, of = len(rows), strings.ReplaceAll(keys[rows[0]], separator, ",")
			}
		}
	}
	if total > most {
		return nil, &fault.ParamError{Param: "key", Value: of, Want: fmt.Sprintf(
			"keys that fewer records share: %d do, and all blocks have %d pairs, but at most %d may be found",
			largest, total, most)}
	}
	if err := eng.Check(fmt.Sprintf("%d pairs of equal keys", total), 16*int64(total),
		"use keys that fewer records share"); err != nil {
		return nil, err
	}
	pairs := make([][2]int32, 0, total)
	for _, rows := range blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for a, i := range rows {
			for _, j := range rows[a+1:] {
				pairs = append(pairs, [2]int32{i, j})
			}
		}
	}
	slices.SortFunc(pairs, Compare)
	return slices.Compact(pairs), nil
}

// Compare orders pairs by their first rows, then by the second.
func Compare(a, b [2]int32) int {
	if a[0] != b[0] {
		return int(a[0]) - int(b[0])
	}
	return int(a[1]) - int(b[1])
}

// separator is between the keys of a row.
const separator = "\x00"

// keys returns the joined keys of each row, "" where one is missing.
func (r Rule) keys(column func(name string) (*points.Column, error)) ([]string, error) {
	var out []string
	for k, key := range r {
		c, err := column(key.Column)
		if err != nil {
			return nil, err
		}
		of := make([]string, len(c.Levels))
		for level, text := range c.Levels {
			of[level] = key.of(strings.ToLower(strings.TrimSpace(text)))
		}
		if k == 0 {
			out = make([]string, len(c.Codes))
		}
		for i, code := range c.Codes {
			switch {
			case code < 0 || of[code] == "" || k > 0 && out[i] == "":
				out[i] = ""
			case k == 0:
				out[i] = of[code]
			default:
				out[i] += separator + of[code]
			}
		}
	}
	return out, nil
}

func kept(r rune, keep bool) rune {
	if keep {
		return r
	}
	return -1
}

func letters(text string) string {
	return strings.Map(func(r rune) rune { return kept(r, unicode.IsLetter(r)) }, text)
}

func first(text string, n int) string {
	runes := []rune(text)
	return string(runes[:min(n, len(runes))])
}

// year returns the first four digits in a row.
func year(text string) string {
	digits := 0
	for k := range len(text) {
		if text[k] < '0' || text[k] > '9' {
			digits = 0
		} else if digits++; digits == 4 {
			return text[k-3 : k+1]
		}
	}
	return ""
}

// soundex returns the code of the American census for the sound of a name: its first letter, and
// three digits for the classes of the next consonants. Letters beyond a to z are left out.
func soundex(text string) string {
	const classes = "01230120022455012623010202" // of a to z; h and w do not end a class
	out, last := []byte{}, byte('0')
	for _, r := range letters(text) {
		if r < 'a' || r > 'z' {
			continue
		}
		class := classes[r-'a']
		switch {
		case len(out) == 0:
			out = append(out, byte(r))
		case class != '0' && class != last:
			out = append(out, class)
		}
		if len(out) == 4 {
			break
		}
		if r != 'h' && r != 'w' {
			last = class
		}
	}
	if len(out) == 0 {
		return ""
	}
	return (string(out) + "000")[:4]
}
