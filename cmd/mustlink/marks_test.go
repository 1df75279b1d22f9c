package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
	"github.com/mustlink/mustlink/internal/clitest"
)

// A model keeps how its columns wrote their numbers: a new row with 21.964 alone, which might be
// either, is read as in the fit, in a block of rows and row by row, and --number says otherwise.
func TestMarksOfTheFit(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("price;b;label\n")
	for i := range 40 {
		v := 1000 + rng.IntN(9000) + 20000*(i%2)
		fmt.Fprintf(&b, "%d.%03d,5;0,%d;%c\n", v/1000, v%1000, rng.IntN(1000), 'x'+i%2)
	}
	clitest.Write(t, dir, "train.csv", b.String())
	for name, text := range map[string]string{"new.csv": "price;b\n21.964;0,5\n",
		"plain.csv": "price,b\n21964,0.5\n", "small.csv": "price,b\n21.964,0.5\n"} {
		clitest.Write(t, dir, name, text)
	}
	commandtest.RunOK(t, dir, "links make -i train.csv --pairs 30 -q -o links.csv")
	commandtest.RunOK(t, dir, "fit -m rca -i train.csv -c links.csv -q -o model.mlk")
	coordinates := func(line string) string {
		t.Helper()
		commandtest.RunOK(t, dir, "embed model.mlk -q -o out.csv -i "+line)
		return clitest.Read(t, dir, "out.csv")
	}
	thousands, single := coordinates("plain.csv --number price=us"),
		coordinates("small.csv --number price=us")
	if thousands == single {
		t.Fatal("the model does not depend on the price")
	}
	for line, want := range map[string]string{"new.csv": thousands, "new.csv --number price=us": single,
		"new.csv --number price=eu": thousands, "plain.csv": thousands} {
		if got := coordinates(line); got != want {
			t.Errorf("embed -i %s: %q, want %q", line, got, want)
		}
	}
	o := commandtest.Run(t, dir, "embed model.mlk -i new.csv --number b=us -o out.csv")
	if o.Code != 2 || !strings.Contains(o.Stderr, `row 0, column "b"`) {
		t.Errorf("0,5 as us: exit code %d, %s", o.Code, o.Stderr)
	}
}
