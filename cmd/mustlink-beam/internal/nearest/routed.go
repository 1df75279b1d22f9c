package nearest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

// Routed finds neighbors along landmarks, and writes a file for each of the buckets, of which there
// are as many as landmarks. What it finds is compared with the exact neighbors of the sample, when
// there is one.
func Routed(s beam.Scope, c job.Config, elements []shard.Element, k int, g Routing, buckets int, out shard.Output) {
	s = s.Scope("routed")
	pieces, samples, tallies := beam.ParDo3(s, &routeFn{Config: c, Routing: g}, job.Elements(s, elements))
	c.Check(s, tallies)
	found := beam.ParDo(s, &bucketFn{Config: c, Routing: g, Buckets: int64(buckets), K: k, Output: out}, beam.GroupByKey(s, pieces))
	if g.Sampling.Chance > 0 {
		measure(s, c, elements, k, out.Path, samples, found)
	}
}

// Pieces returns the path after which the files of pieces are named, in a hidden folder beside the
// output, which is made anew: what a job that was killed has left there is removed.
func Pieces(out shard.Output) (string, error) {
	dir, base := filepath.Split(out.Path)
	folder := filepath.Join(dir, "."+base+".pieces")
	if err := os.RemoveAll(folder); err != nil {
		return "", fmt.Errorf("removing the pieces of an earlier job: %w", err)
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		return "", fmt.Errorf("making a folder for pieces: %w", err)
	}
	return filepath.Join(folder, "piece.npy"), nil
}

// Remove removes the files of pieces.
func Remove(pieces string) error { return os.RemoveAll(filepath.Dir(pieces)) }
