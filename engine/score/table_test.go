package score

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestTableIsAll: rows in blocks of any size have scores that are bit-identical to those of all
// rows at once.
func TestTableIsAll(t *testing.T) {
	scored := 0
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(rt, "n")
		label := rapid.Custom(func(rt *rapid.T) string {
			return rapid.SampledFrom([]string{"", "a", "b", "c", "1", "2"}).Draw(rt, "label")
		})
		truth, predicted := rapid.SliceOfN(label, n, n).Draw(rt, "truth"), rapid.SliceOfN(label, n, n).Draw(rt, "predicted")
		named := rapid.Bool().Draw(rt, "named")
		table := Table{Named: named}
		for lo := 0; lo < n; {
			hi := min(n, lo+rapid.IntRange(1, 20).Draw(rt, "block"))
			if err := table.Add(truth[lo:hi], predicted[lo:hi]); err != nil {
				rt.Fatal(err)
			}
			lo = hi
		}
		got, err := table.Report()
		want, fail := All(Input{Truth: truth, Predicted: predicted, Named: named})
		if fmt.Sprint(err) != fmt.Sprint(fail) {
			rt.Fatalf("error %v: want %v", err, fail)
		}
		if diff := difftest.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
		if err == nil {
			scored++
			direct, err := Accuracy(pick(truth, labeled(truth)), pick(predicted, labeled(truth)))
			if err != nil || got.Accuracy != nil && *got.Accuracy != direct || named && (got.Accuracy == nil ||
				got.Numbered) {
				rt.Fatalf("accuracy %v: want %v (%v)", got.Accuracy, direct, err)
			}
		}
	})
	if scored == 0 {
		t.Error("nothing was scored")
	}
}

func labeled(truth []string) []int {
	var rows []int
	for i, label := range truth {
		if label != "" {
			rows = append(rows, i)
		}
	}
	return rows
}

// TestTableHoldsLabels: the size of a table does not grow with the rows, and lengths are compared.
func TestTableHoldsLabels(t *testing.T) {
	var table Table
	for range 1000 {
		if err := table.Add([]string{"a", "b", ""}, []string{"0", "0", "1"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := table.Entries(); got != 2+1+2 {
		t.Errorf("the table has %d entries: want 5", got)
	}
	if err := table.Add([]string{"a"}, nil); !fault.IsInput(err) {
		t.Errorf("error %v: want one about the lengths", err)
	}
}

// AddCount equals that many rows, also more than fit in memory: pairs are still counted exactly.
func TestTableAddCount(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		var rows, counts Table
		for range rapid.IntRange(1, 10).Draw(rt, "blocks") {
			label := rapid.SampledFrom([]string{"", "a", "b", "c"})
			truth, predicted, n := label.Draw(rt, "truth"), label.Draw(rt, "predicted"), rapid.IntRange(0, 5).Draw(rt, "rows")
			for range n {
				if err := rows.Add([]string{truth}, []string{predicted}); err != nil {
					rt.Fatal(err)
				}
			}
			if err := counts.AddCount(truth, predicted, n); err != nil {
				rt.Fatal(err)
			}
		}
		want, fail := rows.Report()
		got, err := counts.Report()
		if fmt.Sprint(err) != fmt.Sprint(fail) {
			rt.Fatalf("error %v: want %v", err, fail)
		}
		if diff := difftest.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// Of two labelings with four cells of h rows, 4 h(h-1)/2 pairs of rows are in one cell, and h^2 in
// each pair of cells, of which 2 share the class, 2 the cluster and 2 neither.
func TestTableOfMostRows(t *testing.T) {
	const h = 1<<30 - 1
	var table Table
	for _, labels := range [][2]string{{"a", "x"}, {"a", "y"}, {"b", "x"}, {"b", "y"}} {
		if err := table.AddCount(labels[0], labels[1], h); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.AddCount("a", "x", 4); !fault.IsInput(err) {
		t.Errorf("2^32 rows: %v, want an error", err)
	}
	if err := table.AddCount("a", "x", -1); !fault.IsInput(err) {
		t.Errorf("-1 rows: %v, want an error", err)
	}
	r, err := table.Report()
	if err != nil {
		t.Fatal(err)
	}
	together, apart := 2*float64(h)*(h-1), 2*float64(h)*h
	if want := (together + apart) / (together + 2*apart + apart); math.Abs(*r.Rand-want) > 4*0x1p-52 {
		t.Errorf("the Rand index is %v: want %v", *r.Rand, want)
	}
	if want := -1 / (4*float64(h) - 2); math.Abs(*r.AdjustedRand-want) > 8*0x1p-52*math.Abs(want) {
		t.Errorf("the adjusted Rand index is %v: want %v", *r.AdjustedRand, want)
	}
}

// TestNumbered: labels 0 to k - 1 that another naming of them would make agree better are taken for
// numbers of clusters; the right names, and labels that are no such numbers, are not.
func TestNumbered(t *testing.T) {
	truth := []string{"0", "0", "1", "1", "2"}
	for _, c := range []struct {
		predicted []string
		want      bool
	}{
		{[]string{"1", "1", "0", "0", "2"}, true},
		{[]string{"0", "0", "1", "1", "2"}, false},
		{[]string{"0", "0", "1", "2", "2"}, false}, // no naming agrees better
		{[]string{"1", "1", "2", "2", "1"}, false}, // not from 0
	} {
		r, err := All(Input{Truth: truth, Predicted: c.predicted})
		if err != nil || r.Numbered != c.want || r.Accuracy == nil {
			t.Errorf("%v: %+v, error %v: want %v, with an accuracy", c.predicted, r, err, c.want)
			continue
		}
		if r.OfClusters(); r.Accuracy != nil || r.ClusterAccuracy == nil {
			t.Errorf("%v: accuracy %v and cluster accuracy %v of clusters", c.predicted, r.Accuracy, r.ClusterAccuracy)
		}
	}
}
