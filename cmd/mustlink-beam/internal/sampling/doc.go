// Package sampling chooses landmarks among the rows of many files: by a reservoir, uniform or
// weighted; by k-means||; or by approximate ridge leverage scores.
//
// A reservoir draws a number for each row from an exponential distribution with mean one over its
// weight, and takes the rows of the m smallest numbers (Efraimidis & Spirakis 2006). The choice
// depends only on the seed and the rows' numbers in the set.
package sampling
