package commands

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mustlink/mustlink/bench/docpage"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// product is the result of a bench command in all its output formats.
type product struct {
	numbers any                          // for .json and --json
	text    string                       // for people, and .md
	panels  func() ([]view.Panel, error) // of the picture
	across  int                          // panels side by side
	csv     func(w io.Writer) error      // nil for none
	summary func(w io.Writer)            // printed when the text goes to a file; nil: the name of the file
}

// drawn returns panels as the panels function of a product.
func drawn(panels []view.Panel) func() ([]view.Panel, error) {
	return func() ([]view.Panel, error) { return panels, nil }
}

// textEndings returns the endings of the output of a product without a picture.
func textEndings() []string { return []string{"md", "json"} }

// pictureEndings returns the endings of the output of a product with a picture.
func pictureEndings() []string { return append(textEndings(), view.Formats()...) }

// write writes a product in the format of the output's extension, or prints it.
func (p product) write(a *app, out string) error {
	if out == session.Stream {
		// print reports the error of w
		return a.Print(p.numbers, func(w io.Writer) { _, _ = io.WriteString(w, p.text) })
	}
	if err := p.writeFile(a, out); err != nil {
		return err
	}
	if p.summary == nil {
		p.summary = func(w io.Writer) { fmt.Fprintf(w, "written to %s\n", out) }
	}
	return a.Summarize(out, p.numbers, p.summary)
}

// writeFile writes the product into a file. A page goes without its numbers, which get a CSV file
// next to it; the page shows the picture of its name if there is one.
func (p product) writeFile(a *app, out string) error {
	if !session.HasEnding(out, "md") || !strings.HasPrefix(p.text, "# ") {
		return a.WriteFile(out, func(w io.Writer) error { return p.encode(w, out) })
	}
	picture, numbers := "", docpage.NumbersName(out)
	if drawing := strings.TrimSuffix(numbers, "csv") + "svg"; isFile(drawing) {
		picture = filepath.Base(drawing)
	}
	page, lines, err := docpage.Split(p.text, filepath.Base(numbers), picture)
	if err != nil {
		return err
	}
	if err := a.WriteText(out, page); err != nil || lines == nil {
		return err
	}
	return a.WriteText(numbers, string(lines))
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// encode writes the product in the format that the name of the output implies.
func (p product) encode(w io.Writer, out string) error {
	format, notPicture := view.FormatOf(out)
	switch {
	case session.HasEnding(out, "json"):
		return session.EncodeJSON(w, p.numbers)
	case p.csv != nil && session.HasEnding(out, "csv"):
		return p.csv(w)
	case notPicture != nil:
		_, err := io.WriteString(w, p.text)
		return err
	}
	panels, err := p.panels()
	if err != nil {
		return err
	}
	return view.Write(w, format, view.Size{Columns: p.across}, panels...)
}

// working runs long work on the engine of the flags, with a progress bar that it removes at the
// end.
func working[T any](a *app, work func(eng *engine.Engine, bar *session.Progress) (T, error)) (T, error) {
	eng, err := a.Engine()
	if err != nil {
		var none T
		return none, err
	}
	bar := a.Progress()
	defer bar.Done()
	return work(eng, bar)
}
