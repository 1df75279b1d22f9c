package main

import (
	"fmt"
	"io"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/engine"
)

// product is what a bench command has found, in the forms in which it can be written.
type product struct {
	numbers any                            // for .json and --json
	text    string                         // for people, and .md
	panels  func() ([]figure.Panel, error) // of the picture
	across  int                            // panels side by side
	csv     func(w io.Writer) error        // nil for none
	summary func(w io.Writer)              // for people when the text goes to a file, nil for where it went
}

// drawn returns panels as a product has them.
func drawn(panels []figure.Panel) func() ([]figure.Panel, error) {
	return func() ([]figure.Panel, error) { return panels, nil }
}

// textEndings are those of the output of a product without a picture.
func textEndings() []string { return []string{"md", "json"} }

// pictureEndings are those of the output of a product with a picture.
func pictureEndings() []string { return append(textEndings(), figure.Formats()...) }

// write writes a product by the extension of the output, or prints it.
func (p product) write(a *app, out string) error {
	if out == stream {
		return a.print(p.numbers, func(w io.Writer) { _, _ = io.WriteString(w, p.text) }) // print reports the error of w
	}
	if err := a.writeFile(out, func(w io.Writer) error { return p.encode(w, out) }); err != nil {
		return err
	}
	if p.summary == nil {
		p.summary = func(w io.Writer) { fmt.Fprintf(w, "written to %s\n", out) }
	}
	return a.summarise(out, p.numbers, p.summary)
}

// encode writes the form of the product that the name of the output asks for.
func (p product) encode(w io.Writer, out string) error {
	format, notPicture := figure.FormatOf(out)
	switch {
	case hasEnding(out, "json"):
		return encodeJSON(w, p.numbers)
	case p.csv != nil && hasEnding(out, "csv"):
		return p.csv(w)
	case notPicture != nil:
		_, err := io.WriteString(w, p.text)
		return err
	}
	panels, err := p.panels()
	if err != nil {
		return err
	}
	return figure.Write(w, format, figure.Size{Columns: p.across}, panels...)
}

// working runs long work on the engine of the flags, with a bar that is gone when it returns.
func working[T any](a *app, work func(eng *engine.Engine, bar *progress) (T, error)) (T, error) {
	eng, err := a.engine()
	if err != nil {
		var none T
		return none, err
	}
	bar := a.progress()
	defer bar.done()
	return work(eng, bar)
}

// step shows on the bar which of several parts of the work is under way.
func (p *progress) step(done, total int, name string) {
	p.report(algorithms.Progress{Stage: name, Done: done, Total: total, Objective: math.NaN(), Residual: math.NaN()})
}
