package prepare

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mustlink/mustlink/engine/dataset"
)

// lookAlike is a way in which texts look like numbers or dates that were not read as such, and what
// to do about them.
type lookAlike struct {
	pattern *regexp.Regexp
	want    string
	date    bool
}

// lookAlikes returns the ways; the first that fits counts. They are compiled where they are first
// used, since most programs that link the package never do.
var lookAlikes = sync.OnceValue(func() []lookAlike {
	return []lookAlike{
		{regexp.MustCompile(`^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$`),
			"want the option thousands if its comma is that of thousands, or a decimal point", false},
		{regexp.MustCompile(`^[+-]?\d{1,3}(\.\d{3})+,\d+$|^[+-]?\d+,\d+$`), "want a decimal point", false},
		{regexp.MustCompile(`^\d{1,2}[/.-]\d{1,2}[/.-]\d{2}$`),
			"want years of four digits if these are dates", true},
		{regexp.MustCompile(`^([<>≤≥~≈]=?) ?[+-]?\d+([.,]\d+)?$`), "want numbers without signs", false},
		{regexp.MustCompile(`^\([\p{Sc}]?\d[\d.,]*\)$`),
			"want a minus sign if these are negative numbers", false},
		{regexp.MustCompile(`^[+\-\x{2212}]?\p{Sc}? ?\d[\d.,'’\x{a0}\x{2009}\x{202f}]* ?[%\p{Sc}]?$`),
			"want numbers without other marks", false},
		{regexp.MustCompile(`^[+-]?\d[\d.,]* ?[\pL°µμ]{1,4}[23²³]?(/[\pL]{1,3}[23²³]?)?$`),
			"want numbers in one unit, and no unit in the cells", false},
	}
})

// fewLevels is the number of different texts up to which a column is a category without a doubt,
// such as 3 doors and 5 doors, unless they are dates or all different.
const fewLevels = 5

// doubtNumbers returns a warning for a column of texts nearly all of whose cells look like numbers
// or dates, "" if they do not. often is how often each text occurs. Cost: that of some texts.
func doubtNumbers(levels []string, often []int) string {
	few := len(levels) <= fewLevels && (len(levels) < 3 || slices.Max(often) > 1)
	const some = 1000
	levels = levels[:min(len(levels), some)]
	cells, numbers, odd, other := 0, 0, 0, -1 // texts that only look like numbers, and that do not
	ways := lookAlikes()
	fits := make([]int, len(ways))
	example, zeros := "", false // zeros: there are numbers such as 007, which are names
	for k, text := range levels {
		cells += often[k]
		text = strings.TrimSpace(text)
		if _, err := dataset.ParseFloat(text); err == nil {
			numbers += often[k]
			zeros = zeros || len(text) > 1 && text[0] == '0' && text[1] != '.'
			continue
		}
		way := slices.IndexFunc(ways, func(l lookAlike) bool { return l.pattern.MatchString(text) })
		if way < 0 {
			if other < 0 || often[k] > often[other] {
				other = k
			}
			continue
		}
		if odd == 0 {
			example = text
		}
		odd, fits[way] = odd+often[k], fits[way]+often[k]
	}
	best := 0
	for w := range fits {
		if fits[w] > fits[best] {
			best = w
		}
	}
	switch {
	case few && (odd == 0 || !ways[best].date):
	case odd == 0 && numbers == cells && zeros:
	case odd == 0 && numbers == cells:
		return "its texts are numbers, such as " + strconv.Quote(short(levels[0])) + ": want the kind number for it if they count or measure"
	case odd > 0 && 10*(odd+numbers) >= 9*cells:
		return "nearly all cells look like numbers or dates, such as " + strconv.Quote(short(example)) + ", and are read as texts: " + ways[best].want
	case odd == 0 && other >= 0 && 2*numbers >= cells && 10*(numbers+often[other]) >= 9*cells:
		return "most cells are numbers, but not " + strconv.Quote(short(levels[other])) + ", which is in " + count(often[other], "cell") +
			": want an empty cell for a missing number"
	}
	return ""
}
