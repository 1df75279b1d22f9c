package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	stormRound = 1000 // answers on one file
	stormRows  = 50   // of each person, who answers about pairs of them
)

// runStorm lets two servers of `mustlink label` write one file at the same time, while a third
// program appends lines to it. Their people answer, undo, and settle contradictions, also by
// withdrawing what the other has said; at last both are killed. Every answer that had a reply must
// be in the file, or in that of open questions if the other withdrew it; what was undone in none.
func runStorm(c *campaign, p program, t *tally) error {
	for k := range (c.answers + stormRound - 1) / stormRound {
		err := inFolder(func(dir string) error {
			s := &storm{campaign: c, tally: t, dir: dir, there: map[string]bool{}}
			return s.round(p, uint64(k), min(stormRound, c.answers-k*stormRound))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// storm is one round.
type storm struct {
	*campaign
	*tally
	dir   string
	mu    sync.Mutex
	acked []string        // pairs of the second person, whom the first may overrule
	there map[string]bool // whether a pair must be in a file, by "i,j"
}

func (s *storm) round(p program, seed uint64, answers int) error {
	if err := write(s.dir, "data.csv", table(3*stormRows, 3, s.seed)); err != nil {
		return err
	}
	var all sync.WaitGroup
	var ended atomic.Bool
	failed := make(chan error, 3)
	var servers []*exec.Cmd
	defer func() {
		for _, cmd := range servers {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}()
	var people sync.WaitGroup
	for who, name := range []string{"ann", "ben"} {
		cmd := exec.Command(p.path, "label", "-i", "data.csv", "-o", "answers.csv", "--no-browser",
			"--no-fit", "--people", name)
		cmd.Dir = s.dir
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return err
		}
		servers = append(servers, cmd)
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return fmt.Errorf("label prints %q: %w", line, err)
		}
		one := &person{storm: s, who: who, url: strings.TrimSpace(strings.TrimPrefix(line, name+": ")),
			rng: rand.New(rand.NewPCG(s.seed, 2*seed+uint64(who)))}
		people.Go(func() { failed <- one.answer((answers + who) / 2) })
	}
	all.Go(func() { failed <- s.append(&ended) })
	people.Wait()
	ended.Store(true)
	all.Wait()
	if err := errors.Join(<-failed, <-failed, <-failed); err != nil {
		return err
	}
	for _, cmd := range servers {
		_ = cmd.Process.Kill()
	}
	return s.count()
}

// append writes whole lines about rows of its own to the file, as another program does.
func (s *storm) append(ended *atomic.Bool) error {
	for i := 2 * stormRows; i < 3*stormRows-1; i++ {
		for j := i + 1; j < 3*stormRows && !ended.Load(); j++ {
			time.Sleep(time.Millisecond)
			f, err := os.OpenFile(filepath.Join(s.dir, "answers.csv"), os.O_WRONLY|os.O_APPEND, 0)
			if errors.Is(err, os.ErrNotExist) { // nobody has answered yet
				continue
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(f, "%d,%d,cannot,cli,\n", i, j)
			mine, err1 := f.Stat()
			there, err2 := os.Stat(f.Name())
			f.Close()
			if err := errors.Join(err, err1, err2); err != nil {
				return err
			}
			if os.SameFile(mine, there) { // it may have been replaced since it was opened
				s.set(fmt.Sprintf("%d,%d", i, j), true)
			}
		}
	}
	return nil
}

// person answers at one of the servers.
type person struct {
	*storm
	who int
	url string
	rng *rand.Rand
}

// post sends a request, and reports whether its reply names a contradiction.
func (p *person) post(name string, body any) (contradiction bool, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return false, err
	}
	r, err := http.Post(p.url+name, "application/json", bytes.NewReader(text))
	if err != nil {
		return false, err
	}
	defer r.Body.Close()
	var reply struct {
		Contradiction *json.RawMessage
	}
	got, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return false, fmt.Errorf("%s %s: status %d, %s, %w", name, text, r.StatusCode, got, err)
	}
	err = json.Unmarshal(got, &reply)
	return reply.Contradiction != nil, err
}

// answer answers that pairs do not belong together, some of which it takes back.
func (p *person) answer(n int) error {
	pairs := p.rng.Perm(stormRows * (stormRows - 1) / 2)
	for k := range n {
		j := 1
		for rest := pairs[k]; rest >= j; j++ {
			rest -= j
			pairs[k] = rest
		}
		if err := p.one(p.who*stormRows+pairs[k], p.who*stormRows+j); err != nil {
			return err
		}
	}
	return nil
}

func (p *person) one(i, j int) error {
	reply := map[string]any{"i": i, "j": j, "answer": "cannot"}
	if contradiction, err := p.post("answer", reply); err != nil || contradiction {
		return fmt.Errorf("%d,%d contradicts others, %w", i, j, err)
	}
	key := fmt.Sprintf("%d,%d", i, j)
	switch p.rng.IntN(10) {
	case 0:
		if _, err := p.post("undo", struct{}{}); err != nil {
			return err
		}
		p.set(key, false)
		return nil
	case 1: // withdrawn for its opposite, which is undone
		if err := p.settle(i, j); err != nil {
			return err
		}
		p.set(key, false)
		return nil
	case 2:
		p.set(key, true)
		if other := p.taken(); other != "" {
			if _, err := fmt.Sscanf(other, "%d,%d", &i, &j); err != nil {
				return err
			}
			return p.settle(i, j)
		}
		return nil
	}
	p.set(key, true)
	if p.who == 1 {
		p.mu.Lock()
		p.acked = append(p.acked, key)
		p.mu.Unlock()
	}
	return nil
}

// settle answers the opposite, withdraws the answer that this contradicts, and then undoes it,
// unless links of the moment contradict it still.
func (p *person) settle(i, j int) error {
	reply := map[string]any{"i": i, "j": j, "answer": "must"}
	contradiction, err := p.post("answer", reply)
	if err != nil {
		return err
	}
	if !contradiction {
		return fmt.Errorf("must of %d,%d is no contradiction: the answer was lost", i, j)
	}
	reply["remove"] = [][2]int{{i, j}}
	if contradiction, err = p.post("settle", reply); err == nil && !contradiction {
		_, err = p.post("undo", struct{}{})
	}
	return err
}

// taken returns a pair that only the first person takes from the second, "" for none.
func (p *person) taken() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.who == 1 || len(p.acked) == 0 {
		return ""
	}
	key := p.acked[0]
	p.acked = p.acked[1:]
	return key
}

func (s *storm) set(key string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there[key] = there
}

// count compares the files with the replies.
func (s *storm) count() error {
	found := map[string]bool{}
	for _, name := range []string{"answers.csv", "answers.open.csv"} {
		text, err := read(filepath.Join(s.dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for line := range strings.Lines(text) {
			if words := strings.Split(line, ","); len(words) > 2 {
				found[words[0]+","+words[1]] = true
			}
		}
	}
	for key, there := range s.there {
		result := done
		if found[key] != there {
			result = wrong
		}
		s.add(s.list, result, fmt.Sprintf("answer %s: in the files %v, want %v", key, found[key], there),
			ended{})
	}
	return nil
}
