// Package simplenpkl (engine room: may change) learns a kernel matrix on a graph by
// eigendecompositions: SimpleNPKL (Zhuang, Tsang & Hoi, "A family of simple non-parametric kernel
// learning algorithms", JMLR 12, 2011). It is a baseline of package npkl.
//
// Of all positive semidefinite K with a Frobenius norm of at most S it seeks the one that minimises
//
//	tr(Delta K) + C sum l(t_ij K_ij)
//
// over the links, each once, with Delta as in package npkl. Without the bound S the kernel of the linear
// loss l(f) = -f would be infinite; with it, it is S A+ / |A+|, where A+ is the positive part of
// A = C sum t_ij (E_ij + E_ji) / 2 - Delta: one eigendecomposition.
//
// With the squared hinge (shl) the problem has the dual
//
//	maximise over a >= 0:  sum a - sum a^2 / (4 C) - S |A(a)+|,   A(a) = sum a_ij t_ij (E_ij + E_ji) / 2 - Delta
//
// whose gradient is 1 - a / (2 C) - t K, K = S A+ / |A+|: projected gradient ascent with an
// eigendecomposition in every step, until primal and dual objective meet.
//
// The rank of a solution is at most that for which r(r+1)/2 links suffice, so no more eigenvectors are
// sought. New points get their places as in package npkl.
package simplenpkl
