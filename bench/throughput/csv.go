package throughput

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/engine/dataset"
)

// Parse is the speed of parsing numbers in text on one core.
type Parse struct {
	What           string         `json:"what"`
	Bytes          int64          `json:"bytes"`
	BytesPerSecond measure.Spread `json:"bytes_per_second"`
}

// The number of columns of the parsed files and of the stream, and the number of rows that are read
// or written at a time.
const (
	columns = 10
	block   = 1 << 12
)

// csv parses numbers with all digits and numbers with three decimals.
func (o *Options) csv(ctx context.Context, folder string) ([]Parse, error) {
	var out []Parse
	for _, kind := range []struct {
		what   string
		format byte // of strconv.AppendFloat
		digits int
		bytes  int // of a number, about
	}{{"10 columns, 17 digits", 'g', 17, 21}, {"10 columns, 3 decimals", 'f', 3, 7}} {
		path := filepath.Join(folder, "numbers.csv")
		rows := max(1, o.CSVBytes/(columns*kind.bytes))
		if err := writeCSV(ctx, path, rows, kind.format, kind.digits); err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		w := measure.Work{Name: csvCase, Size: kind.what, Bytes: float64(info.Size()),
			Contenders: []measure.Contender{{Name: "parse", Time: func(calls int) (time.Duration, error) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one core, whatever the reader does
				begin := time.Now()
				for range calls {
					if err := parse(ctx, path); err != nil {
						return 0, err
					}
				}
				return time.Since(begin), nil
			}}}}
		measurements, err := measure.Run(ctx, []measure.Work{w}, measure.Options{Rounds: o.Rounds, Pause: -1})
		if err != nil {
			return nil, err
		}
		out = append(out, Parse{kind.what, info.Size(), rate(w.Bytes, measurements[0].Entries[0].Seconds)})
	}
	return out, nil
}

// parse reads a file to its end, as embed does.
func parse(ctx context.Context, path string) error {
	s, err := dataset.OpenStream(path, dataset.ReadOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		switch _, err := s.Next(block); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// writeCSV writes a file of normally distributed numbers.
func writeCSV(ctx context.Context, path string, rows int, format byte, digits int) error {
	return dataset.Atomic(path, func(w io.Writer) error {
		rng := rand.New(rand.NewPCG(2, columns))
		line := []byte("f0")
		for f := 1; f < columns; f++ {
			line = fmt.Appendf(line, ",f%d", f)
		}
		for range rows {
			line = append(line, '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
			line = strconv.AppendFloat(line[:0], rng.NormFloat64(), format, digits, 64)
			for range columns - 1 {
				line = strconv.AppendFloat(append(line, ','), rng.NormFloat64(), format, digits, 64)
			}
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
		return ctx.Err()
	})
}
