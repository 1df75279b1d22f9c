package dataset

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// streamPeople is the stream of random numbers of [People].
const streamPeople = 0x70656f706c65

// People returns n records of people in three sources, with the number of the person as label: a
// person has one to three records, at most one a source. The columns are first, last, born, street,
// zip, city and source. Records other than the first have typing errors, initials, names in the
// wrong order, other dates of birth, former addresses and gaps; one person in seven lives with
// another of the same last name. The order is random. The result depends only on n and seed. An n
// below 2 is a *fault.ParamError.
func People(n int, seed uint64) (*Data, error) {
	if n < 2 {
		return nil, fault.Param("number of records", n, "at least 2")
	}
	p := &people{rand.New(rand.NewPCG(seed, streamPeople))}
	cells, labels := make([][]string, 0, n), make([]string, 0, n)
	var last []string
	for person := 0; len(cells) < n; person++ {
		one := p.person()
		if last != nil && p.rng.IntN(7) == 0 {
			copy(one[1:2], last[1:2])
			copy(one[3:6], last[3:6])
		}
		last = one
		for k, source := range p.rng.Perm(3)[:1+p.rng.IntN(3)] {
			if len(cells) == n {
				break
			}
			record := append(append([]string{}, one...), []string{"crm", "shop", "web"}[source])
			if k > 0 {
				p.spoil(record)
			}
			cells, labels = append(cells, record), append(labels, fmt.Sprintf("p%d", person))
		}
	}
	p.rng.Shuffle(n, func(i, j int) {
		cells[i], cells[j] = cells[j], cells[i]
		labels[i], labels[j] = labels[j], labels[i]
	})
	names := []string{"first", "last", "born", "street", "zip", "city", "source"}
	x := &points.Mixed{N: n}
	for c, name := range names {
		column, code := points.Column{Name: name, Codes: make([]int32, n)}, map[string]int32{"": -1}
		for i := range cells {
			column.Codes[i] = column.Level(cells[i][c], code)
		}
		x.Columns = append(x.Columns, column)
	}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("r%d", i)
	}
	return &Data{Points: x, Features: names, IDs: ids, Labels: labels, Name: "people"}, nil
}

type people struct{ rng *rand.Rand }

func (p *people) of(words string) string {
	all := strings.Fields(words)
	return all[p.rng.IntN(len(all))]
}

// person returns the true cells of a person, without a source.
func (p *people) person() []string {
	city := p.rng.IntN(200)
	return []string{
		p.of("anna bert carla david emma frank greta hans ida jonas karla lena max nora olga paul rosa simon " +
			"tina uwe vera walter maria peter julia thomas sofia lukas marie felix laura tim hannah jan"),
		p.of("acker berg birk brand busch eich fal feld gold hag hart hoff kirch klein korn lind meis neu ober "+
			"rein rosen schil stein wald wein win") + p.of("a bach berg er ert horn ing ler mann meyer rich sen stein"),
		fmt.Sprintf("%d-%02d-%02d", 1935+p.rng.IntN(70), 1+p.rng.IntN(12), 1+p.rng.IntN(28)),
		p.of("linden eichen kirch schul berg garten bahnhof mühlen rosen wiesen haupt park see wald burg") +
			p.of("straße weg allee platz gasse") + fmt.Sprintf(" %d", 1+p.rng.IntN(120)),
		fmt.Sprintf("%05d", 10000+city*400+p.rng.IntN(12)),
		[]string{"alt", "bad ", "groß", "klein", "neu", "nieder", "ober", "unter", "wester",
			"wolfs"}[city%10] +
			[]string{"au", "bach", "berg", "brück", "burg", "dorf", "feld", "furt", "hausen", "heim", "hof",
				"kirchen", "rode", "see", "stadt", "stein", "tal", "wald", "weiler", "zell"}[city/10],
	}
}

// spoil makes the record of another source: each kind of error in some records.
func (p *people) spoil(record []string) {
	other := p.person()
	often := func(percent int) bool { return p.rng.IntN(100) < percent }
	if often(12) { // moved
		copy(record[3:6], other[3:6])
	}
	if often(10) {
		record[0] = string([]rune(record[0])[:1]) + "."
	}
	if often(3) {
		record[0], record[1] = record[1], record[0]
	}
	if often(4) { // married
		record[1] = other[1]
	}
	if often(6) {
		record[2] = record[2][:4] + other[2][4:]
	}
	for c := range 6 {
		if often(12) {
			record[c] = p.mistype(record[c])
		}
		if often(6) {
			record[c] = ""
		}
	}
}

// mistype drops, doubles, replaces or exchanges a letter.
func (p *people) mistype(text string) string {
	r := []rune(text)
	if len(r) < 2 {
		return text
	}
	k := p.rng.IntN(len(r) - 1)
	switch p.rng.IntN(4) {
	case 0:
		return string(append(r[:k], r[k+1:]...))
	case 1:
		return string(r[:k+1]) + string(r[k:])
	case 2:
		const letters, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
		if strings.ContainsRune(digits, r[k]) {
			r[k] = rune(digits[p.rng.IntN(len(digits))])
		} else {
			r[k] = rune(letters[p.rng.IntN(len(letters))])
		}
	default:
		r[k], r[k+1] = r[k+1], r[k]
	}
	return string(r)
}
