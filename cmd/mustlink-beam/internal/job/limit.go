package job

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Limit is the number of rows that may be bad, as a count or as a share of all rows. The zero value
// allows none. It implements the interface of a flag's value.
type Limit struct {
	Count   int64
	Percent float64 // used when Count is 0
}

// Set parses a limit such as "100" or "0.5%".
func (l *Limit) Set(text string) error {
	share, percent := strings.CutSuffix(text, "%")
	if !percent {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return errLimit
		}
		*l = Limit{Count: n}
		return nil
	}
	v, err := strconv.ParseFloat(share, 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return errLimit
	}
	*l = Limit{Percent: v}
	return nil
}

var errLimit = errors.New("a number of rows such as 100, or a share such as 0.5%")

func (l Limit) String() string {
	if l.Percent > 0 {
		return strconv.FormatFloat(l.Percent, 'g', -1, 64) + "%"
	}
	return strconv.FormatInt(l.Count, 10)
}

// Type returns the name of the flag's type.
func (l Limit) Type() string { return "limit" }

// allows returns an error when there are more bad rows than the limit.
func (l Limit) allows(bad, rows int64) error {
	if l.Percent > 0 {
		if float64(bad) <= l.Percent/100*float64(rows) {
			return nil
		}
	} else if bad <= l.Count {
		return nil
	}
	return fault.Data("", "%d of %d rows are bad: want at most %s (--bad-rows)", bad, rows, l)
}
