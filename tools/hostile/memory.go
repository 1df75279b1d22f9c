package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Limits of the memory sweep, in percent of the numbers of the table.
var limits = []int{110, 140, 190, 270, 440}

// sweepTables are the kinds of tables, with the command that makes each from lab.csv.
var sweepTables = []struct{ name, line string }{
	{"lab.csv", ""},
	{"lab.csv.gz", "embed same.mlk -i lab.csv -o lab.csv.gz"},
	{"lab.npy", "embed same.mlk -i lab.csv -o lab.npy"},
	{"lab.parquet", "embed same.mlk -i lab.csv -o lab.parquet"},
	{"lab.arrow", "embed same.mlk -i lab.csv -o lab.arrow"},
}

// sweepLines are the commands that read a table, FILE. Labels are in CSV alone, and links are
// given.
var sweepLines = []string{
	"fit -m itml -i FILE -c links.csv --no-verdict -o o.mlk", "fit -m itml -i FILE -c links.csv -o o.mlk",
	"fit -i FILE -c links.csv -o o.mlk", "fit -m covariance -i FILE -c links.csv -o o.mlk",
	"fit -m blend -i FILE -c links.csv --no-verdict -o o.mlk",
	"fit -m parts -i FILE -c links.csv --no-verdict -o o.mlk",
	"fit -m forest -i FILE -c links.csv --no-verdict -o o.mlk",
	"select -i FILE -c links.csv --methods rca,itml --folds 2 -o o.mlk",
	"embed same.mlk -i FILE -o o.csv", "embed same.mlk -i FILE -o o.npy",
	"embed same.mlk -i FILE -o o.parquet",
	"cluster same.mlk -i FILE -n 3 -o o.csv", "cluster -i FILE -n 3 --stream -o o.csv",
	"cluster -a constrained -i FILE -c links.csv -n 3 -o o.csv",
	"classify --train small.csv -i FILE -o o.csv",
	"neighbors same.mlk --train FILE -i small.csv -k 3 -o o.csv",
	"neighbors same.mlk --train FILE -i small.csv -k 3 --approximate recall=.9 -o o.csv",
	"suggest -i FILE -n 5 -o o.csv", "suggest same.mlk -i FILE -c links.csv -n 5 -o o.csv",
	"links close -i FILE -c links.csv -o o.csv", "check -i FILE", "check -i FILE -c links.csv",
	"calibrate same.mlk -i FILE -c links.csv -o o.mlk", "pairs cal.mlk -i FILE --threshold .001 -o o.csv",
	"inspect same.mlk -i FILE -c links.csv", "update same.mlk -i FILE -c links.csv -o o.mlk",
	"plot same.mlk -i FILE -o o.png", "plot -i FILE -c links.csv -o o.svg",
	"report same.mlk -i FILE -c links.csv -o o.html",
	"distance same.mlk -i FILE --pairs links.csv -o o.csv",
}

// labeledLines are those that need labels.
var labeledLines = []string{
	"links make -i FILE --pairs 100 -o o.csv", "fit -m rca -i FILE --links-from-labels 100 -o o.mlk",
	"fit -m lmnn -i FILE --links-from-labels 100 --no-verdict -o o.mlk",
	"score --truth FILE --predicted FILE", "classify same.mlk --train FILE -i small.csv -o o.csv",
	"report -i FILE -o o.html",
}

// runMemory runs every command on every kind of table under limits around what its numbers take.
func runMemory(c *campaign, p program, t *tally) error {
	idle, err := p.idle()
	if err != nil {
		return err
	}
	type try struct {
		line, table string
		limit       int64
	}
	var list []try
	for k, table := range sweepTables {
		lines := sweepLines
		if k == 0 {
			lines = append(lines, labeledLines...)
		}
		for _, line := range lines {
			for _, percent := range limits {
				if x := (try{line, table.name, int64(c.rows) * 32 * int64(percent) / 100}); strings.Contains(
					strings.ReplaceAll(line, "FILE", table.name), c.match) {
					list = append(list, x)
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(c.seed, 0))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:min(len(list), c.sweep)]
	jobs := &campaign{jobs: 1}
	used := map[string]bool{}
	for _, x := range list {
		used[x.table] = true
	}
	return jobs.each(len(list), func(dir string) error { return c.sweepFiles(p, dir, used) },
		func(dir string, i int) error {
			x := list[i]
			line := fmt.Sprintf("%s -q --memory-limit %d", strings.ReplaceAll(x.line, "FILE", x.table),
				x.limit)
			o, err := p.run(dir, "", strings.Fields(line)...)
			if err != nil {
				return err
			}
			result := classifyWithin(o, idle, x.limit)
			t.add(c.list, result, fmt.Sprintf("%d MB over idle, limit %d MB: mustlink %s", (o.peak-idle)/1e6,
				x.limit/1e6, line), o)
			return nil
		})
}

// sweepFiles writes the tables of the sweep: whole numbers in four columns, and five classes.
func (c *campaign) sweepFiles(p program, dir string, used map[string]bool) error {
	var links strings.Builder
	links.WriteString("i,j,link\n")
	rng := rand.New(rand.NewPCG(c.seed, 1))
	for range 200 {
		i := rng.IntN(c.rows)
		fmt.Fprintf(&links, "%d,%d,must\n%d,%d,cannot\n", i, (i+5)%c.rows, i, (i+3)%c.rows)
	}
	err := write(dir, "links.csv", links.String())
	for name, rows := range map[string]int{"lab.csv": c.rows, "small.csv": 50} {
		if err == nil {
			err = writeClasses(filepath.Join(dir, name), rows)
		}
	}
	lines := []string{
		"fit -q -m raw -i small.csv --links-from-labels 40 --prepare none --no-verdict -o same.mlk",
		"fit -q -m itml -i small.csv --links-from-labels 40 --no-verdict -o two.mlk",
		"links make -q -i small.csv --pairs 30 -o small-links.csv",
		"calibrate -q two.mlk -i small.csv -c small-links.csv -o cal.mlk"}
	for _, s := range sweepTables {
		if s.line != "" && used[s.name] {
			lines = append(lines, s.line)
		}
	}
	for _, line := range lines {
		if err != nil {
			break
		}
		var o ended
		if o, err = p.run(dir, "", strings.Fields(line)...); err == nil && o.code != 0 {
			err = fmt.Errorf("%s: %s", line, o.stderr)
		}
	}
	return err
}

func writeClasses(path string, rows int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text := []byte("0,1,2,3,label\n") // the columns as embed calls them
	for i := range rows {
		text = fmt.Appendf(text, "%d,%d,%d,%d,%d\n", i*7%1000, i*13%997, i%77, i*i%991, i%5)
		if len(text) > 1<<16 || i == rows-1 {
			if _, err := f.Write(text); err != nil {
				return err
			}
			text = text[:0]
		}
	}
	return nil
}
