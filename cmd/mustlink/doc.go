// Command mustlink learns metrics from pairwise constraints and applies them: points and
// pairs in, a model out; with the model, embeddings, kernel matrices, distances, clusters
// and classes of any points.
//
// It reads flags, files and the environment, shows progress and prints results; it does no
// mathematics. Run `mustlink --help` for the commands.
//
// Environment: MUSTLINK_BACKEND (gonum, native, netlib) and MUSTLINK_SIMD (generic, avx2,
// avx512, neon) choose the linear algebra.
//
// Exit codes: 0 done, 1 failed, 2 wrong usage or bad input, 128 + N ended by the signal N.
package main
