package layering

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// endings make another form of the same word: draw, drawing; learn, learner; class, classes.
var endings = []string{"s", "es", "d", "ed", "er", "ing", "al", "ion", "ic", "ly", "able"}

// TestNames: no two packages have names that differ by an ending alone.
func TestNames(t *testing.T) {
	folders := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || d.Name()[0] == '.' || d.Name()[0] == '_'):
			return fs.SkipDir
		case !d.IsDir() && path.Ext(name) == ".go":
			folders[path.Base(path.Dir(name))] = path.Dir(name)
		}
		return nil
	})
	if err != nil || len(folders) < 80 {
		t.Fatalf("%d names of packages, error %v", len(folders), err)
	}
	for _, pair := range alike(slices.Sorted(maps.Keys(folders))) {
		t.Errorf("%s and %s differ by an ending: want names that differ in the word", folders[pair[0]],
			folders[pair[1]])
	}
	if got := alike([]string{"draw", "drawing", "fit", "lle", "lleratio", "fittest"}); len(got) != 1 {
		t.Errorf("got %q: want draw and drawing alone", got)
	}
}

// alike returns the pairs of names of which one is the other with an ending.
func alike(names []string) [][2]string {
	var pairs [][2]string
	for _, a := range names {
		for _, b := range names {
			if rest, longer := strings.CutPrefix(b, a); longer && slices.Contains(endings, rest) {
				pairs = append(pairs, [2]string{a, b})
			}
		}
	}
	return pairs
}
