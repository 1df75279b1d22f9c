// Package bench is the laboratory: what is timed, counted and compared with printed figures. It is
// a module of its own, which stands on mustlink and which nothing imports, with one program,
// mustlink-bench.
//
// It holds no code of its own. bench/paper repeats the tables of the papers whose methods
// mustlink implements and puts our figures beside the printed ones.
package bench
