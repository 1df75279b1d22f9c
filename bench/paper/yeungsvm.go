package paper

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// pairwiseVectors classifies by support vector machines between every two classes, the class with
// most votes: as LIBSVM does. The matrix k has the kernel values between labeled points; across has
// those between the other points and the labeled ones (others x labeled). A tie is decided for the
// class that occurs first.
func pairwiseVectors(k, across blas.Matrix, labels []string, cost float64) []string {
	classes := classRows(labels)
	votes := blas.NewMatrix(across.Rows, len(classes))
	for a := range classes {
		for b := a + 1; b < len(classes); b++ {
			m := newMachine(k, classes[a], classes[b], cost)
			m.train()
			bias := m.bias()
			for i := range across.Rows {
				if m.value(across.Row(i))+bias > 0 {
					votes.Row(i)[a]++
				} else {
					votes.Row(i)[b]++
				}
			}
		}
	}
	found := make([]string, across.Rows)
	for i := range found {
		best := 0
		for c, v := range votes.Row(i) {
			if v > votes.At(i, best) {
				best = c
			}
		}
		found[i] = labels[classes[best][0]]
	}
	return found
}

// machine is a support vector machine between two classes: it minimizes a'Qa/2 - sum a over
// 0 <= a <= cost, y'a = 0, by sequential minimal optimization (Fan, Chen & Lin 2005).
type machine struct {
	k        blas.Matrix
	rows     []int // of k
	y, a     []float64
	gradient []float64 // Qa - 1
	cost     float64
}

// tolerance is the largest violation of the conditions of the optimum.
const machineTolerance = 1e-3

func newMachine(k blas.Matrix, first, second []int, cost float64) *machine {
	m := &machine{k: k, cost: cost, rows: append(append([]int{}, first...), second...)}
	n := len(m.rows)
	m.y, m.a, m.gradient = make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		m.y[i], m.gradient[i] = 1, -1
		if i >= len(first) {
			m.y[i] = -1
		}
	}
	return m
}

// train moves two coefficients at a time.
func (m *machine) train() {
	for range 1000 * len(m.rows) {
		i, j := m.violators()
		if j < 0 {
			return
		}
		m.step(i, j)
	}
}

// rises and falls report whether y_i a_i may rise or fall.
func (m *machine) rises(i int) bool {
	return m.y[i] > 0 && m.a[i] < m.cost || m.y[i] < 0 && m.a[i] > 0
}

func (m *machine) falls(i int) bool {
	return m.y[i] > 0 && m.a[i] > 0 || m.y[i] < 0 && m.a[i] < m.cost
}

// curve returns the squared distance of two points.
func (m *machine) curve(i, j int) float64 {
	p, q := m.rows[i], m.rows[j]
	return max(1e-12, m.k.At(p, p)+m.k.At(q, q)-2*m.k.At(p, q))
}

// violators returns the pair whose step lowers the objective most, given the first one; j is -1 at
// the optimum.
func (m *machine) violators() (int, int) {
	i, high := -1, math.Inf(-1)
	for t := range m.rows {
		if v := -m.y[t] * m.gradient[t]; m.rises(t) && v > high {
			i, high = t, v
		}
	}
	j, low, best := -1, math.Inf(1), 0.0
	for t := range m.rows {
		if i < 0 || !m.falls(t) {
			continue
		}
		v := -m.y[t] * m.gradient[t]
		low = min(low, v)
		if gain := (high - v) * (high - v) / m.curve(i, t); v < high && gain > best {
			j, best = t, gain
		}
	}
	if high-low < machineTolerance {
		return i, -1
	}
	return i, j
}

// step raises y_i a_i and lowers y_j a_j by the same amount.
func (m *machine) step(i, j int) {
	left, right := m.room(i, 1), m.room(j, -1)
	size := min((m.y[j]*m.gradient[j]-m.y[i]*m.gradient[i])/m.curve(i, j), left, right)
	m.move(i, size, left)
	m.move(j, -size, right)
	p, q := m.k.Row(m.rows[i]), m.k.Row(m.rows[j])
	for t, r := range m.rows {
		m.gradient[t] += m.y[t] * size * (p[r] - q[r])
	}
}

// room returns how far y_t a_t may move in the direction of sign.
func (m *machine) room(t int, sign float64) float64 {
	if sign*m.y[t] > 0 {
		return m.cost - m.a[t]
	}
	return m.a[t]
}

// move moves y_t a_t: exactly to the bound if it uses up the room.
func (m *machine) move(t int, by, room float64) {
	switch {
	case math.Abs(by) < room:
		m.a[t] += m.y[t] * by
	case by*m.y[t] > 0:
		m.a[t] = m.cost
	default:
		m.a[t] = 0
	}
}

// value returns the decision value of a point without the bias, given its kernel values.
func (m *machine) value(k []float64) float64 {
	sum := 0.0
	for t, r := range m.rows {
		sum += m.a[t] * m.y[t] * k[r]
	}
	return sum
}

// bias returns the mean over the coefficients between the bounds, or else the middle of what the
// bounds allow.
func (m *machine) bias() float64 {
	high, low, sum, free := math.Inf(-1), math.Inf(1), 0.0, 0
	for t := range m.rows {
		v := -m.y[t] * m.gradient[t]
		if m.rises(t) {
			high = max(high, v)
		}
		if m.falls(t) {
			low = min(low, v)
		}
		if m.rises(t) && m.falls(t) {
			sum, free = sum+v, free+1
		}
	}
	if free > 0 {
		return sum / float64(free)
	}
	return (high + low) / 2
}
