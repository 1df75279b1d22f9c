package paper

import (
	"strings"
	"testing"
)

// TestDuel: a row is ahead or behind with certainty, or neither, and the verdicts follow.
func TestDuel(t *testing.T) {
	table := toy()
	table.Columns, table.Good = []string{"up", "same", "down"}, Lower
	for i := range table.Rows {
		table.Rows[i].Printed = Unprinted(3)
	}
	r := handmade(t, table, "", func(trial int, row, column string) float64 {
		v := float64(trial)
		if row == "first" {
			v += map[string]float64{"up": -2, "same": 1e-3 * float64(trial%2*2-1), "down": 2}[column]
		}
		return v
	})
	d := r.duel("first", "second", nil)
	if strings.Join(d.ahead, "") != "up" || strings.Join(d.equal, "") != "same" ||
		strings.Join(d.behind, "") != "down" || d.columns != 3 {
		t.Errorf("%+v", d)
	}
	only := func(name string) func(string) bool { return func(column string) bool { return column == name } }
	for column, want := range map[string][2]Verdict{"up": {Reproduced, Reproduced},
		"same": {Worse, Reproduced}, "down": {Worse, Worse}} {
		d := r.duel("first", "second", only(column))
		if d.better() != want[0] || d.comparable() != want[1] {
			t.Errorf("%s: better %s, comparable %s: want %v", column, d.better(), d.comparable(), want)
		}
	}
	c := r.against("it is", "second", []string{"first", "first"}, only("down"), duel.better)
	if c.Verdict != Reproduced || !strings.Contains(c.Detail, "certainly ahead on 1 of 1") {
		t.Errorf("%+v", c)
	}
	for want, d := range map[string]duel{
		"certainly ahead on 1 of 3 (up), certainly behind on 1 (down 2)": {3, []string{"up"},
			[]string{"same"}, []string{"down, 2"}},
		"certainly ahead on 2 of 3 (not on c)":             {3, []string{"a", "b"}, []string{"c"}, nil},
		"certainly ahead on 0 of 2, certainly behind on 2": {2, nil, nil, []string{"a", "b"}},
		"certainly ahead on 2 of 2":                        {2, []string{"a", "b"}, nil, nil},
	} {
		if got := d.String(); got != want {
			t.Errorf("%q: want %q", got, want)
		}
	}
}
