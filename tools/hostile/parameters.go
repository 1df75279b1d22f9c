package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// extreme are values that no one means.
var extreme = []string{"0", "-1", "1e-300", "1e300", "NaN", "Inf"}

// settings are parameters under which others act, by method.
var settings = map[string][]string{
	"krca": {"form=spectral"}, "lleratio": {"mode=linear"}, "gml": {"prior=spectral", "prior=datadep"},
	"mmc":      {"diagonal=true"},
	"spectral": {"kind=order", "kind=alignment", "kind=eigenmaps"}, "npkl": {"loss=hl"},
	"kbeta": {"landmarks=12"},
}

// setting is a fit with one extreme parameter.
type setting struct {
	method string
	flags  []string
}

var (
	methodLine    = regexp.MustCompile(`^  ([a-z]+): `)
	parameterLine = regexp.MustCompile(`^    (\w+) +(.*)`)
	bound         = regexp.MustCompile(`[<>]=? (-?[0-9][0-9.e+-]*)`)
)

// extremes returns the settings of all parameters in the text of 'mustlink help parameters'. The
// ends of ranges are extreme, too; of a kernel its width is.
func extremes(help string) []setting {
	var list []setting
	method := ""
	for line := range strings.Lines(help) {
		if m := methodLine.FindStringSubmatch(line); m != nil {
			method = m[1]
			continue
		}
		p := parameterLine.FindStringSubmatch(line)
		if p == nil || method == "" {
			continue
		}
		values, with := slices.Clone(extreme), append([]string{""}, settings[method]...)
		for _, b := range bound.FindAllStringSubmatch(p[2], -1) {
			values = append(values, b[1])
		}
		if p[1] == "kernel" {
			with = with[:1]
		}
		for _, other := range with {
			for _, v := range values {
				s := setting{method, []string{"-p", p[1] + "=" + v}}
				if p[1] == "kernel" {
					s.flags = []string{"-k", "rbf:sigma=" + v}
				}
				if name, _, is := strings.Cut(other, "="); is && name != p[1] {
					s.flags = append(s.flags, "-p", other)
				} else if is {
					continue
				}
				list = append(list, s)
			}
		}
	}
	return list
}

// runParameters fits every setting on a table of 40 rows, and embeds the rows.
func runParameters(c *campaign, p program, t *tally) error {
	o, err := p.run(".", "", "help", "parameters")
	if err != nil {
		return err
	}
	list := extremes(o.stdout)
	if len(list) < 500 {
		return fmt.Errorf("%d settings in the help of parameters: want all", len(list))
	}
	if c.settings > 0 {
		rand.New(rand.NewPCG(c.seed, 0)).Shuffle(len(list), func(i, j int) {
			list[i], list[j] = list[j], list[i]
		})
		list = list[:c.settings]
	}
	idle, err := p.idle()
	if err != nil {
		return err
	}
	return c.each(len(list), func(dir string) error {
		return write(dir, "data.csv", table(40, 3, c.seed))
	}, func(dir string, i int) error {
		return list[i].try(c, p, t, dir, idle)
	})
}

func (s setting) try(c *campaign, p program, t *tally, dir string, idle int64) error {
	args := append([]string{"fit", "-q", "-m", s.method, "-i", "data.csv", "--links-from-labels", "12",
		"--no-verdict", "--memory-limit", "100MB", "-o", "m.mlk"}, s.flags...)
	if s.method == "mlkr" {
		args = append(args, "--targets", "labels")
	}
	o, err := p.run(dir, "", args...)
	if err != nil {
		return err
	}
	noted := strings.Contains(o.stderr, "all learned distances")
	result := classify(o, idle)
	if result == done {
		if o, err = p.run(dir, "", "embed", "-q", "m.mlk", "-i", "data.csv", "-o", "e.csv", "--memory-limit",
			"100MB"); err != nil {
			return err
		}
		switch result = classify(o, idle); result {
		case done:
			text, err := read(filepath.Join(dir, "e.csv"))
			if err != nil {
				return err
			}
			if finding := checkCoordinates(text); finding != "" && (finding == notFinite || !noted) {
				result, o.stderr = wrong, finding
			}
		case refused:
			result = wrong // of a model that the fit has just made
		}
	}
	t.add(c.list, result, "mustlink "+strings.Join(args, " "), o)
	return nil
}

const notFinite = "a coordinate is not finite"

// checkCoordinates returns what is wrong with the coordinates in a CSV: one is not finite, or all
// distances are 0 or equal.
func checkCoordinates(text string) string {
	_, text, _ = strings.Cut(text, "\n") // names of columns
	var rows [][]float64
	for line := range strings.Lines(text) {
		var row []float64
		for cell := range strings.SplitSeq(strings.TrimSpace(line), ",") {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil || v-v != 0 {
				return notFinite
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	least, most := math.Inf(1), 0.0
	for i, a := range rows {
		for _, b := range rows[:i] {
			sum := 0.0
			for k := range a {
				sum += (a[k] - b[k]) * (a[k] - b[k])
			}
			least, most = min(least, sum), max(most, sum)
		}
	}
	switch {
	case most <= 1e-290:
		return "all distances are 0, and no notice says so"
	case most-least <= 1e-9*most:
		return "all distances are equal, and no notice says so"
	}
	return ""
}
