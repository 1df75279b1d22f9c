// Package soak keeps the library busy for a long time and checks what a short test cannot: memory
// that grows, goroutines that remain, and results that change.
//
// Several goroutines share one engine. Each does one job after the other: it fits a random method
// with random parameters to random points and links, encodes the model, reads it back, and embeds
// new points with both models. The number of a job determines it. One job in eight repeats an
// earlier number, and its result must be bit-identical.
package soak
