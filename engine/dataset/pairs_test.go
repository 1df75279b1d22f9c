package dataset

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/gziptest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

var fiveRows = LinkContext{N: 5, IDs: []string{"a", "b", "c", "d,e", "7"}}

func byID(c LinkContext) LinkContext { c.By = ByID; return c }

func decodeLinksText(text string, c LinkContext) (*links.Set, error) {
	return ReadLinks(Input{Name: "links.csv", Stream: strings.NewReader(text)}, c)
}

func TestReadLinks(t *testing.T) {
	nan := math.NaN()
	want := []links.Link{{I: 0, J: 1, Sign: links.Must, Weight: 1, Bound: nan},
		{I: 0, J: 4, Sign: links.Must, Weight: 0.5, Bound: nan},
		{I: 1, J: 3, Sign: links.Cannot, Weight: 1, Bound: 2.5},
		{I: 2, J: 3, Sign: links.Cannot, Weight: 1, Bound: nan}}
	cases := map[string]struct {
		text string
		c    LinkContext
	}{
		"rows": {"i,j,link,bound,weight\n1,0,must,,\n0,4,1,,0.5\n3,1,-1,2.5,\n2,3,cannot,,\n",
			fiveRows},
		"ids": {"i,j,link,bound,weight\nb,a,must,,\na,7,+1,,0.5\n\"d,e\",b,cannot,2.5,1\nc,\"d,e\",cannot,,\n", byID(fiveRows)},
		"other order": {"weight,link,j,i,bound\n,must, 0 " +
			",1,\n.5,must,4,0,\n1,cannot,1,3,2.5\n,cannot,3,2,\n\n", fiveRows},
	}
	for name, k := range cases {
		t.Run(name, func(t *testing.T) {
			set, err := decodeLinksText(k.text, k.c)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Concat(set.Must(), set.Cannot())
			same := slices.EqualFunc(got, want, func(a, b links.Link) bool {
				return a.I == b.I && a.J == b.J && a.Sign == b.Sign && a.Weight == b.Weight &&
					(a.Bound == b.Bound || math.IsNaN(a.Bound) && math.IsNaN(b.Bound))
			})
			if !same || set.N() != 5 {
				t.Errorf("links %v, want %v", got, want)
			}
			path := write(t, "l.csv.gz", gziptest.Zip(k.text))
			if _, err := ReadLinks(Input{Name: path}, k.c); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadChunklets(t *testing.T) {
	for text, c := range map[string]LinkContext{
		"i,chunklet\n0,x\n3,y\n1,x\n4,y\n2,z\n":               fiveRows,
		"chunklet,i\n 9 ,a\n8,\"d,e\"\n9,b\n8,7\n\"a,b\",c\n": byID(fiveRows),
	} {
		set, err := decodeLinksText(text, c)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(set.Chunklets()); got != "[[0 1] [2] [3 4]]" {
			t.Errorf("chunklets %s", got)
		}
	}
}

func TestBadLinks(t *testing.T) {
	whole, at := place{0, -1, ""}, func(line int, column string) place { return place{line, -1, column} }
	cases := []struct {
		name, text string
		c          LinkContext
		at         place
		want       string
	}{
		{"empty file", "", fiveRows, whole, "empty"},
		{"header only", "i,j,link\n", fiveRows, whole, "no link yet"},
		{"other header", "a,b\n1,2\n", fiveRows, whole,
			"want i,j,link[,bound][,weight] for links or i,chunklet"},
		{"pairs", "i,j\n1,2\n", fiveRows, whole, "want i,j,link"},
		{"one column too many", "i,j,link,note\n1,2,must,x\n", fiveRows, whole, "want i,j,link"},
		{"chunklets with a third column", "i,chunklet,x\n1,2,3\n", fiveRows, whole, "want i,j,link"},
		{"out of range", "i,j,link\n0,1,must\n0,5,must\n", fiveRows, at(3, "j"),
			"row 5 does not exist: want 0 to 4"},
		{"negative", "i,j,link\n-1,1,must\n", fiveRows, at(2, "i"), "row -1 does not exist"},
		{"no number", "i,j,link\n0,x,must\n", fiveRows, at(2, "j"), `"x" is not a row number: want 0 to 4`},
		{"a fraction", "i,j,link\n0,1.0,must\n", fiveRows, at(2, "j"), "not a row number"},
		{"id without saying so", "i,j,link\n0,b,must\n", fiveRows, at(2, "j"), `"b" is an id`},
		{"unknown id", "i,j,link\na,z,must\n", byID(fiveRows), at(2, "j"), `no row with id "z"`},
		{"self-pair", "i,j,link\n0,1,must\n2,2,cannot\n", fiveRows, at(3, ""), "paired with itself"},
		{"self-pair by id", "i,j,link\n\"d,e\",\"d,e\",must\n", byID(fiveRows), at(2, ""),
			`ids "d,e" and "d,e"`},
		{"both signs", "i,j,link\n0,1,must\n2,3,must\n1,0,cannot\n", fiveRows, at(4, ""), "line 2"},
		{"both signs by id", "i,j,link\na,b,1\nb,a,-1\n", byID(fiveRows), at(3, ""), "line 2"},
		{"unknown link", "i,j,link\n0,1,maybe\n", fiveRows, at(2, "link"),
			`"maybe": want must, cannot, 1 or -1`},
		{"zero", "i,j,link\n0,1,0\n", fiveRows, at(2, "link"), `"0"`},
		{"negative bound", "i,j,link,bound\n0,1,must,-2\n", fiveRows, at(2, "bound"), "finite number > 0"},
		{"bound that is NaN", "i,j,link,bound\n0,1,must,NaN\n", fiveRows, at(2, "bound"), "NaN"},
		{"weight zero", "i,j,link,weight\n0,1,must,0\n", fiveRows, at(2, "weight"), "> 0"},
		{"infinite weight", "i,j,link,weight\n0,1,must,Inf\n", fiveRows, at(2, "weight"), "finite"},
		{"ragged", "i,j,link\n0,1\n", fiveRows, at(2, ""), "2 fields: want 3"},
		{"empty cell", "i,j,link\n0,,must\n", fiveRows, at(2, "j"), `""`},
		{"chunklet out of range", "i,chunklet\n0,a\n9,a\n", fiveRows, at(3, "i"), "row 9"},
		{"empty chunklet", "i,chunklet\n0,\n", fiveRows, at(2, "chunklet"), "empty"},
		{"no rows", "i,j,link\n0,1,must\n", LinkContext{}, at(2, "i"), "have no rows"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := decodeLinksText(c.text, c.c)
			wantData(t, err, "links.csv", c.at, c.want)
		})
	}
	if _, err := decodeLinksText("i,j,link\n0,1,1\n", LinkContext{N: 5, By: "id"}); !fault.IsInput(err) {
		t.Errorf("ids without ids: error %v", err)
	}
	if _, err := decodeLinksText("i,j,link\n0,1,1\n", LinkContext{N: 5, By: "ids"}); !fault.IsInput(err) {
		t.Errorf("unknown naming: error %v", err)
	}
}

func TestCheckLinks(t *testing.T) {
	path := write(t, "links.csv",
		[]byte("i,j,link\n0,1,must\n9,-1,maybe\n2,2,must\n1,0,cannot\n0\n5,0,must\n2,3,must\n"))
	want := []place{{3, -1, "i"}, {3, -1, "j"}, {3, -1, "link"}, {4, -1, ""}, {5, -1, ""}, {6, -1, ""},
		{7, -1, "i"}}
	problems, err := CheckLinks(path, LinkContext{N: 5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []place
	for _, p := range problems {
		got = append(got, place{p.Err.Line, p.Err.Row, p.Err.Column})
		if p.Err.File != path || p.Fix == "" {
			t.Errorf("problem without file or fix: %+v", p)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems at %+v, want %+v", got, want)
	}
	last := problems[len(problems)-1]
	if !strings.Contains(last.Fix, "begin with 0") {
		t.Errorf("row n: fix %q", last.Fix)
	}
	if problems, err := CheckLinks(write(t, "l.csv", []byte("i,j,link\n0,1,must\n")), LinkContext{N: 5},
		0); err != nil || len(problems) > 0 {
		t.Errorf("sound file: %v, %v", problems, err)
	}
	near := write(t, "l.csv", []byte("i,j,link\nfirst,secnod,must\n"))
	problems, err = CheckLinks(near, LinkContext{N: 2, IDs: []string{"first", "second"}, By: ByID}, 0)
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Fix, `"second"`) {
		t.Errorf("misspelled id: %v, %v", problems, err)
	}
}

// Links and chunklets are unchanged after writing and reading, named by row and by id.
func TestLinksRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 30
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("id \"%d\",", i)
	}
	for trial := range 50 {
		seen := make(map[[2]int]bool)
		var list []links.Link
		for range rng.IntN(20) + 1 {
			i, j := rng.IntN(n), rng.IntN(n)
			if i == j || seen[[2]int{min(i, j), max(i, j)}] {
				continue
			}
			seen[[2]int{min(i, j), max(i, j)}] = true
			l := links.NewLink(i, j, links.Sign(1-2*rng.IntN(2)))
			if trial%2 == 1 && rng.IntN(2) == 0 {
				l.Bound, l.Weight = rng.ExpFloat64(), rng.ExpFloat64()
			}
			list = append(list, l)
		}
		if len(list) == 0 {
			continue
		}
		set, err := links.New(n, list)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []LinkContext{{N: n}, {N: n, IDs: ids, By: ByID}} {
			var b bytes.Buffer
			if err := WriteLinks("-", set, c.IDs, WriteOptions{Stdout: &b}); err != nil {
				t.Fatal(err)
			}
			got, err := ReadLinks(Input{Name: "-", Stream: bytes.NewReader(b.Bytes())}, c)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := printLinks(set), printLinks(got); a != b {
				t.Fatalf("got %s, want %s", b, a)
			}
			b.Reset()
			if err := writeChunklets(set, c.IDs, WriteOptions{Stdout: &b}); err != nil {
				t.Fatal(err)
			}
			if len(set.Chunklets()) == 0 {
				continue
			}
			if got, err = ReadLinks(Input{Name: "-", Stream: &b}, c); err != nil {
				t.Fatal(err)
			}
			if a, b := fmt.Sprint(set.Chunklets()), fmt.Sprint(got.Chunklets()); a != b {
				t.Fatalf("chunklets %s, want %s", b, a)
			}
		}
	}
}

// printLinks prints everything except the line numbers, so that NaN equals NaN.
func printLinks(s *links.Set) string {
	var b strings.Builder
	for _, l := range slices.Concat(s.Must(), s.Cannot()) {
		fmt.Fprint(&b, l.I, l.J, l.Sign, l.Weight, l.Bound, ";")
	}
	return b.String()
}

func TestPairs(t *testing.T) {
	pairs := [][2]int{{0, 4}, {4, 0}, {2, 2}, {0, 4}}
	for _, c := range []LinkContext{fiveRows, byID(fiveRows)} {
		var ids []string
		if c.By == ByID {
			ids = c.IDs
		}
		path := filepath.Join(t.TempDir(), "pairs.csv.gz")
		if err := WritePairs(path, pairs, ids, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := ReadPairs(Input{Name: path}, c)
		if err != nil || !slices.Equal(got, pairs) {
			t.Errorf("pairs %v, %v, want %v", got, err, pairs)
		}
	}
	got, err := ReadPairs(Input{Name: "-", Stream: strings.NewReader("j,link,i\n1,must,0\n")}, fiveRows)
	if err != nil || !slices.Equal(got, [][2]int{{0, 1}}) {
		t.Errorf("a links file as pairs: %v, %v", got, err)
	}
	for text, at := range map[string]place{"i,j\n0,5\n": {2, -1, "j"}, "i,x\n0,1\n": {0, -1, ""},
		"": {0, -1, ""}, "i,j\n": {0, -1, ""}} {
		_, err := ReadPairs(Input{Name: "p.csv", Stream: strings.NewReader(text)}, fiveRows)
		wantData(t, err, "p.csv", at, "")
	}
	if _, err := ReadPairs(Input{Name: filepath.Join(t.TempDir(), "no")}, fiveRows); !fault.IsInput(err) {
		t.Errorf("missing file: error %v", err)
	}
}

func TestTriplets(t *testing.T) {
	want := []links.Triplet{{I: 0, J: 1, K: 4, Line: 2}, {I: 4, J: 3, K: 0, Line: 3}}
	got, err := ReadTriplets(Input{Name: "-", Stream: strings.NewReader("i,k,why,j\n0,4,x,1\n4,0,,3\n")},
		fiveRows)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("triplets %v, %v, want %v", got, err, want)
	}
	ids := byID(fiveRows)
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	name := ids.IDs
	if err := w.WriteAll([][]string{{"i", "j", "k"}, {name[0], name[1], name[4]},
		{name[4], name[3], name[0]}}); err != nil {
		t.Fatal(err)
	}
	path := write(t, "t.csv", text.Bytes())
	if got, err = ReadTriplets(Input{Name: path}, ids); err != nil || !slices.Equal(got, want) {
		t.Errorf("triplets by id %v, %v, want %v", got, err, want)
	}
	for text, at := range map[string]place{"i,j,k\n0,1,5\n": {2, -1, "k"}, "i,j\n0,1\n": {0, -1, ""},
		"i,j,k\n0,1,2\n1,2,1\n": {3, -1, "k"}} {
		_, err := ReadTriplets(Input{Name: "t.csv", Stream: strings.NewReader(text)}, fiveRows)
		wantData(t, err, "t.csv", at, "")
	}
	if _, err := ReadTriplets(Input{Name: filepath.Join(t.TempDir(), "no")}, fiveRows); !fault.IsInput(err) {
		t.Errorf("missing file: error %v", err)
	}
}

func TestQuadruplets(t *testing.T) {
	want := []links.Quadruplet{{I: 0, J: 1, K: 4, L: 2, Line: 2}, {I: 4, J: 3, K: 0, L: 4, Line: 3}}
	got, err := ReadQuadruplets(Input{Name: "-",
		Stream: strings.NewReader("i,k,why,j,l\n0,4,x,1,2\n4,0,,3,4\n")},
		fiveRows)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("quadruplets %v, %v, want %v", got, err, want)
	}
	ids := byID(fiveRows)
	name := ids.IDs
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	if err := w.WriteAll([][]string{{"i", "j", "k", "l"}, {name[0], name[1], name[4], name[2]},
		{name[4], name[3], name[0], name[4]}}); err != nil {
		t.Fatal(err)
	}
	if got, err = ReadQuadruplets(Input{Name: write(t, "q.csv", text.Bytes())}, ids); err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("quadruplets by id %v, %v, want %v", got, err, want)
	}
	for text, at := range map[string]place{"i,j,k,l\n0,1,2,5\n": {2, -1, "l"}, "i,j,k\n0,1,2\n": {0, -1, ""},
		"i,j,k,l\n0,1,2,3\n1,2,2,1\n": {3, -1, "l"}} {
		_, err := ReadQuadruplets(Input{Name: "q.csv", Stream: strings.NewReader(text)}, fiveRows)
		wantData(t, err, "q.csv", at, "")
	}
	if _, err := ReadQuadruplets(Input{Name: filepath.Join(t.TempDir(), "no")},
		fiveRows); !fault.IsInput(err) {
		t.Errorf("missing file: error %v", err)
	}
}

func TestLabels(t *testing.T) {
	labels, ids := []string{"a", "b,c", "", "a"}, []string{"1", "2", "3", "4"}
	for _, name := range []string{"l.csv", "l.csv.gz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := WriteLabels(path, labels, ids, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLabels(Input{Name: path}, ReadOptions{})
		if err != nil || !slices.Equal(got.Labels, labels) {
			t.Errorf("labels %q, %v, want %q", got, err, labels)
		}
	}
	if got, err := ReadLabels(Input{Name: "-", Stream: strings.NewReader("x,label,y\n1,u,text\n2,v,\n3,,\n")},
		ReadOptions{}); err != nil || !slices.Equal(got.Labels, []string{"u", "v", ""}) {
		t.Errorf("labels of data: %q, %v", got, err)
	}
	for text, at := range map[string]place{"class\na\n": {0, -1, ""}, "label\n": {0, -1, ""},
		"label\na\n\nb\n": {3, 1, ""}, "id,label\n,a\n": {2, 0, "id"},
		"id,label\nr,a\nr,b\n": {3, 1, "id"}} {
		_, err := ReadLabels(Input{Name: "l.csv", Stream: strings.NewReader(text)}, ReadOptions{})
		wantData(t, err, "l.csv", at, "")
	}
	if err := WriteLabels("-", labels, ids[:2], WriteOptions{Stdout: &bytes.Buffer{}}); !fault.IsInput(err) {
		t.Errorf("too few ids: error %v", err)
	}
}

func TestLabelsOfAnotherFile(t *testing.T) {
	data := write(t, "d.csv", []byte("id,x,label\nr,1,old\ns,2,old\n"))
	d, err := Read(data, ReadOptions{Labels: write(t, "l.csv", []byte("label,id\nu,r\nv,s\n"))})
	if dense(t, d, err); !slices.Equal(d.Labels, []string{"u", "v"}) {
		t.Errorf("labels %q", d.Labels)
	}
	npy := write(t, "d.npy", npyFile("<f8", false, "(2,)", []float64{1, 2}))
	d, err = Read(npy, ReadOptions{Labels: write(t, "l.csv", []byte("label,id\nu,r\nv,s\n"))})
	if dense(t, d, err); !slices.Equal(d.Labels, []string{"u", "v"}) {
		t.Errorf("labels of npy %q", d.Labels)
	}
	swapped := write(t, "l.csv", []byte("id,label\ns,u\nr,v\n"))
	_, err = Read(data, ReadOptions{Labels: swapped})
	wantData(t, err, swapped, place{0, 0, "id"}, "same order")
	short := write(t, "l.csv", []byte("label\nu\n"))
	_, err = Read(data, ReadOptions{Labels: short})
	wantData(t, err, short, place{0, -1, ""}, "1 label: want 2")
	if _, err = Read(data, ReadOptions{Labels: filepath.Join(t.TempDir(), "no")}); !os.IsNotExist(err) &&
		!fault.IsInput(err) {
		t.Errorf("missing labels: error %v", err)
	}
}

// FuzzLinks covers links, chunklets, pairs, triplets and quadruplets: any bytes give an input
// error, or links that survive writing and reading.
func FuzzLinks(f *testing.F) {
	fuzzSeeds(f, "i,j,link,bound,weight\n0,1,must,,\n2,3,-1,0.5,2\n", "i,chunklet\n0,a\n1,a\n2,b\n",
		"i,j\n0,1\n", "k,j,i\n0,1,2\n", "k,l,j,i\n0,1,2,0\n", "i,j,link\n0,1,1\n1,0,-1\n",
		"i,j,link\n-1,99999999999999999999,x\n", "i,j,link\na,b,must\n")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range []LinkContext{fiveRows, byID(fiveRows)} {
			c.MaxLine = 1 << 16
			if _, err := ReadPairs(Input{Name: "f", Stream: bytes.NewReader(b)},
				c); err != nil && !fault.IsInput(err) {
				t.Fatalf("pairs: error %v is not an input error", err)
			}
			triplets, err := ReadTriplets(Input{Name: "f", Stream: bytes.NewReader(b)}, c)
			if err != nil && !fault.IsInput(err) {
				t.Fatalf("triplets: error %v is not an input error", err)
			}
			if err := links.CheckTriplets(c.N, triplets); err != nil {
				t.Fatalf("triplets that are read: %v", err)
			}
			quadruplets, err := ReadQuadruplets(Input{Name: "f", Stream: bytes.NewReader(b)}, c)
			if err != nil && !fault.IsInput(err) {
				t.Fatalf("quadruplets: error %v is not an input error", err)
			}
			if err := links.CheckQuadruplets(c.N, quadruplets); err != nil {
				t.Fatalf("quadruplets that are read: %v", err)
			}
			set, err := ReadLinks(Input{Name: "f", Stream: bytes.NewReader(b)}, c)
			if err != nil {
				if !fault.IsInput(err) {
					t.Fatalf("error %v is not an input error", err)
				}
				continue
			}
			if set.Len() == 0 {
				continue
			}
			var out bytes.Buffer
			if err := WriteLinks("-", set, nil, WriteOptions{Stdout: &out}); err != nil {
				t.Fatal(err)
			}
			again, err := ReadLinks(Input{Name: "f", Stream: &out}, fiveRows)
			if err != nil || printLinks(set) != printLinks(again) {
				t.Fatalf("links changed: %v", err)
			}
		}
	})
}

// The columns that tell who gave a link, and when, are ignored; other columns are not.
func TestLinksOfPeople(t *testing.T) {
	c := LinkContext{N: 5}
	set, err := ReadLinks(Input{Name: "links.csv",
		Stream: strings.NewReader("i,j,link,who,when\n0,1,must,ann,2026-01-02T03:04:05Z\n2,3,cannot,,\n")}, c)
	if err != nil || set.Len() != 2 || set.Must()[0].J != 1 {
		t.Errorf("%v, %v", set, err)
	}
	if _, err := ReadLinks(Input{Name: "links.csv",
		Stream: strings.NewReader("i,j,link,whom\n0,1,must,ann\n")},
		c); err == nil {
		t.Error("an unknown column is accepted")
	}
}

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
		pairs := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) [2]int {
			return [2]int{row.Draw(rt, "i"), row.Draw(rt, "j")}
		}), 1, 30).Draw(rt, "pairs")
		ids := c.IDs
		if c.By != ByID {
			ids = nil
		}
		if err := WritePairs(path, pairs, ids, WriteOptions{}); err != nil {
			rt.Fatal(err)
		}
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")
		s, err := OpenPairs(Input{Name: path}, c)
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		got, err := pairsInBlocks(s.Next, limit)
		if diff := difftest.Diff(pairs, got); err != nil || diff != "" {
			rt.Fatal(err, diff)
		}
		names, err := OpenPairs(Input{Name: path}, LinkContext{})
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
	for i, content := range []string{"", "i,j\n", "i,k\n0,1\n", "i,j\n0,1\n0,9\n", "i,j\n0,-1\n",
		"i,j\n0,x\n", "i,j\n0\n", "i,j\n0,1\n\n1,2\n", "i,j\n0,\"1\n"} {
		path := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c := LinkContext{N: 5}
		_, want := ReadPairs(Input{Name: path}, c)
		for _, limit := range []int{1, 50} {
			s, err := OpenPairs(Input{Name: path}, c)
			if err == nil {
				_, err = pairsInBlocks(s.Next, limit)
			}
			if fmt.Sprint(err) != fmt.Sprint(want) || !fault.IsInput(err) {
				t.Errorf("%q: error %v: want %v", content, err, want)
			}
		}
	}
	s, err := OpenPairs(Input{Name: "-", Stream: strings.NewReader("i,j\n0,1\n")}, LinkContext{N: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(0); !fault.IsInput(err) {
		t.Errorf("a limit of 0: error %v", err)
	}
	if _, err := OpenPairs(Input{Name: "-", Stream: strings.NewReader("i,j\n0,1\n")},
		LinkContext{N: 2, By: ByID}); !fault.IsInput(err) {
		t.Errorf("ids that are not there: error %v", err)
	}
}

// Names are ids where the data have some and one of the first is no number. Numbers that are also
// the ids of other rows are doubted.
func TestNamesOfEitherKind(t *testing.T) {
	words, numbers := []string{"a", "b", "3"}, []string{"2", "0", "1"}
	for _, c := range []struct {
		ids    []string
		text   string
		by     string
		must   [2]int
		doubts bool
	}{
		{words, "i,j,link\na,b,must\n", ByID, [2]int{0, 1}, false},
		{words, "i,j,link\n1,0,must\na,3,cannot\n", "", [2]int{}, false}, // 1 is no id
		{words, "i,j,link\n1,2,must\n", ByRow, [2]int{1, 2}, false},
		{words, "i,chunklet\na,x\n3,x\n", ByID, [2]int{0, 2}, false},
		{numbers, "i,j,link\n2,0,must\n", ByRow, [2]int{0, 2}, true},
		{[]string{"0", "1", "2"}, "i,j,link\n2,0,must\n", ByRow, [2]int{0, 2}, false},
		{nil, "i,j,link\n2,0,must\n", ByRow, [2]int{0, 2}, false},
	} {
		by, doubt := "", ""
		of := LinkContext{N: 3, IDs: c.ids, By: ByAuto,
			Found: func(found, what string) { by, doubt = found, what }}
		set, err := ReadLinks(Input{Name: "l.csv", Stream: strings.NewReader(c.text)}, of)
		if c.by == "" {
			wantData(t, err, "l.csv", place{2, -1, "i"}, `there is no row with id "1"`)
			continue
		}
		if err != nil || by != c.by || (doubt != "") != c.doubts {
			t.Errorf("%q with ids %v: by %q, doubt %q, error %v", c.text, c.ids, by, doubt, err)
			continue
		}
		if l := set.Must()[0]; l.I != c.must[0] || l.J != c.must[1] {
			t.Errorf("%q with ids %v: the link is %d, %d", c.text, c.ids, l.I, l.J)
		}
	}
}
