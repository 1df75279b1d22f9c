// Package rows has the pipelines that process every row independently, embed and classify, and the
// one that only counts, score.
package rows
