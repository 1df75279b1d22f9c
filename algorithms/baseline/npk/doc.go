// Package npk (engine room: may change) learns a kernel matrix on a graph by semidefinite
// programming: non-parametric kernel learning (Zhuang, Tsang & Hoi, "A family of simple
// non-parametric kernel learning algorithms", JMLR 12, 2011; Hoi, Jin & Lyu, ICML 2007). It is the
// problem that package npkl solves for many points, solved here for few, by an interior-point
// method with a duality gap.
package npk
