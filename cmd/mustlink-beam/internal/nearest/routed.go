package nearest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

// Routed finds neighbors by landmarks, and writes a file for each bucket. There are as many buckets
// as landmarks. When there is a sample, it measures the recall on it.
func Routed(s beam.Scope, c job.Config, elements []shard.Element, k int, g Routing, buckets int,
	out shard.Output) {
	s = s.Scope("routed")
	pieces, samples, tallies := beam.ParDo3(s, &routeFn{Config: c, Routing: g}, job.Elements(s, elements))
	c.Check(s, tallies)
	found := beam.ParDo(s, &bucketFn{Config: c, Routing: g, Buckets: int64(buckets), K: k, Output: out},
		beam.GroupByKey(s, pieces))
	if g.Sampling.Chance > 0 {
		measure(s, c, elements, k, out.Path, samples, found)
	}
}

// Pieces returns the path that names the files of pieces, in a new hidden folder next to the staged
// output, with which it is removed.
func Pieces(out shard.Output) (string, error) {
	dir, base := filepath.Split(out.Path)
	folder := filepath.Join(dir, "."+base+".pieces")
	if err := os.Mkdir(folder, 0o777); err != nil {
		return "", fmt.Errorf("making a folder for pieces: %w", err)
	}
	return filepath.Join(folder, "piece.npy"), nil
}
