package main

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// matches reports whether printed lines match the shown ones by the rules of the package's comment.
func matches(shown, printed []string) bool {
	if len(shown) == 0 {
		return len(printed) == 0
	}
	if strings.TrimSpace(shown[0]) == "..." {
		for skip := 0; skip <= len(printed); skip++ {
			if matches(shown[1:], printed[skip:]) {
				return true
			}
		}
		return false
	}
	return len(printed) > 0 && sameLine(shown[0], printed[0]) && matches(shown[1:], printed[1:])
}

// token is a number with its unit, a run of letters, or one other character.
var token = regexp.MustCompile(`\.\.\.|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|\pL+|[^\s]`)

// sameLine compares two lines token by token; white space only separates.
func sameLine(shown, printed string) bool {
	return sameTokens(token.FindAllString(shown, -1), token.FindAllString(printed, -1))
}

func sameTokens(shown, printed []string) bool {
	if len(shown) == 0 {
		return len(printed) == 0
	}
	if shown[0] == "..." {
		for skip := 0; skip <= len(printed); skip++ {
			if sameTokens(shown[1:], printed[skip:]) {
				return true
			}
		}
		return false
	}
	if len(printed) == 0 {
		return false
	}
	if duration(shown) && duration(printed) {
		return sameTokens(shown[2:], printed[2:])
	}
	return sameToken(shown[0], printed[0]) && sameTokens(shown[1:], printed[1:])
}

// units of values that differ from run to run and from machine to machine.
var units = map[string]bool{"ns": true, "µs": true, "us": true, "ms": true, "s": true, "KiB": true,
	"MiB": true, "GiB": true}

func duration(tokens []string) bool {
	if len(tokens) < 2 || !units[tokens[1]] {
		return false
	}
	_, err := strconv.ParseFloat(tokens[0], 64)
	return err == nil
}

// sameToken compares two tokens; numbers with a point or an exponent may differ a little.
func sameToken(shown, printed string) bool {
	if shown == printed {
		return true
	}
	if !strings.ContainsAny(shown, ".") && !exponent.MatchString(shown) {
		return false
	}
	a, err := strconv.ParseFloat(shown, 64)
	if err != nil {
		return false
	}
	b, err := strconv.ParseFloat(printed, 64)
	return err == nil && math.Abs(a-b) <= 0.005+0.01*math.Abs(a)
}

var exponent = regexp.MustCompile(`^[+-]?\d+[eE]`)
