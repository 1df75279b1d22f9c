package catalog

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns the SHA-256 of the metric in hexadecimal, for files that belong to it: of the
// model and the preparation of its rows, without what was added later (verdict, calibration) and
// without the version and build of the fit.
func (f *Fitted) Digest() (string, error) {
	metric := *f
	metric.Verdict, metric.Calibration, metric.LibraryVersion, metric.Build = nil, nil, "any", "any"
	file, err := Encode(&metric)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := file.WriteTo(sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
