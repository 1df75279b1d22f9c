package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// each calls one for 0 to n-1, several at a time; each caller has a folder of its own, which
// prepare fills. It returns the first error.
func (c *campaign) each(n int, prepare func(dir string) error, one func(dir string, i int) error) error {
	next := make(chan int)
	failed := make(chan error, c.jobs)
	stop := make(chan struct{})
	var once sync.Once
	var group sync.WaitGroup
	for range max(1, c.jobs) {
		group.Go(func() {
			err := inFolder(func(dir string) error {
				if err := prepare(dir); err != nil {
					return err
				}
				for i := range next {
					if err := one(dir, i); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				failed <- err
				once.Do(func() { close(stop) })
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-stop:
		}
	}
	close(next)
	group.Wait()
	close(failed)
	return <-failed
}

// inFolder calls f with a new folder, which it removes afterwards.
func inFolder(f func(dir string) error) error {
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return f(dir)
}

// table returns a CSV of n points in d columns and two classes, 1 and 2, that differ in the first
// column.
func table(n, d int, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	var s strings.Builder
	for j := range d {
		fmt.Fprintf(&s, "f%d,", j)
	}
	s.WriteString("label\n")
	for i := range n {
		for j := range d {
			v := rng.NormFloat64()
			if j == 0 {
				v += 4 * float64(i%2)
			}
			fmt.Fprintf(&s, "%.5f,", v)
		}
		fmt.Fprintf(&s, "%d\n", 1+i%2)
	}
	return s.String()
}

func write(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}

func read(path string) (string, error) {
	b, err := os.ReadFile(path)
	return string(b), err
}
