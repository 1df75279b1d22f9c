// Package rows holds the pipelines that make something of every row by itself, embed and classify,
// and those that only count: score.
package rows
