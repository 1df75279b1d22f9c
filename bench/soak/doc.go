// Package soak keeps a library busy for a long time and watches what a short test cannot see:
// memory that grows, goroutines that stay, and answers that change.
//
// Several goroutines share one engine. Each takes one job after the other: a random method with
// random parameters on random points and links is fitted, encoded, read back, and both models embed
// new points. A job is determined by its number, and one in eight is an old number again, whose
// answer must have the same bits.
package soak
