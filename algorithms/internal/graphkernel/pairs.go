package graphkernel

// Pairs numbers the links of a problem, each once, in the order of their lower points.
type Pairs struct {
	Count  int
	From   []int32 // the lower point of each
	Once   []int   // its place among the links of that point
	Number []int32 // of the link at each place
}

// Pairs returns the numbers of the links.
func (p *Problem) Pairs() Pairs {
	out := Pairs{Number: make([]int32, len(p.To))}
	type pair struct{ i, j int32 }
	known := make(map[pair]int32, len(p.To)/2)
	for i := range p.Len() {
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			j := p.To[e]
			if int(j) < i {
				out.Number[e] = known[pair{j, int32(i)}]
				continue
			}
			known[pair{int32(i), j}] = int32(out.Count)
			out.Number[e] = int32(out.Count)
			out.From, out.Once = append(out.From, int32(i)), append(out.Once, e)
			out.Count++
		}
	}
	return out
}
