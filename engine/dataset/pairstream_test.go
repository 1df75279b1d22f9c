package dataset

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// pairsInBlocks reads a stream to its end in blocks of at most limit pairs.
func pairsInBlocks[T any](next func(int) ([][2]T, error), limit int) (all [][2]T, err error) {
	for {
		block, err := next(limit)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, block...)
	}
}

// TestPairsInBlocks: blocks of any size give the pairs of the whole file, by number and by id, and
// the names as written.
func TestPairsInBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs.csv")
	propertytest.Check(t, func(rt *rapid.T) {
		const n = 12
		c := LinkContext{N: n}
		for i := range n {
			c.IDs = append(c.IDs, fmt.Sprint("p", i))
		}
		if rapid.Bool().Draw(rt, "named") {
			c.By = ByID
		}
		row := rapid.IntRange(0, n-1)
		pairs := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) [2]int { return [2]int{row.Draw(rt, "i"), row.Draw(rt, "j")} }), 1, 30).Draw(rt, "pairs")
		ids := c.IDs
		if c.By != ByID {
			ids = nil
		}
		if err := WritePairs(path, pairs, ids, WriteOptions{}); err != nil {
			rt.Fatal(err)
		}
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")
		s, err := OpenPairs(path, c)
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		got, err := pairsInBlocks(s.Next, limit)
		if diff := difftest.Diff(pairs, got); err != nil || diff != "" {
			rt.Fatal(err, diff)
		}
		names, err := OpenPairs(path, LinkContext{})
		if err != nil {
			rt.Fatal(err)
		}
		defer names.Close()
		texts, err := pairsInBlocks(names.Names, limit)
		if err != nil || len(texts) != len(pairs) {
			rt.Fatal(err, len(texts))
		}
		for k, text := range texts {
			for side, name := range text {
				if want := rowName(pairs[k][side], ids); name != want {
					rt.Fatalf("pair %d is %v: want %v", k, text, pairs[k])
				}
			}
		}
	})
}

// TestPairStreamRefuses: errors are those of ReadPairs.
func TestPairStreamRefuses(t *testing.T) {
	dir := t.TempDir()
	for i, content := range []string{"", "i,j\n", "i,k\n0,1\n", "i,j\n0,1\n0,9\n", "i,j\n0,-1\n", "i,j\n0,x\n", "i,j\n0\n", "i,j\n0,1\n\n1,2\n", "i,j\n0,\"1\n"} {
		path := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c := LinkContext{N: 5}
		_, want := ReadPairs(path, c)
		for _, limit := range []int{1, 50} {
			s, err := OpenPairs(path, c)
			if err == nil {
				_, err = pairsInBlocks(s.Next, limit)
			}
			if fmt.Sprint(err) != fmt.Sprint(want) || !fault.IsInput(err) {
				t.Errorf("%q: error %v: want %v", content, err, want)
			}
		}
	}
	s, err := DecodePairStream(strings.NewReader("i,j\n0,1\n"), "-", false, LinkContext{N: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(0); !fault.IsInput(err) {
		t.Errorf("a limit of 0: error %v", err)
	}
	if _, err := DecodePairStream(strings.NewReader("i,j\n0,1\n"), "-", false, LinkContext{N: 2, By: ByID}); !fault.IsInput(err) {
		t.Errorf("ids that are not there: error %v", err)
	}
}
