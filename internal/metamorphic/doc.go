// Package metamorphic has tests that need no right answer: they change what a method is given in a
// way that should not change what it answers, and compare both answers. A constant feature, rows in
// another order, a Gram matrix of the same rows: the learned distances are the same to a stated
// tolerance, or there is a typed error or a notice. The tests write
// docs/results/unchanged.csv.
package metamorphic
