package paper

import (
	"math/rand/v2"
	"path/filepath"
)

// Trial is one repetition of a table. All its randomness comes from the seed of the run and from
// Number, through independent streams.
type Trial struct {
	Number int    // 0-based; -1 in Table.Prepare
	Data   string // folder of the data sets, "" if none was given
	Shared any    // what Table.Prepare returned, nil without one
	seed   uint64
	step   func()
}

// Step reports that one more of the Table.Steps parts of the trial is finished. It may be called
// from several goroutines.
func (t Trial) Step() {
	if t.step != nil {
		t.step()
	}
}

// Path returns the path of a data set.
func (t Trial) Path(name string) string { return filepath.Join(t.Data, name) }

// Seed returns the seed of a stream, for functions that take a seed. The trial function numbers its
// streams; the same number always gives the same seed.
func (t Trial) Seed(stream int) uint64 {
	return mix(mix(mix(t.seed)^uint64(t.Number)) ^ uint64(stream))
}

// Rand returns a generator at the start of a stream.
func (t Trial) Rand(stream int) *rand.Rand {
	return rand.New(rand.NewPCG(t.Seed(stream), uint64(stream)))
}

// mix is the output function of SplitMix64 (Steele, Lea & Flood 2014) with its increment: a
// bijection of 64-bit words under which neighboring words become unrelated ones.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
