package label

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Two people ask for everything that the page shows, answer, disagree and take back, while metrics
// are fitted: no request fails, and what the session says in the end is what its file says. The
// race detector watches the locks.
func TestRequestsAtOnce(t *testing.T) {
	o := blobs(t, 40, filepath.Join(t.TempDir(), "links.csv"))
	o.Fit, o.Method = true, "rca"
	s := start(t, o)
	var people sync.WaitGroup
	for k, key := range []string{annKey, benKey} {
		rng := rand.New(rand.NewPCG(uint64(k), 1))
		people.Go(func() {
			for step := range 120 {
				i, j := rng.IntN(s.n), rng.IntN(s.n-1)
				if j >= i {
					j++
				}
				word := same(i, j)
				if rng.IntN(8) == 0 { // a mistake
					word = map[string]string{must: cannot, cannot: must}[word]
				}
				method, path, body := "GET", "", ""
				switch step % 8 {
				case 0, 1, 2:
					method, path = "POST", "answer"
					body = fmt.Sprintf(`{"i":%d,"j":%d,"answer":%q}`, i, j, word)
				case 3:
					method, path = "POST", "undo"
					body = "{}"
				case 4:
					method, path = "POST", "settle"
					body = fmt.Sprintf(`{"i":%d,"j":%d,"answer":%q,"remove":[[%d,%d]]}`, i, j, word, min(i, j), max(i, j))
				case 5:
					path = "state"
				case 6:
					path = "map"
				case 7:
					path = []string{"disagreements", fmt.Sprint("group/", i), ""}[rng.IntN(3)]
				}
				switch code, text, _ := request(s, method, "/"+key+"/"+path, body); {
				case code == http.StatusOK:
				case path == "map" && code == http.StatusNotFound: // not drawn yet
				case method == "POST" && code == http.StatusConflict: // nothing to undo or to settle
				default:
					t.Errorf("%s %s %s: status %d, %.200s", method, path, body, code, text)
				}
			}
		})
	}
	people.Wait()
	for drawn, end := 0, time.Now().Add(time.Minute); drawn < 2; { // the rows as they are, and the first fit
		if request(s, "GET", "/"+annKey+"/state", ""); time.Now().After(end) {
			t.Fatal("no fit has been drawn in a minute")
		}
		s.mu.Lock()
		drawn = s.fit.version
		s.mu.Unlock()
	}
	now, err := s.Answers()
	if err != nil {
		t.Fatal(err)
	}
	o.Fit = false
	s.Close()
	again, err := start(t, o).Answers()
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(now.Must(), now.Cannot()) != fmt.Sprint(again.Must(), again.Cannot()) {
		t.Errorf("the session has %v and %v, its file %v and %v", now.Must(), now.Cannot(), again.Must(),
			again.Cannot())
	}
}
