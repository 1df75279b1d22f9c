package native

import "math"

// secular is the equation 1/rho + sum_j z_j^2 / (d_j - x) = 0, d ascending, rho > 0: its roots
// are the eigenvalues of diag(d) + rho z z'. Root i lies between d_i and d_{i+1}, the last one
// between d_k and d_k + rho |z|^2.
type secular struct {
	d, z2 []float64 // poles and squares of z
	rho   float64
}

// root finds root i, and writes d_j minus the root to delta: to high relative accuracy, because
// the root is found as a distance from the nearer of its two poles (Li 1993).
func (s *secular) root(i int, delta []float64) float64 {
	k := len(s.d)
	origin, lo, hi := s.interval(i)
	for j, d := range s.d {
		delta[j] = d - s.d[origin]
	}
	mu := (lo + hi) / 2
	for range 100 {
		psi, dpsi, phi, dphi, size := s.sums(i, mu, delta)
		f := 1/s.rho + psi + phi
		if math.Abs(f) <= 2*float64(k)*0x1p-53*size {
			break
		}
		if f < 0 {
			lo = mu
		} else {
			hi = mu
		}
		next := s.step(i, mu, psi, dpsi, phi, dphi, delta)
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if next == mu || !(next > lo && next < hi) {
			break
		}
		mu = next
	}
	for j := range delta {
		delta[j] -= mu
	}
	return s.d[origin] + mu
}

// interval returns the pole that root i is measured from, and between which distances the root
// lies. The sign of the function in the middle of the poles says which is nearer.
func (s *secular) interval(i int) (origin int, lo, hi float64) {
	k := len(s.d)
	if i == k-1 {
		sum := 0.0
		for _, v := range s.z2 {
			sum += v
		}
		return i, 0, s.rho * sum * (1 + float64(k)*0x1p-52)
	}
	gap := s.d[i+1] - s.d[i]
	f := 1 / s.rho
	for j, d := range s.d {
		f += s.z2[j] / ((d - s.d[i]) - gap/2)
	}
	if f >= 0 {
		return i, 0, gap / 2
	}
	return i + 1, -gap / 2, 0
}

// sums returns the sums over the poles up to i and over those behind it at distance mu, their
// derivatives, and the sum of absolute values.
func (s *secular) sums(i int, mu float64, delta []float64) (psi, dpsi, phi, dphi, size float64) {
	size = 1 / s.rho
	for j := range i + 1 {
		r := 1 / (delta[j] - mu)
		t := s.z2[j] * r
		psi += t
		dpsi += t * r
	}
	for j := len(delta) - 1; j > i; j-- {
		r := 1 / (delta[j] - mu)
		t := s.z2[j] * r
		phi += t
		dphi += t * r
	}
	return psi, dpsi, phi, dphi, size - psi + phi
}

// step returns the root of the function that has the poles next to the root and both sums'
// values and derivatives at mu (Bunch, Nielsen & Sorensen 1978).
func (s *secular) step(i int, mu, psi, dpsi, phi, dphi float64, delta []float64) float64 {
	left := delta[i] - mu // < 0
	a := dpsi * left * left
	rest := 1/s.rho + psi - dpsi*left
	if i == len(delta)-1 {
		// rest + a / (delta_i - x) = 0
		return delta[i] + a/rest
	}
	right := delta[i+1] - mu // > 0
	b := dphi * right * right
	rest += phi - dphi*right
	// rest + a/(left - t) + b/(right - t) = 0 for t = x - mu:
	// rest t^2 - (rest (left + right) + a + b) t + rest left right + a right + b left = 0.
	p := rest*(left+right) + a + b
	q := rest*left*right + a*right + b*left
	root := math.Sqrt(max(0, p*p-4*rest*q))
	// The root between the poles: of the two forms the one that does not cancel.
	if p > 0 {
		return mu + 2*q/(p+root)
	}
	return mu + (p-root)/(2*rest)
}
