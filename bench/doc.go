// Package bench is the floor of measurements: what is timed, counted and compared with
// printed figures.
//
// It holds no code of its own. bench/paper repeats the tables of the papers whose methods
// mustlink implements and puts our figures beside the printed ones.
package bench
