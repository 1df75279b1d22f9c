package label

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// FuzzFile: any content of a file of answers is an error, or answers to which another one is
// appended; read again they are the same, and removing the new one restores them.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{"", "i,j,link\n", "i,j,link\n0,3,must\n",
		"i,j,link,who,when\n0,3,must,\"a\nb\",2026-01-02T03:04:05.678Z\n1,2,cann",
		"\ufeffj,i,weight,link\n1,2,3,-1",
		"i,j,link\n\"0", "i,j,link\n0,3,must\n0,3,cannot\n", "i,chunklet\n0,1\n", "i;j;link\n0;1;must\n",
		"\ufeff# label: a\n#\ni,j,link\n0,3,must\n", "i,j,link,when\n", "i,j,link,0\n",
		"i,j,link,link\n0,1,must,cannot\n",
		"# label: \xdf\ni,j,link", "i,j,link\n0,\xc3", "\ufeff# l\x01\x00el: a\n#\ni,j,link"} {
		f.Add(seed)
	}
	x := newNames(10, nil, 1<<20)
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "links.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := openFile(path, "link", x)
		if err != nil {
			return
		}
		before := len(a.records)
		if err := a.add([]record{{i: 8, j: 9, word: must, who: "ann", when: time.Now()}}); err != nil {
			t.Fatal(err)
		}
		for k := range a.records[:before] {
			if r := a.records[k]; pairOf(r.i, r.j) == pairOf(8, 9) && r.word == cannot {
				return // the two contradict each other, which a session checks
			}
		}
		b, err := openFile(path, "link", x)
		if err != nil || len(b.records) != before+1 {
			t.Fatalf("%q: %v", text, err)
		}
		for k, r := range b.records {
			if w := a.records[k]; r.i != w.i || r.j != w.j || r.word != w.word || r.who != w.who {
				t.Fatalf("%q: record %+v, was %+v", text, r, w)
			}
		}
		if err := b.rewrite(func(r *record) bool {
			return r.who == "ann" && r.i == 8 && r.j == 9
		}, nil); err != nil || len(b.records) > before {
			t.Fatalf("%q: %d records, %v", text, len(b.records), err)
		}
	})
}

// TestTogether: people who answer at the same time, some wrongly, and undo, leave a file without
// contradictions, which is what the session knows.
func TestTogether(t *testing.T) {
	s := started(t, 60)
	var all sync.WaitGroup
	for who, key := range []string{annKey, benKey} {
		all.Go(func() {
			for k := range 60 {
				name := []string{"ann", "ben"}[who]
				p, ok, err := s.next(name)
				if err != nil {
					t.Error(err)
				}
				if !ok {
					return
				}
				word := same(p.I, p.J)
				if k%7 == 6 {
					word = must
				}
				code, body, _ := request(s, http.MethodPost, "/"+key+"/answer",
					fmt.Sprintf(`{"i":%d,"j":%d,"answer":%q}`, p.I, p.J, word))
				if code != 200 {
					t.Errorf("status %d, %s", code, body)
				}
				if strings.Contains(body, `"contradiction"`) {
					s.settle(name, reply{p.I, p.J, word}, nil)
				}
				if k%11 == 10 {
					if _, err := s.undo(name); err != nil {
						t.Error(err)
					}
				}
				request(s, http.MethodGet, "/"+key+"/map", "")
				request(s, http.MethodGet, fmt.Sprint("/", key, "/group/", p.I), "")
			}
		})
	}
	all.Wait()
	again := start(t, blobs(t, 60, s.o.File))
	a, b := s.mustSet(t), again.mustSet(t)
	if a.Consistent() != nil || a.Len() != b.Len() || a.Len() == 0 {
		t.Errorf("%d links, in the file %d: %v", a.Len(), b.Len(), a.Consistent())
	}
	for i := range 60 {
		for j := range i {
			if s.groups.known(i, j) != again.groups.known(i, j) {
				t.Fatalf("%d, %d: %q, in the file %q", i, j, s.groups.known(i, j), again.groups.known(i, j))
			}
		}
	}
}
