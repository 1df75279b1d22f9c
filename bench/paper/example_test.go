package paper_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
)

// A new table: data and a function for one repetition.
func ExampleRun() {
	table := paper.Table{
		Name:        "dice",
		Paper:       "J. Doe (1999). On dice.",
		Label:       "Table 1",
		Caption:     "what dice show",
		Columns:     []string{"mean", "maximum"},
		Rows:        []paper.Row{{Name: "one die", Printed: paper.Means(3.5, 6)}},
		Repetitions: 1000,
		Decimals:    1,
		Trial: func(_ context.Context, _ *engine.Engine, t paper.Trial) ([][]float64, error) {
			r := t.Rand(0)
			sum, highest := 0, 0
			for range 100 {
				eyes := 1 + r.IntN(6)
				sum, highest = sum+eyes, max(highest, eyes)
			}
			return [][]float64{{float64(sum) / 100, float64(highest)}}, nil
		},
	}
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := paper.Run(context.Background(), eng, table, paper.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for j, column := range table.Columns {
		fmt.Printf("%s: %.1f, printed %.1f\n", column, result.Ours[0][j].Mean, table.Rows[0].Printed[j].Mean)
	}
	// Output:
	// mean: 3.5, printed 3.5
	// maximum: 6.0, printed 6.0
}
