package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/difftest"
	"github.com/mustlink/mustlink/internal/gziptest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestLabelsInBlocks: labels written and read in blocks of any size give the same file and the same
// labels as at once.
func TestLabelsInBlocks(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(rt, "n")
		labels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b c", "1", `"quoted", with a comma`, "ü"}),
			n, n).Draw(rt, "labels")
		var ids []string
		if rapid.Bool().Draw(rt, "named") {
			for i := range n {
				ids = append(ids, fmt.Sprint("p", i))
			}
		}
		name := "labels" + rapid.SampledFrom([]string{".csv", ".csv.gz", ".txt"}).Draw(rt, "ending")
		whole, parts := filepath.Join(dir, "whole"+name), filepath.Join(dir, "parts"+name)
		if err := WriteLabels(whole, labels, ids, WriteOptions{}); err != nil {
			rt.Fatal(err)
		}
		at := 0
		next := func() (LabelRows, error) {
			if at == n {
				return LabelRows{}, io.EOF
			}
			lo := at
			at = min(n, lo+rapid.IntRange(1, 9).Draw(rt, "block"))
			block := LabelRows{Labels: labels[lo:at]}
			if ids != nil {
				block.IDs = ids[lo:at]
			}
			return block, nil
		}
		if err := WriteLabelRows(parts, next, WriteOptions{}); err != nil {
			rt.Fatal(err)
		}
		if diff := difftest.Diff(contentOf(rt, whole), contentOf(rt, parts)); diff != "" {
			rt.Fatal(diff)
		}
		s, err := OpenLabels(Input{Name: parts}, ReadOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		var got []string
		for {
			block, err := s.Next(rapid.IntRange(1, 9).Draw(rt, "limit"))
			if err == io.EOF {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			got = append(got, block.Labels...)
		}
		if diff := difftest.Diff(labels, got); diff != "" || s.Done() != n {
			rt.Fatalf("%d read: %s", s.Done(), diff)
		}
	})
}

func contentOf(t *rapid.T, path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLabelStreamRefuses: errors are those of ReadLabels, for any block size, and are returned
// again.
func TestLabelStreamRefuses(t *testing.T) {
	dir := t.TempDir()
	for i, content := range []string{
		"", "label\n", "a,b\n1,2\n", "label\na\n\nb\n", "id,label\n1,x\n2\n", "id,label\n1,x\n,y\n",
		"label\na\n\xff\n", "label\na\x00\n", "id,label\n1,\"x\n",
	} {
		path := filepath.Join(dir, fmt.Sprint(i, ".csv"))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, want := ReadLabels(Input{Name: path}, ReadOptions{})
		for _, limit := range []int{1, 100} {
			s, err := OpenLabels(Input{Name: path}, ReadOptions{})
			for err == nil {
				_, err = s.Next(limit)
			}
			if fmt.Sprint(err) != fmt.Sprint(want) || !fault.IsInput(err) {
				t.Errorf("%q: error %v: want %v", content, err, want)
			}
			if s != nil {
				if _, again := s.Next(limit); again != err {
					t.Errorf("%q: then error %v", content, again)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	s, err := OpenLabels(Input{Name: "-", Stream: strings.NewReader("label\na\n")}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(0); !fault.IsInput(err) {
		t.Errorf("a limit of 0: error %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "y.svm"), []byte("1 1:2\n-1 2:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := OpenLabels(Input{Name: filepath.Join(dir, "y.svm")}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if labels, err := whole.Next(1); err != nil || labels.Labels[0] != "1" {
		t.Errorf("the first label is %v, error %v", labels, err)
	}
	if labels, err := whole.Next(5); err != nil || labels.Labels[0] != "-1" || whole.Close() != nil {
		t.Errorf("the second label is %v, error %v", labels, err)
	}
	if _, err := whole.Next(5); err != io.EOF {
		t.Errorf("error %v: want the end", err)
	}
}

// TestLabelRowsRefused: an error during writing leaves no file.
func TestLabelRowsRefused(t *testing.T) {
	dir, stop := t.TempDir(), errors.New("stop")
	for name, blocks := range map[string][]LabelRows{
		"ids missing":   {{Labels: []string{"a"}, IDs: []string{"1"}}, {Labels: []string{"a"}}},
		"ids too few":   {{Labels: []string{"a", "b"}, IDs: []string{"1"}}},
		"ids too late":  {{Labels: []string{"a"}}, {Labels: []string{"a"}, IDs: []string{"1"}}},
		"error":         {{Labels: []string{"a"}}},
		"error at once": {},
	} {
		at := 0
		next := func() (LabelRows, error) {
			if at == len(blocks) {
				return LabelRows{}, stop
			}
			at++
			return blocks[at-1], nil
		}
		err := WriteLabelRows(filepath.Join(dir, "out.csv"), next, WriteOptions{})
		if strings.HasPrefix(name, "ids") && !fault.IsInput(err) || strings.HasPrefix(name, "error") &&
			!errors.Is(err, stop) {
			t.Errorf("%s: error %v", name, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v is left, error %v", name, entries, err)
		}
	}
}

// Targets are a column of a file, or the labels read as numbers.
func TestTargets(t *testing.T) {
	d := &Data{Points: &points.Dense{N: 3, D: 1, Data: make([]float64, 3)}, Name: "x.csv",
		Labels: []string{"1.5", "-2e300", " 0 "}}
	want := []float64{1.5, -2e300, 0}
	got, err := d.LabelTargets()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("labels as targets: %v, %v, want %v", got, err, want)
	}
	const text = "why,target\nx, 1.5\n,-2e300\n?,0\n"
	if got, err = d.ReadTargets(Input{Name: "-", Stream: strings.NewReader(text)}, 0); err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("targets %v, %v, want %v", got, err, want)
	}
	if got, err = d.ReadTargets(Input{Name: write(t, "t.csv.gz", gziptest.Zip(text))}, 0); err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("targets of a compressed file: %v, %v, want %v", got, err, want)
	}
	var memory *fault.MemoryError
	if _, err := d.ReadTargets(Input{Name: "-", Stream: strings.NewReader(text)},
		20); !errors.As(err, &memory) {
		t.Errorf("beyond the limit: error %v", err)
	}
	if _, err := d.ReadTargets(Input{Name: filepath.Join(t.TempDir(), "no")}, 0); !fault.IsInput(err) {
		t.Errorf("a file that is not there: error %v", err)
	}
}

// Errors in targets name file, line, row and column.
func TestBadTargets(t *testing.T) {
	d := &Data{Points: &points.Dense{N: 2, D: 1, Data: make([]float64, 2)}, Name: "x.csv"}
	for text, want := range map[string]string{
		"target\n1\nhigh\n":    `t.csv, line 3, row 1, column "target": the text "high" is not a number: want a finite number`,
		"a,target\n1,NaN\n1,2": `t.csv, line 2, row 0, column "target": the value is NaN: want a finite number`,
		"target\n1\n1e400\n":   `t.csv, line 3, row 1, column "target": the value "1e400" is beyond the range of float64: want a finite number`,
		"target\n1\n2\n3\n":    `t.csv: it has 3 targets: want 2, one for each row of x.csv`,
		"price\n1\n2\n":        `t.csv: the header is "price": want a column target`,
		"target\n":             `t.csv: it has a header but no rows: want at least one row`,
	} {
		_, err := d.ReadTargets(Input{Name: "t.csv", Stream: strings.NewReader(text)}, 0)
		if !fault.IsInput(err) || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
	for want, labels := range map[string][]string{
		`x.csv: the rows have no labels: want a column label of numbers`:                      nil,
		`x.csv, row 1, column "label": the text "high" is not a number: want a finite number`: {"1", "high"},
	} {
		d.Labels = labels
		if _, err := d.LabelTargets(); !fault.IsInput(err) || err.Error() != want {
			t.Errorf("labels %q:\n got %v\nwant %s", labels, err, want)
		}
	}
}

// Rows without a label are read by every reader, whether their line is plain or quoted, and the
// other cells are those of the same file with labels.
func TestUnlabeledRows(t *testing.T) {
	dir := t.TempDir()
	propertytest.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b c"}), 1, 40).Draw(rt, "labels")
		order := rapid.Permutation([]string{"id", "x", "label"}).Draw(rt, "order")
		ids := rapid.Bool().Draw(rt, "ids")
		var text, full strings.Builder
		write := func(cells map[string]string) {
			for k, name := range order {
				if k > 0 {
					text.WriteByte(',')
					full.WriteByte(',')
				}
				text.WriteString(cells[name])
				full.WriteString(cmp.Or(cells[name], "z"))
			}
			text.WriteByte('\n')
			full.WriteByte('\n')
		}
		write(map[string]string{"id": "id", "x": "x", "label": "label"})
		for i, label := range want {
			cell := label
			if label == "" && rapid.Bool().Draw(rt, "quoted") {
				cell = `""`
			}
			write(map[string]string{"id": fmt.Sprint("p", i), "x": fmt.Sprint(i), "label": cell})
		}
		path, labeled := filepath.Join(dir, "d.csv"), filepath.Join(dir, "l.csv")
		if err := errors.Join(os.WriteFile(path, []byte(text.String()), 0o600),
			os.WriteFile(labeled, []byte(full.String()), 0o600)); err != nil {
			rt.Fatal(err)
		}
		d, err := Read(path, ReadOptions{})
		other, otherErr := Read(labeled, ReadOptions{})
		if err := errors.Join(err, otherErr); err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(d.Labels, want) || !slices.Equal(d.IDs, other.IDs) ||
			Fingerprint(d.Points) != Fingerprint(other.Points) {
			rt.Fatalf("read %+v: want the labels %q, and the rest of %+v", d, want, other)
		}
		n := 0
		for _, label := range want {
			n += min(1, len(label))
		}
		if d.Labeled() != n || (d.NeedLabels("some") == nil) != (n > 0) {
			rt.Fatalf("%d labeled rows: want %d", d.Labeled(), n)
		}
		rows, err := ReadLabels(Input{Name: path}, ReadOptions{})
		if err != nil || !slices.Equal(rows.Labels, want) || !slices.Equal(rows.IDs, other.IDs) {
			rt.Fatalf("labels %+v, error %v", rows, err)
		}
		s, err := OpenLabels(Input{Name: path}, ReadOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		var all LabelRows
		for err == nil {
			rows, err = s.Next(rapid.IntRange(1, 9).Draw(rt, "limit"))
			all.Labels, all.IDs = append(all.Labels, rows.Labels...), append(all.IDs, rows.IDs...)
		}
		if err != io.EOF || !slices.Equal(all.Labels, want) || !slices.Equal(all.IDs, other.IDs) {
			rt.Fatalf("labels by blocks %+v, error %v", all, err)
		}
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		var names []string
		if ids {
			names = d.IDs
		}
		if err := WriteLabels(path, want, names, WriteOptions{}); err != nil {
			rt.Fatal(err)
		}
		if got, err := ReadLabels(Input{Name: path},
			ReadOptions{}); err != nil || !slices.Equal(got.Labels, want) {
			rt.Fatalf("written and read labels %q, error %v: want %q", got, err, want)
		}
	})
}

// A column of labels that is named must be there, unless the rows may have none.
func TestLabelOptional(t *testing.T) {
	o := ReadOptions{Label: "kind"}
	_, err := decodeText("label,x\n1,2\n", "a.csv", o)
	wantData(t, err, "a.csv", place{0, -1, ""}, `no column "kind"`)
	o.LabelOptional = true
	d, err := decodeText("label,x\n1,2\n", "a.csv", o)
	if err != nil || d.Labels != nil || !slices.Equal(d.Features, []string{"label", "x"}) {
		t.Errorf("%+v, error %v: want no labels, as the column label is a feature for --label kind", d, err)
	}
	if d, err = decodeText("kind,x\n1,2\n", "a.csv", o); err != nil ||
		!slices.Equal(d.Labels, []string{"1"}) {
		t.Errorf("%+v, error %v: want the labels of the column", d, err)
	}
}
