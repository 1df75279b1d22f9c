package logdet

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// takeStart begins with the multipliers and bounds of the start. Bounds that it does not hold are those that belong to the multipliers.
func (s *state) takeStart() error {
	start, count := s.o.Start, len(s.constraints)
	if len(start.Multipliers) != count {
		return &fault.ShapeError{What: "constraints", Got: count, Want: fmt.Sprintf("%d, those of the start", len(start.Multipliers))}
	}
	s.Multipliers = append([]float64(nil), start.Multipliers...)
	s.Bounds = append([]float64(nil), start.Bounds...)
	if start.Bounds == nil {
		s.Bounds = make([]float64, count)
		for k, c := range s.constraints {
			s.Bounds[k] = c.Bound / (1 - c.sign()*s.Multipliers[k]*c.Bound*s.inverse[k])
		}
	}
	if len(s.Bounds) != count {
		return &fault.ShapeError{What: "bounds of the start", Got: len(s.Bounds), Want: fmt.Sprintf("%d, one for each constraint", count)}
	}
	for k, m := range s.Multipliers {
		if b := s.Bounds[k]; !(m >= 0) || math.IsInf(m, 1) || !(b > 0) || math.IsInf(b, 1) {
			return unfit(k, fmt.Errorf("multiplier %v with the bound %v: want a finite one >= 0 and a finite one > 0", m, b))
		}
	}
	return nil
}

// unfit is the error of a multiplier of the start that cannot be used.
func unfit(k int, err error) error {
	return &fault.DataError{Row: k, Err: fmt.Errorf("start: %w", err)}
}

// replay makes the matrix that the multipliers belong to: first what they add to its inverse, then what they take away, so that
// all matrices on the way are definite if the last one is.
func (s *state) replay(done func() error) error {
	for _, sign := range []float64{1, -1} {
		for k, c := range s.constraints {
			if k%1024 == 1023 {
				if err := done(); err != nil {
					return err
				}
			}
			l := sign * s.Multipliers[k]
			if l == 0 || c.Kind != Nearer && c.sign() != sign {
				continue
			}
			p := s.square(k, c.Kind == Nearer && sign < 0, s.q)
			s.finish(s.q)
			if !(1+l*p > 0) {
				return unfit(k, fmt.Errorf("multiplier %v makes the matrix indefinite: want those of a result for the same points", s.Multipliers[k]))
			}
			s.add(-l/(1+l*p), s.q)
		}
	}
	return nil
}
