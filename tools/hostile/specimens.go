package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// specimen is a valid file, nil if it is missing, and the commands that read it, with FILE for its
// name.
type specimen struct {
	name  string
	text  []byte
	lines []string
}

// Commands by what FILE is.
var (
	dataLines = []string{
		"fit -m krca -i FILE -c links.csv -o out.mlk",
		"fit -m kbeta -i FILE --links-from-labels 5 -o out.mlk",
		"fit -m forest -i FILE -c links.csv -o out.mlk",
		"fit -m npkl -i FILE -c links.csv -o out.mlk",
		"fit -m itml -i FILE -c links.csv --prepare none -o out.mlk",
		"fit -m rca -i FILE -c links.csv --standardize -o out.mlk",
		"fit -m krca -i FILE -c links.csv --tfidf -o out.mlk", "embed krca.mlk -i FILE -o out.csv",
		"embed table.mlk -i FILE -o out.npy", "gram krca.mlk -i FILE -o out.npy",
		"distance krca.mlk -i FILE --pairs pairs.csv -o out.csv", "cluster -i FILE -n 2 -o out.csv",
		"cluster table.mlk -i FILE -n 2 -o out.csv",
		"cluster -a constrained -c links.csv -i FILE -n 2 -o out.csv",
		"cluster -i FILE -n 2 --stream -o out.csv",
		"classify --train FILE -i FILE -o out.csv", "classify krca.mlk --train data.csv -i FILE -o out.csv",
		"neighbors krca.mlk --train FILE -i FILE -k 2 -o out.csv",
		"neighbors krca.mlk --train FILE -i data.csv -k 2 --approximate recall=.9 -o out.npy",
		"check -i FILE -c links.csv", "check -i FILE --json",
		"inspect krca.mlk -i FILE -c links.csv", "plot -i FILE -c links.csv -o out.svg",
		"plot krca.mlk -i FILE -o out.png", "report -i FILE -c links.csv -o out.html",
		"suggest -i FILE -n 3 -o out.csv", "suggest krca.mlk -i FILE -n 3 -o out.csv",
		"select -i FILE -c links.csv --methods krca,rca --folds 2 -o out.mlk",
		"links make -i FILE --pairs 5 -o out.csv", "links close -i FILE -c links.csv -o out.csv",
		"update krca.mlk -i FILE -c links.csv -o out.mlk",
		"pairs krca.mlk -i FILE --threshold 1 -o out.csv",
		"calibrate krca.mlk -i FILE -c links.csv -o out.mlk", "score --truth FILE --predicted data.csv",
	}
	linkLines = []string{
		"fit -m krca -i data.csv -c FILE -o out.mlk", "fit -m itml -i data.csv -c FILE -o out.mlk",
		"fit -m krca -i data.csv -c FILE --drop-suspicious 0.1 -o out.mlk",
		"inspect krca.mlk -i data.csv -c FILE", "links close -i data.csv -c FILE -o out.csv",
		"links close -n 40 -c FILE -o out.csv", "calibrate krca.mlk -i data.csv -c FILE -o out.mlk",
		"update krca.mlk -i data.csv -c FILE -o out.mlk", "plot -i data.csv -c FILE -o out.svg",
		"report krca.mlk -i data.csv -c FILE -o out.html", "check -i data.csv -c FILE",
		"suggest -i data.csv -c FILE -n 3 -o out.csv",
		"suggest -i data.csv -c FILE --interactive --classes 2",
		"cluster -a constrained -i data.csv -c FILE -n 2 -o out.csv",
		"select -i data.csv -c FILE --methods krca,rca --folds 2 -o out.mlk",
		"distance krca.mlk -i data.csv --pairs FILE -o out.csv",
	}
	modelLines = []string{
		"inspect FILE", "inspect FILE --json", "export FILE -o out.onnx",
		"export FILE -o out.onnx --precision single", "export FILE -o out.json", "export FILE -o out.sql",
		"embed FILE -i data.csv -o out.csv", "gram FILE -i data.csv -o out.npy",
		"distance FILE -i data.csv --pairs pairs.csv -o out.csv",
		"cluster FILE -i data.csv -n 2 -o out.csv", "classify FILE --train data.csv -i data.csv -o out.csv",
		"neighbors FILE --train data.csv -i data.csv -o out.csv",
		"update FILE -i data.csv -c links.csv -o out.mlk",
		"plot FILE -i data.csv -o out.svg", "plot FILE --spectrum -o out.svg",
		"report FILE -i data.csv -c links.csv -o out.html", "suggest FILE -i data.csv -n 3 -o out.csv",
		"pairs FILE -i data.csv --threshold 1 -o out.csv",
		"calibrate FILE -i data.csv -c links.csv -o out.mlk", "inspect FILE -i data.csv -c links.csv",
	}
	embeddingLines = []string{"score --truth data.csv --embedding FILE"}
)

// wellFormed writes the sound files that commands need besides the hostile one.
func wellFormed(dir string) error {
	var links, pairs strings.Builder
	links.WriteString("i,j,link\n")
	pairs.WriteString("i,j\n")
	for i := range 12 {
		fmt.Fprintf(&links, "%d,%d,must\n%d,%d,cannot\n", i, i+12, i, i+13)
		fmt.Fprintf(&pairs, "%d,%d\n", i, 39-i)
	}
	data := table(40, 3, 1)
	err := write(dir, "data.csv", data)
	for name, text := range map[string]string{"links.csv": links.String(), "pairs.csv": pairs.String(),
		"mixed.csv":  mixed(),
		"points.csv": strings.NewReplacer(",label", "", ",1\n", "\n", ",2\n", "\n").Replace(data)} {
		if err == nil {
			err = write(dir, name, text)
		}
	}
	return err
}

// mixed returns a table of numbers, texts, dates and gaps.
func mixed() string {
	var s strings.Builder
	s.WriteString("id,size,color,day,note,label\n")
	for i := range 40 {
		gap := []string{fmt.Sprint(float64(i) / 3), "NA"}[(i%9)/8]
		fmt.Fprintf(&s, "p%d,%s,%s,2024-%02d-%02d,\"word %d, more\",%d\n", i, gap,
			[]string{"red", "green", "blue"}[i%3], 1+i%12, 1+i%28, i%5, 1+i%2)
	}
	return s.String()
}

// made are files that the program itself writes, and the commands that read them. A file that an
// older program cannot write is missing.
var made = []struct {
	line, name string
	lines      []string
}{
	{"fit -m krca -i data.csv -c links.csv -o FILE", "krca.mlk", modelLines},
	{"fit -m rca -i mixed.csv -c links.csv -o FILE", "table.mlk", modelLines},
	{"fit -m forest -i data.csv -c links.csv -o FILE", "forest.mlk", modelLines},
	{"fit -m kbeta -i data.csv -c links.csv -o FILE", "kbeta.mlk", modelLines},
	{"fit -m npkl -i data.csv -c links.csv -o FILE", "npkl.mlk", modelLines},
	{"fit -m blend -i data.csv -c links.csv -o FILE", "blend.mlk", modelLines},
	{"fit -m itml -k rbf:sigma=mean -i data.csv -c links.csv -o FILE", "itml.mlk", modelLines},
	{"calibrate krca.mlk -i data.csv -c links.csv -o FILE", "calibrated.mlk",
		append([]string{"pairs FILE -i data.csv --precision .9 -o out.csv"}, modelLines...)},
	{"embed krca.mlk -i data.csv -o FILE", "coordinates.npy", append(embeddingLines, dataLines...)},
	{"embed krca.mlk -i data.csv --precision single -o FILE", "single.npy",
		append(embeddingLines, dataLines...)},
	{"embed krca.mlk -i data.csv -o FILE", "coordinates.parquet", append(embeddingLines, dataLines...)},
	{"embed table.mlk -i mixed.csv -o FILE", "named.parquet", dataLines},
	{"embed krca.mlk -i data.csv -o FILE", "coordinates.arrow", append(embeddingLines, dataLines...)},
	{"embed table.mlk -i mixed.csv -o FILE", "named.feather", dataLines},
	{"gram krca.mlk -i data.csv -o FILE", "gram.npy",
		[]string{"fit -m krca --gram -i FILE -c links.csv -o out.mlk",
			"cluster --gram -a kernel -i FILE -n 2 -o out.csv",
			"fit -m npkl -p graph=@FILE -i data.csv -c links.csv -o out.mlk"}},
	{"gram krca.mlk -i data.csv -o FILE", "gram.csv",
		[]string{"fit -m krca --gram -i FILE -c links.csv -o out.mlk",
			"fit -m spectral -p graph=@FILE -i data.csv -c links.csv -o out.mlk"}},
	{"neighbors krca.mlk --train data.csv -i data.csv -k 2 --approximate recall=.9 --index FILE -o out.csv",
		"data.index", []string{"neighbors krca.mlk --train data.csv -i data.csv -k 2 --approximate " +
			"recall=.9 --index FILE -o out.csv", "inspect FILE", "embed FILE -i data.csv -o out.csv"}},
	{"select -i data.csv -c links.csv --methods krca,rca --folds 2 --state FILE -o out.mlk", "trials.jsonl",
		[]string{"select -i data.csv -c links.csv --methods krca,rca --folds 2 --state FILE -o out.mlk"}},
}

// specimens writes the sound files to dir and returns all specimens.
func specimens(p program, dir string) ([]specimen, error) {
	if err := wellFormed(dir); err != nil {
		return nil, err
	}
	list := written()
	for _, m := range made {
		o, err := p.run(dir, "", append(strings.Fields(strings.ReplaceAll(m.line, "FILE", m.name)), "-q")...)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(dir, m.name))
		if o.code == 2 && strings.Contains(o.stderr, "unknown") {
			text, err = nil, nil
		} else if o.code != 0 || err != nil {
			return nil, fmt.Errorf("%s: code %d, %s, %w", m.line, o.code, o.stderr, err)
		}
		list = append(list, specimen{m.name, text, m.lines})
	}
	for _, s := range list {
		if at := strings.Index("data.csv coordinates.npy coordinates.parquet named.feather links.csv",
			s.name); at >= 0 {
			list = append(list, specimen{s.name + ".gz", packed(s.text), s.lines})
		}
	}
	return list, nil
}

// written returns the specimens that need no program.
func written() []specimen {
	data := table(40, 3, 1)
	fit := func(m, flag string) []string {
		return []string{"fit -m " + m + " -i data.csv " + flag + " FILE -o out.mlk"}
	}
	var svm, fasta, triplets, quadruplets, targets, labels, rows, links, chunklets, jsonLines strings.Builder
	triplets.WriteString("i,j,k\n")
	quadruplets.WriteString("i,j,k,l\n")
	targets.WriteString("target\n")
	labels.WriteString("label\n")
	links.WriteString("i,j,link,weight,bound\n")
	chunklets.WriteString("i,chunklet\n")
	for i := range 40 {
		fmt.Fprintf(&svm, "%d 1:%d.5 3:%d 17:2\n", 1+i%2, i, i%5)
		fmt.Fprintf(&jsonLines, "{\"a\":%d.5,\"v\":[%d,-1e2],\"label\":\"%c\"}\n", i, i%7, 'a'+i%2)
		fmt.Fprintf(&fasta, ">p%d a.%d\nACDEFGHIKLM%sNPQRST\n", i, i%2, strings.Repeat("VWY", i%4))
		fmt.Fprintf(&targets, "%d.25\n", i)
		fmt.Fprintf(&labels, "%d\n", 1+i%2)
		if i < 12 {
			fmt.Fprintf(&triplets, "%d,%d,%d\n", i, i+12, i+13)
			fmt.Fprintf(&quadruplets, "%d,%d,%d,%d\n", i, i+12, i, i+13)
			fmt.Fprintf(&rows, "%d\n", 3*i)
			fmt.Fprintf(&links, "%d,%d,must,1,0.5\n%d,%d,cannot,2,4\n", i, i+12, i, i+13)
			fmt.Fprintf(&chunklets, "%d,%c\n", i, 'a'+i%3)
		}
	}
	idx := append([]byte{0, 0, 0x0e, 2},
		binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 40), 3)...)
	bytesIDX := []byte{0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0, 2}
	for i := range 160 {
		bytesIDX = append(bytesIDX, byte(i*7))
		if i < 120 {
			idx = append(idx, 0x3f, 0xf0, byte(i), 0, 0, 0, 0, 0)
		}
	}
	return []specimen{
		{"data.csv", []byte(data), dataLines}, {"mixed.csv", []byte(mixed()), dataLines},
		{"data.tsv", []byte(strings.ReplaceAll(data, ",", "\t")), dataLines},
		{"data.jsonl", []byte(jsonLines.String()), dataLines},
		{"semicolons.csv", []byte(strings.NewReplacer(",", ";", ".", ",").Replace(data)), dataLines},
		{"data.svm", []byte(svm.String()), dataLines}, {"data.fasta", []byte(fasta.String()), dataLines},
		{"data.idx", idx, dataLines}, {"images-idx3-ubyte", bytesIDX, dataLines},
		{"links.csv", []byte(links.String()), linkLines},
		{"chunklets.csv", []byte(chunklets.String()), linkLines},
		{"triplets.csv", []byte(triplets.String()),
			append(fit("gml", "--triplets"), fit("scml", "--triplets")...)},
		{"quadruplets.csv", []byte(quadruplets.String()), fit("lsml", "--quadruplets")},
		{"targets.csv", []byte(targets.String()), fit("mlkr", "--targets")},
		{"labels.csv", []byte(labels.String()),
			[]string{"fit -m krca -i points.csv --labels FILE --links-from-labels 5 -o out.mlk",
				"score --truth FILE --predicted data.csv", "score --truth data.csv --predicted FILE"}},
		{"rows.txt", []byte(rows.String()),
			[]string{"fit -m kbeta -p landmarks=@FILE -i data.csv -c links.csv -o out.mlk"}},
	}
}

func packed(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // a buffer takes all
	_ = z.Close()
	return b.Bytes()
}
