package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// runFiles gives each command hostile variants of the files that it reads. A file depends on the
// seed and its number, and a model also on the time that its fit took.
func runFiles(c *campaign, p program, t *tally) error {
	idle, err := p.idle()
	if err != nil {
		return err
	}
	var list []specimen
	if err := inFolder(func(dir string) error {
		list, err = specimens(p, dir)
		return err
	}); err != nil {
		return err
	}
	prepare := func(dir string) error {
		err := wellFormed(dir)
		for _, s := range list {
			if strings.HasSuffix(s.name, ".mlk") && s.text != nil && err == nil {
				err = write(dir, s.name, string(s.text))
			}
		}
		return err
	}
	return c.each(c.files, prepare, func(dir string, i int) error {
		i += c.from
		rng := rand.New(rand.NewPCG(c.seed, uint64(i)))
		s := list[i%len(list)]
		if s.text == nil {
			t.add(c.list, skipped, s.name, ended{})
			return nil
		}
		name := "hostile-" + s.name
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, mutate(rng, s), 0o644); err != nil {
			return err
		}
		line := strings.ReplaceAll(s.lines[rng.IntN(len(s.lines))], "FILE", name)
		o, err := p.run(dir, "y\nn\ny\nq\n", append(strings.Fields(line), "-q", "--memory-limit", "100MB")...)
		if err != nil {
			return err
		}
		result := classify(o, idle)
		t.add(c.list, result, fmt.Sprintf("file %d, mustlink %s", i, line), o)
		if result >= untyped && c.keep != "" {
			if err := os.Rename(path,
				filepath.Join(c.keep, fmt.Sprintf("%s-%d-%s", p.build, i, s.name))); err != nil {
				return err
			}
		}
		return remove(path)
	})
}

// remove removes the file, if it is there.
func remove(path string) error {
	if err := os.Remove(path); !os.IsNotExist(err) {
		return err
	}
	return nil
}
