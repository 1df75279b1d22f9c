// Package sampling chooses landmarks among rows that no machine holds: by a reservoir, uniform
// or weighted; by k-means||; or by approximate ridge leverage scores.
//
// A reservoir gives each row a number drawn from an exponential distribution whose mean is one over
// its weight, and takes the rows of the m smallest (Efraimidis & Spirakis 2006). Which these are
// follows from the seed and the rows' numbers in the set alone.
package sampling
