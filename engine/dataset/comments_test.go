package dataset

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// A file of links keeps the column that they were made from, whatever its name is.
func TestLinksKeepTheirLabel(t *testing.T) {
	set, err := links.New(3, []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(1, 2, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	propertytest.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[a-c ",#:;\n\t\\]{0,5}`), rapid.String()).
			Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s }).Draw(t, "name")
		for _, file := range []string{"l.csv", "l.csv.gz"} {
			path := filepath.Join(dir, file)
			if err := WriteLinks(path, set.WithLabel(name), nil, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			c := LinkContext{N: 3}
			back, err := ReadLinks(path, c)
			if err != nil {
				t.Fatal(err)
			}
			if must, cannot := back.Count(); back.Label() != name || must != 1 || cannot != 1 {
				t.Fatalf("%d must, %d cannot, label %q: want 1, 1 and %q", must, cannot, back.Label(), name)
			}
			if pairs, err := ReadPairs(path, c); err != nil || len(pairs) != 2 {
				t.Fatalf("pairs %v, %v", pairs, err)
			}
			stream, err := OpenPairs(path, c)
			if err != nil {
				t.Fatal(err)
			}
			if pairs, err := stream.Next(9); err != nil || len(pairs) != 2 {
				t.Fatalf("pairs %v, %v of a stream", pairs, err)
			}
			stream.Close()
		}
	})
}

// Every file that refers to rows may begin with comments, and lines are counted with them. Below
// the header a line with # is data.
func TestCommentsBeforeTheHeader(t *testing.T) {
	const comment = "\ufeff# of \"a; b\"\r\n#\n"
	c := LinkContext{N: 4, IDs: []string{"#0", "#1", "#2", "#3"}, By: ByID}
	in := func(text string) *bytes.Reader { return bytes.NewReader([]byte(comment + text)) }
	set, err := DecodeLinks(in("i;j;link\n#0;#1;must\n"), "l.csv", false, c)
	if err != nil || set.Len() != 1 || set.Label() != "" || set.Must()[0].Line != 4 {
		t.Errorf("links %v, %v", set, err)
	}
	if list, err := DecodeChunklets(in("i,chunklet\n#0,a\n"), "c.csv", false, c); err != nil || len(list) != 1 {
		t.Errorf("chunklets %v, %v", list, err)
	}
	if list, err := DecodeTriplets(in("i,j,k\n#0,#1,#3\n"), "t.csv", false, c); err != nil || len(list) != 1 {
		t.Errorf("triplets %v, %v", list, err)
	}
	if list, err := DecodeQuadruplets(in("i,j,k,l\n#0,#1,#2,#3\n"), "q.csv", false, c); err != nil ||
		len(list) != 1 {
		t.Errorf("quadruplets %v, %v", list, err)
	}
	_, err = DecodeLinks(in("i,j,link\n#0,#9,must\n"), "l.csv", false, c)
	if wrong, is := errors.AsType[*fault.DataError](err); !is || wrong.Line != 4 {
		t.Errorf("error %v: want one of line 4", err)
	}
	for _, text := range []string{"# only a comment", "# one\n\n# two\ni,j,link\n#0,#1,must\n"} {
		if _, err := DecodeLinks(strings.NewReader(text), "l.csv", false, c); !fault.IsInput(err) {
			t.Errorf("%q: error %v, want one of the input", text, err)
		}
	}
}
