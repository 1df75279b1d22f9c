// Package printed holds the numbers that five papers print in their tables and texts.
//
// There is one file for each table. A row is one number: its data set, the condition, the method,
// the measure, the value with its printed digits, and the standard deviation where one is printed.
// The papers are Tsang, Cheung & Kwok (2005), Yeung, Chang & Dai (2008), Hu, Wang & Chen (2011),
// Soleymani Baghshah & Bagheri Shouraki (2009), and Lu, Jain & Dhillon (2009).
package printed

import (
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mustlink/mustlink/engine/fault"
)

//go:embed *.csv
var files embed.FS

// Key names one printed number.
type Key struct {
	Table     string `json:"table"` // the name of its file, without extension
	Dataset   string `json:"dataset,omitempty"`
	Condition string `json:"condition,omitempty"`
	Method    string `json:"method,omitempty"`
	Measure   string `json:"measure"`
}

// Number is one printed number.
type Number struct {
	Key
	Value     float64
	SD        float64 // standard deviation, NaN if none is printed
	Uncertain bool    // whether the digits in the source are not clear
}

// Numbers are the numbers of all tables. The zero value has none.
type Numbers struct {
	list  []Number
	index map[Key]int
}

// All returns the numbers in the order of their files. The caller must not change them.
func (n *Numbers) All() []Number { return n.list }

// Find returns the number of that key, and whether there is one.
func (n *Numbers) Find(k Key) (Number, bool) {
	i, ok := n.index[k]
	if !ok {
		return Number{}, false
	}
	return n.list[i], true
}

// Tables returns the names of the tables, in the order of their files.
func Tables() []string {
	return []string{
		"tsang-1", "tsang-2", "tsang-3", "tsang-4", "tsang-4-stars",
		"yeung-1", "yeung-2", "yeung-3", "yeung-4", "yeung-fig4",
		"soleymani-fig2", "soleymani-fig3",
		"hu-1", "hu-2", "hu-3", "hu-4", "hu-5", "hu-fig1", "hu-text",
		"lu-fig5", "lu-fig6",
	}
}

// Builtin returns the numbers that are part of this program.
var Builtin = sync.OnceValue(func() *Numbers {
	n, err := Read(files)
	if err != nil { // the files are checked by the tests
		panic(err)
	}
	return n
})

// columns are the columns of every file.
func columns() []string {
	return []string{"table", "dataset", "condition", "method", "measure", "value", "sd", "uncertain"}
}

// Read reads one file for each of [Tables] from a folder. It returns a *[fault.DataError] that
// names the file for one that is missing, that has other columns, or whose rows are not numbers of
// that table, each once.
func Read(folder fs.FS) (*Numbers, error) {
	n := &Numbers{index: map[Key]int{}}
	for _, table := range Tables() {
		name := table + ".csv"
		f, err := folder.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Data(name, "no such file: want the numbers printed in %s", table)
		}
		if err != nil {
			return nil, fault.Data(name, "%w", err)
		}
		err = errors.Join(n.read(table, f), f.Close())
		if err != nil {
			return nil, fault.InFile(err, name)
		}
	}
	return n, nil
}

// read adds the numbers of one file.
func (n *Numbers) read(table string, r io.Reader) error {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if err != nil {
		return fault.Data("", "no header: want %s", strings.Join(columns(), ","))
	}
	if !slices.Equal(header, columns()) {
		return fault.Data("", "columns are %s: want %s", strings.Join(header, ","),
			strings.Join(columns(), ","))
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.Data("", "%w", err)
		}
		line, _ := rows.FieldPos(0)
		if err := n.add(table, row); err != nil {
			return fault.Data("", "line %d: %w", line, err)
		}
	}
}

// add adds the number of one row.
func (n *Numbers) add(table string, row []string) error {
	number := Number{Key: Key{row[0], row[1], row[2], row[3], row[4]}, SD: math.NaN()}
	if number.Table != table {
		return fmt.Errorf("table is %q: want %q", number.Table, table)
	}
	if number.Measure == "" {
		return errors.New("measure is empty: want its name")
	}
	if _, twice := n.index[number.Key]; twice {
		return errors.New("number is there twice: want it once")
	}
	var err error
	if number.Value, err = parse("value", row[5]); err != nil {
		return err
	}
	if row[6] != "" {
		if number.SD, err = parse("sd", row[6]); err != nil {
			return err
		}
		if number.SD < 0 {
			return fmt.Errorf("sd is %s: want a number >= 0", row[6])
		}
	}
	if row[7] != "0" && row[7] != "1" {
		return fmt.Errorf("uncertain is %q: want 0 or 1", row[7])
	}
	number.Uncertain = row[7] == "1"
	n.index[number.Key] = len(n.list)
	n.list = append(n.list, number)
	return nil
}

func parse(column, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is %q: want a finite number", column, text)
	}
	return v, nil
}
