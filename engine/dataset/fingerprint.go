package dataset

import (
	"encoding/hex"

	"github.com/mustlink/mustlink/engine/points"
)

// Fingerprint returns [points.Digest] of p in hexadecimal.
func Fingerprint(p points.Points) string {
	sum := points.Digest(p)
	return hex.EncodeToString(sum[:])
}
