// Package bench is the laboratory: it times, counts and compares with printed results. It is a
// separate module with one program, mustlink-bench. It imports mustlink; no package imports it.
//
// The package has no code. bench/paper repeats the tables of the papers whose methods mustlink
// implements, and compares our results with the printed ones.
package bench
