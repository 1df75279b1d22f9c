package links

// FromLabels returns the links that say what the labels say: the rows of each label are a chunklet,
// and one cannot-link joins every two of them. Rows whose label is "" are in none. The closure of the
// set holds all pairs. O(n + classes^2).
func FromLabels(labels []string) (*Set, error) {
	c := newClasses(labels)
	var chunklets [][]int
	for k := range c.count() {
		chunklets = append(chunklets, c.members(k))
	}
	s, err := FromChunklets(len(labels), chunklets)
	if err != nil {
		return nil, err
	}
	for a, rows := range chunklets { // classes come in the order of their first rows
		for _, others := range chunklets[a+1:] {
			s.cannot = append(s.cannot, NewLink(rows[0], others[0], Cannot))
		}
	}
	return s, nil
}
