package dataset

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
)

// numerals is how a column writes its numbers. The zero value is that of strconv.
type numerals struct {
	comma   bool   // numbers have a decimal comma
	groups  bool   // digits may be in groups of three: 1,234,567
	dressed bool   // numbers may have the unit, a minus sign, and groups by narrow spaces
	unit    string // a currency symbol or %, "" for none
}

// standard reports whether a number as strconv writes it is one.
func (n *numerals) standard() bool { return !n.comma && n.unit != "%" }

// plain returns a number as strconv writes it. ok is false for a text with marks that do not belong
// there: a decimal point in a file of decimal commas might as well be that of a thousand.
func (n numerals) plain(s string) (plain string, ok bool) {
	point, group := ".", ","
	if n.comma {
		point, group = group, point
	}
	if n.dressed {
		var unit string
		if s, unit = undress(s, point); unit != n.unit && (unit != "" || n.unit == "%") {
			return s, false
		}
	}
	if n.groups && strings.Contains(s, group) {
		if s, ok = ungroup(s, point, group); !ok {
			return s, false
		}
	}
	if !n.comma {
		return s, true
	}
	return strings.Replace(s, ",", ".", 1), !strings.Contains(s, ".")
}

// ungroup removes the marks between groups of three digits before the point.
func ungroup(s, point, group string) (string, bool) {
	whole, _, _ := strings.Cut(s, point)
	groups := strings.Split(strings.TrimLeft(whole, "+-"), group)
	for k, g := range groups {
		if strings.Trim(g, "0123456789") != "" || len(g) > 3 || len(g) < 3 && k > 0 || g == "" {
			return s, false
		}
	}
	return strings.ReplaceAll(whole, group, "") + s[len(whole):], !strings.Contains(s[len(whole):], group)
}

// isNumber reports whether a text is a number, perhaps one that is infinite or out of range.
func (n numerals) isNumber(s string) bool {
	s, ok := n.plain(s)
	return ok && isNumber(s)
}

// parse is parseNumber for these numerals.
func (n numerals) parse(s string) (v float64, what, fix string) {
	plain, ok := n.plain(strings.TrimSpace(s))
	if ok {
		if v, what, fix = parseNumber(plain); v != 0 || what == "" {
			return v, what, fix
		}
	}
	if _, what, fix = parseNumber(s); what == "" {
		what, fix = "the number "+quote(s)+" has a decimal point, but others have a comma"+wantFinite, "write a decimal comma"
		if n.unit == "%" {
			what, fix = "the number "+quote(s)+" has no %, but others have one"+wantFinite, "write the cells of the column alike"
		}
	}
	return 0, what, fix
}

// isNumber reports whether a text is a number, perhaps one that is infinite or out of range.
func isNumber(s string) bool {
	v, err := ParseFloat(s)
	return err == nil && v == v || err == ErrRounded || errors.Is(err, strconv.ErrRange)
}

// addRow parses the features of one record.
func (t *table) addRow(r *records, fields []string, features []int, line int) error {
	for _, i := range features {
		marks := r.marks
		if r.cells != nil {
			marks = r.cells[i]
		}
		v, err := marks.float([]byte(fields[i]))
		if err != nil || v-v != 0 {
			var what, fix string
			if v, what, fix = marks.parse(fields[i]); what != "" {
				if err := r.problem(line, r.columns[i], fix, "%s", what); err != nil {
					return err
				}
			}
		}
		t.data = append(t.data, v)
	}
	return nil
}

// wantFinite ends what states a problem.
const wantFinite = ": want a finite number"

// parseNumber parses a cell that the fast path refused. If it is not a finite number, what states
// the problem and fix what to do.
func parseNumber(s string) (v float64, what, fix string) {
	s = strings.TrimSpace(s)
	v, err := ParseFloat(s)
	switch {
	case err == ErrRounded:
		return v, "the value is " + s + ": " + err.Error(),
			"drop the column or make it a category if it has identifiers, or write measurements with an exponent"
	case s == "":
		return 0, "the cell is empty" + wantFinite, "fill in a number, or remove the row"
	case err == nil && math.IsNaN(v):
		return 0, "the value is " + s + wantFinite, "fill in a number, or remove the row"
	case err == nil && math.IsInf(v, 0):
		return 0, "the value is " + s + wantFinite, "fill in a finite number, or remove the row"
	case errors.Is(err, strconv.ErrRange):
		return 0, "the value " + quote(s) + " is beyond the range of float64" + wantFinite, "rescale the column"
	case err != nil && s == "?" || s == "NA" || s == "N/A" || s == "null":
		return 0, "the value is missing (" + quote(s) + ")" + wantFinite, "fill in a number, or remove the row"
	case err != nil && strings.Count(s, ",") == 1:
		return 0, "the text " + quote(s) + " is not a number" + wantFinite, "write a decimal point, not a comma"
	case err != nil:
		return 0, "the text " + quote(s) + " is not a number" + wantFinite,
			"correct it, encode the categories as numbers, or call the column label or id if it holds labels or ids"
	}
	return v, "", ""
}

// float is ParseFloat for these numerals. A number with a decimal comma is not much slower than one
// with a point.
func (n *numerals) float(field []byte) (float64, error) {
	if v, size := decimal(field); size == len(field) && size > 0 && n.standard() {
		return v, nil
	}
	var short [24]byte
	if n.comma && !n.dressed && len(field) <= len(short) && bytes.IndexByte(field, '.') < 0 {
		copied := short[:copy(short[:], field)]
		if i := bytes.IndexByte(copied, ','); i >= 0 {
			copied[i] = '.'
		}
		if v, size := decimal(copied); size == len(copied) && size > 0 {
			return v, nil
		}
	}
	plain, ok := n.plain(string(field))
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return ParseFloat(plain)
}
