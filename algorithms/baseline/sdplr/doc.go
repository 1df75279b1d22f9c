// Package sdplr (engine room: may change) learns a kernel matrix on a graph by a low-rank augmented
// Lagrangian: SDPLR (Burer & Monteiro, "A nonlinear programming algorithm for solving semidefinite
// programs via low-rank factorization", Mathematical Programming 95, 2003). It solves the problem
// of package npkl, and is one of its baselines.
//
// With Z = V V' and a slack s for each link, the losses l(1 - s) subject to s = 1 - t Z_ij have multipliers a.
// The minimum over s is known: a link with the residual u = 1 - t Z_ij counts with
//
//	max over b of  b u - conjugate(b) - (b - a)^2 / (2 rho)
//
// where b is free (sl, conjugate b^2/(4C)), b >= 0 (shl, the same) or 0 <= b <= 2 C (hl, 0). This is smooth in V,
// and minimised by limited memory BFGS; then a becomes the best b, and rho grows if s is not near enough.
// Unlike the sweeps of npkl this converges for the hinge, too.
//
// If Delta - sum a t (E_ij + E_ji) / 2 has no negative eigenvalue then Z is the optimum among all matrices;
// a negative one bounds the gap. New points get their places as in package npkl.
package sdplr
