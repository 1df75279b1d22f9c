package label

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/algorithms/activelearning"
)

// process is a program in an interleaving: it stops at each point, until it is its turn again.
type process struct {
	turn    chan struct{}
	point   chan string
	waiting bool // for the lock
	ended   bool
}

// crash ends a process at a point.
type crash struct{}

// at stops the process, which ends there if it is to crash. It does not stop behind the lock.
func (p *process) at(point string) {
	if p.point <- point; point == "released" {
		return
	}
	if _, alive := <-p.turn; !alive {
		panic(crash{})
	}
}

// begin starts a process that waits for its first turn.
func begin(program func(at func(point string))) *process {
	p := &process{turn: make(chan struct{}), point: make(chan string)}
	go func() {
		defer func() {
			if v := recover(); v != nil && v != (crash{}) {
				panic(v)
			}
			p.point <- "end"
		}()
		if _, alive := <-p.turn; !alive {
			return
		}
		program(p.at)
	}()
	return p
}

// interleave runs programs in the order that choices give, and after these the first that can go
// on. It returns how many could go on at each step. The program dying, -1 for none, crashes at its
// step-th turn.
func interleave(choices []int, dying, step int, programs ...func(at func(string))) (could []int) {
	var all []*process
	for _, program := range programs {
		all = append(all, begin(program))
	}
	for turns := 0; ; {
		var able []*process
		for _, p := range all {
			if !p.ended && !p.waiting {
				able = append(able, p)
			}
		}
		if len(able) == 0 {
			return could
		}
		k := 0
		if len(could) < len(choices) {
			k = choices[len(could)]
		}
		could = append(could, len(able))
		p := able[k]
		if dying >= 0 && p == all[dying] {
			if turns++; turns == step {
				close(p.turn)
				for p.ended = true; <-p.point != "end"; { // what it does while it ends
				}
				for _, q := range all {
					q.waiting = false
				}
				continue
			}
		}
		p.turn <- struct{}{}
		point := <-p.point
		for ; point == "released"; point = <-p.point {
			for _, q := range all {
				q.waiting = false
			}
		}
		p.waiting, p.ended = point == "waiting", point == "end"
	}
}

// everyOrder calls run with choices until all orders of the programs were tried, and returns their
// number. run returns how many programs could go on at each step.
func everyOrder(run func(choices []int) (could []int)) (orders int) {
	var choices []int
	for {
		could := run(choices)
		orders++
		for len(choices) < len(could) {
			choices = append(choices, 0)
		}
		for len(choices) > 0 && choices[len(choices)-1]+1 >= could[len(choices)-1] {
			choices = choices[:len(choices)-1]
		}
		if len(choices) == 0 {
			return orders
		}
		choices[len(choices)-1]++
	}
}

// bare is a session of ten rows about a file that chooses no questions.
func bare(path string, at func(string)) (*Session, error) {
	s := &Session{o: Options{File: path}, n: 10, names: newNames(10, nil, 0), ctx: context.Background(),
		stop: func() {}}
	s.asked = map[string]activelearning.Pair{}
	if err := s.openFiles(s.ctx); err != nil {
		return nil, err
	}
	s.links.at, s.open.at = at, at
	return s, nil
}

// records returns the pairs and names in a file of answers, sorted.
func records(path string) (list []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		list = append(list, strings.Join(r[:4], " "))
	}
	slices.Sort(list)
	return list, nil
}

// Whatever the order in which two sessions and a program that appends lines take their steps, every
// line of that program and every answer that was not undone is in the file exactly once, and what
// was undone is not.
func TestEveryOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.csv")
	want := []string{"0 1 must other", "2 3 must other", "4 5 must ben", "i j link who"}
	for name, others := range map[string]int{"one line": 1, "two lines": 2} {
		t.Run(name, func(t *testing.T) {
			want := slices.Concat(want[:others], want[2:])
			orders := everyOrder(func(choices []int) []int {
				clearFolder(t, path)
				ann, err := bare(path, nil)
				if err == nil {
					ann.links.at, ann.open.at = func(string) {}, func(string) {}
					_, err = ann.answer("ann", []reply{{6, 7, must}})
				}
				if err != nil {
					t.Fatal(err)
				}
				ben, err := bare(path, func(string) {})
				if err != nil {
					t.Fatal(err)
				}
				check := func(ok bool, err error) {
					if err != nil || !ok {
						t.Errorf("order %v: %v", choices, err)
					}
				}
				programs := []func(at func(string)){
					func(at func(string)) {
						ann.links.at = at
						check(ann.undo("ann"))
					},
					func(at func(string)) {
						for k := range others {
							f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
							check(true, err)
							at("opened")
							_, err = fmt.Fprintf(f, "%d,%d,must,other,2026-01-02T03:04:05.000Z\n", 2*k, 2*k+1)
							check(true, errors.Join(err, f.Close()))
							if k+1 < others {
								at("written")
							}
						}
					}}
				if others == 1 {
					programs = append(programs, func(at func(string)) {
						ben.links.at = at
						c, err := ben.answer("ben", []reply{{4, 5, must}})
						check(c == nil, err)
					})
				} else {
					_, err := ben.answer("ben", []reply{{4, 5, must}})
					check(true, err)
				}
				could := interleave(choices, -1, 0, programs...)
				ann.links.at, ben.links.at = func(string) {}, func(string) {}
				for _, s := range []*Session{ann, ben} { // each knows what the program wrote
					c, err := s.answer("eve", []reply{{0, 1, cannot}})
					check(c != nil, err)
				}
				ann.Close()
				ben.Close()
				if got, err := records(path); err != nil || !slices.Equal(got, want) {
					t.Fatalf("order %v of %v: %q, want %q, %v", choices, could, got, want, err)
				}
				return could
			})
			t.Logf("%d orders", orders)
			if orders < 100 {
				t.Errorf("%d orders: want all of them", orders)
			}
		})
	}
}

// Two sessions that begin a file at the same time write one header, in whatever order, and both
// answers.
func TestFirstAnswersInEveryOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.csv")
	want := []string{"0 1 must ann", "2 3 must ben", "i j link who"}
	everyOrder(func(choices []int) []int {
		clearFolder(t, path)
		var programs []func(at func(string))
		for k, who := range []string{"ann", "ben"} {
			s, err := bare(path, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			programs = append(programs, func(at func(string)) {
				s.links.at = at
				if c, err := s.answer(who, []reply{{2 * k, 2*k + 1, must}}); c != nil || err != nil {
					t.Errorf("order %v: %v, %v", choices, c, err)
				}
			})
		}
		could := interleave(choices, -1, 0, programs...)
		if got, err := records(path); err != nil || !slices.Equal(got, want) {
			t.Fatalf("order %v: %q, want %q, %v", choices, got, want, err)
		}
		return could
	})
}

// What an editor saves while an answer is removed stays.
func TestEditorSavesDuringUndo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.csv")
	s, err := bare(path, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for k := range 2 {
		give(t, s, "ann", reply{2 * k, 2*k + 1, must})
	}
	edited := strings.Replace(content(t, path), "0,1,must,ann", "4,5,cannot,editor", 1)
	saved := false
	s.links.at = func(point string) {
		if point != "written" || saved {
			return
		}
		saved = true
		if err := errors.Join(os.WriteFile(path+".new", []byte(edited), 0o666),
			os.Rename(path+".new", path)); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.undo("ann"); err != nil || !saved {
		t.Fatal(saved, err)
	}
	got, err := records(path)
	if want := []string{"4 5 cannot editor", "i j link who"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// A session that crashes at any step of an undo or a settlement leaves a file with all answers but
// those it was about to remove, which are there or not, and other sessions go on.
func TestCrashAtEveryStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.csv")
	for name, change := range map[string]func(s *Session) error{
		"undo": func(s *Session) error {
			_, err := s.undo("ann")
			return err
		},
		"settle": func(s *Session) error {
			_, err := s.settle("ben", reply{6, 7, cannot}, []pair{{6, 7}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			step := 1
			for ; ; step++ {
				clearFolder(t, path)
				s, err := bare(path, func(string) {})
				if err != nil {
					t.Fatal(err)
				}
				for k := range 4 {
					if _, err := s.answer("ann", []reply{{2 * k, 2*k + 1, must}}); err != nil {
						t.Fatal(err)
					}
				}
				crashed := true
				interleave(nil, 0, step, func(at func(string)) {
					s.links.at = at
					if err := change(s); err != nil {
						t.Error(err)
					}
					crashed = false
				})
				s.links.close()
				s.open.close()
				other, err := bare(path, func(string) {})
				if err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				if _, err := other.answer("ben", []reply{{8, 9, must}}); err != nil {
					t.Fatal(err)
				}
				other.Close()
				got, err := records(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range []string{"0 1 must ann", "2 3 must ann", "4 5 must ann",
					"8 9 must ben"} {
					if !slices.Contains(got, line) {
						t.Errorf("step %d: %q lack %q", step, got, line)
					}
				}
				if _, err := os.Stat(OpenQuestions(path)); name == "settle" &&
					!slices.Contains(got, "6 7 must ann") && err != nil {
					t.Errorf("step %d: what ann said is in neither file: %v", step, err)
				}
				if !crashed {
					break
				}
			}
			if step < 5 {
				t.Errorf("it has %d steps: want more", step)
			}
		})
	}
}

// clearFolder removes the files of a test, which has too many orders for a folder each.
func clearFolder(t *testing.T, path string) {
	t.Helper()
	for _, p := range []string{path, OpenQuestions(path), path + ".lock"} {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// A line that another program has begun is left alone, and answers wait for its end.
func TestHalfLineOfAnotherProgram(t *testing.T) {
	s := started(t, 60)
	give(t, s, "ann", reply{0, 3, must})
	f, err := os.OpenFile(s.o.File, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("1,4,must,other,2026-01-"); err != nil {
		t.Fatal(err)
	}
	_, err = s.answer("ann", []reply{{2, 5, must}})
	if err == nil || !strings.Contains(err.Error(), "has no end") {
		t.Errorf("an answer behind half a line: %v", err)
	}
	done := make(chan error)
	go func() {
		_, err := s.answer("ann", []reply{{2, 5, must}})
		done <- err
	}()
	time.Sleep(10 * time.Millisecond) // the answer waits, or has not begun: both must work
	if _, err := f.WriteString("02T03:04:05.000Z\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	got, err := records(s.o.File)
	want := []string{"0 3 must ann", "1 4 must other", "2 5 must ann", "i j link who"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// The answer of another person stays if it cannot be recorded that it was overruled, and later
// answers about the pair learn why they contradict it.
func TestDisagreementThatCannotBeKept(t *testing.T) {
	s := started(t, 60)
	give(t, s, "ben", reply{0, 1, must})
	if err := os.Mkdir(OpenQuestions(s.o.File), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := s.settle("ann", reply{0, 1, cannot}, []pair{{0, 1}}); err == nil {
		t.Error("a disagreement is kept in a folder")
	}
	if err := os.Remove(OpenQuestions(s.o.File)); err != nil {
		t.Fatal(err)
	}
	c, err := s.answer("ann", []reply{{0, 1, cannot}})
	if err != nil || c == nil || len(c.Path) != 1 || c.Path[0].Who != "ben" {
		t.Errorf("%+v, %v: want ben's answer in its path", c, err)
	}
}

// An answer that is given again, as a browser does when it got none, counts once.
func TestAnswersThatAreRepeated(t *testing.T) {
	s := started(t, 60)
	for range 3 {
		give(t, s, "ann", reply{0, 1, unknown})
		give(t, s, "ann", reply{0, 3, must})
	}
	give(t, s, "ben", reply{0, 1, unknown})
	if len(s.open.records) != 2 || len(s.links.records) != 1 {
		t.Errorf("%d unknown, %d links: want one of each person, and one", len(s.open.records),
			len(s.links.records))
	}
}
