package linear

import (
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/links"
)

// Triplets are all (i, j, k) with i and j in one component and k in a rival component.
func TestTriplets(t *testing.T) {
	const n = 12
	var list []links.Link
	for _, p := range [][2]int{{0, 1}, {1, 2}, {4, 5}, {7, 8}, {8, 9}} {
		list = append(list, links.NewLink(p[0], p[1], links.Must))
	}
	for _, p := range [][2]int{{2, 4}, {5, 7}, {9, 11}, {0, 2}} { // the last one within a component
		list = append(list, links.NewLink(p[0], p[1], links.Cannot))
	}
	set, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	var want []links.Triplet
	component := []int{0, 0, 0, -1, 1, 1, -1, 2, 2, 2, -1, 3}
	apart := map[[2]int]bool{{0, 1}: true, {1, 0}: true, {1, 2}: true, {2, 1}: true, {2, 3}: true,
		{3, 2}: true}
	for i := range n {
		for j := range n {
			for k := range n {
				if i != j && component[i] >= 0 && component[i] == component[j] && component[k] >= 0 &&
					apart[[2]int{component[i], component[k]}] {
					want = append(want, links.Triplet{I: i, J: j, K: k})
				}
			}
		}
	}
	c := NewClasses(set)
	all, err := c.Triplets(1000, 1)
	if err != nil || len(all) != len(want) {
		t.Fatalf("%d triplets, want %d (%v)", len(all), len(want), err)
	}
	for _, triplet := range want {
		if !slices.Contains(all, triplet) {
			t.Errorf("%v is missing", triplet)
		}
	}
	some, err := c.Triplets(10, 1)
	if err != nil || len(some) != 10 {
		t.Fatalf("%d triplets, want 10 (%v)", len(some), err)
	}
	for at, triplet := range some {
		if !slices.Contains(want, triplet) || slices.Contains(some[:at], triplet) {
			t.Errorf("%v is wrong or occurs twice", triplet)
		}
	}
	if other, _ := c.Triplets(10, 2); slices.Equal(some, other) {
		t.Error("another seed draws the same triplets")
	}
}
