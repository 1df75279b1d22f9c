package tsne

import "math"

// Align returns moving after the rotation, reflection and shift that bring it closest to fixed, in
// the sum of squared distances of points with the same number (orthogonal Procrustes analysis).
// Both planes have as many points.
func Align(moving, fixed Plane) Plane {
	mx, my, fx, fy := centered(moving.X), centered(moving.Y), centered(fixed.X), centered(fixed.Y)
	var xx, xy, yx, yy float64
	for i := range mx {
		xx += mx[i] * fx[i]
		xy += mx[i] * fy[i]
		yx += my[i] * fx[i]
		yy += my[i] * fy[i]
	}
	// The inner product with fixed is (xx + yy) cos + (xy - yx) sin after a rotation, and
	// (xx - yy) cos + (xy + yx) sin after a reflection of y before it.
	sign := 1.0
	if math.Hypot(xx-yy, xy+yx) > math.Hypot(xx+yy, xy-yx) {
		sign = -1
	}
	sin, cos := math.Sincos(math.Atan2(xy-sign*yx, xx+sign*yy))
	cx, cy := mean(fixed.X), mean(fixed.Y)
	out := Plane{make([]float64, len(mx)), make([]float64, len(mx))}
	for i := range mx {
		out.X[i] = cos*mx[i] - sin*sign*my[i] + cx
		out.Y[i] = sin*mx[i] + cos*sign*my[i] + cy
	}
	return out
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, c := range v {
		sum += c / float64(len(v))
	}
	return sum
}
