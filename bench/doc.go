// Package bench is the laboratory: it times, counts and compares with printed results. It is a
// separate module that imports mustlink, that nothing else imports, and that has one program,
// mustlink-bench.
//
// The package has no code. bench/paper repeats the tables of the papers whose methods mustlink
// implements, and compares our results with the printed ones.
package bench
