package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// mutateModel changes a value of a model's header or a number of its tensors, and corrects the
// checksum of the tensors. It leaves out the members without which a file passes as one of the
// first versions, whose header has no checksum.
func mutateModel(rng *rand.Rand, text []byte) []byte {
	size := uint64(0)
	if len(text) >= 8 {
		size = binary.LittleEndian.Uint64(text)
	}
	if size == 0 || size > uint64(len(text)-8) {
		return mutateBytes(rng, text)
	}
	var header map[string]any
	data := bytes.Clone(text[8+size:])
	if json.Unmarshal(text[8:8+size], &header) != nil {
		return mutateBytes(rng, text)
	}
	about, is := header["__metadata__"].(map[string]any)
	if !is {
		return mutateBytes(rng, text)
	}
	delete(about, "header_sha256")
	inner := map[string]any{}
	if content, is := about["mustlink"].(string); !is || json.Unmarshal([]byte(content), &inner) != nil {
		return mutateBytes(rng, text)
	}
	delete(inner, "tensors")
	switch k := rng.IntN(4); {
	case k == 0 && len(data) >= 8:
		damageNumber(rng, data)
	case k == 1:
		mutateValue(rng, header)
	default:
		mutateValue(rng, inner)
	}
	if _, is := about["mustlink"].(string); is {
		content, _ := json.Marshal(inner) // it was JSON before
		about["mustlink"] = string(content)
	}
	sum := sha256.Sum256(data)
	about["sha256"] = hex.EncodeToString(sum[:])
	out, _ := json.Marshal(header)
	out = append(out, bytes.Repeat([]byte(" "), (8-len(out)%8)%8)...)
	return bytes.Join([][]byte{binary.LittleEndian.AppendUint64(nil, uint64(len(out))), out, data}, nil)
}

// damageNumber replaces eight bytes by an extreme number.
func damageNumber(rng *rand.Rand, data []byte) {
	at := rng.IntN(len(data)/8) * 8
	bits := append(slices.Clone(integers), math.Float64bits(math.NaN()), math.Float64bits(math.Inf(-1)),
		math.Float64bits(1e300), math.Float64bits(-1), math.Float64bits(1e-300))
	binary.LittleEndian.PutUint64(data[at:], bits[rng.IntN(len(bits))])
}

// mutateValue replaces, removes or adds a value somewhere in a JSON object.
func mutateValue(rng *rand.Rand, v any) {
	odd := []any{nil, -1, 0, 1e300, 1e18, 1 << 31, true, "", "\x00", "rbf:sigma=-1", "rbf:sigma=1e-300",
		"nan", []any{}, []any{-1, 5}, map[string]any{}, []any{[]any{[]any{}}}, 0.5, "krca"}
	value := odd[rng.IntN(len(odd))]
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 {
			v["x"] = value
			return
		}
		key := keys[rng.IntN(len(keys))]
		switch {
		case composite(v[key]) && rng.IntN(4) > 0:
			mutateValue(rng, v[key])
		case rng.IntN(4) == 0:
			delete(v, key)
		default:
			v[key] = value
		}
	case []any:
		if len(v) == 0 {
			return
		}
		if at := rng.IntN(len(v)); composite(v[at]) {
			mutateValue(rng, v[at])
		} else {
			v[at] = value
		}
	}
}

func composite(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func unpacked(text []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(z) // of what packed wrote
	return out
}
