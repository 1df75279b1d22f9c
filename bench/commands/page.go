package commands

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mustlink/mustlink/bench/docpage"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
)

// pictures is the folder of pictures next to a page.
const pictures = "pictures"

// checkPage checks, before the work, that a part of the page at path can be replaced. An empty path
// means no page.
func checkPage(c *session.Checks, path, part string) {
	if path != "" {
		c.Do(func() error { return fillPage(path, part, "", func(string, string) error { return nil }) })
		c.Output("--page", path)
	}
}

// fillPage replaces a part of the page at path.
func fillPage(path, part, text string, write func(path, text string) error) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return fault.Data(path, "reading the page: %w", err)
	}
	filled, err := docpage.Fill(path, string(old), part, text)
	if err != nil {
		return err
	}
	return write(path, filled)
}

// writeOn replaces a part of the page by the text without its long tables and the picture. The
// numbers go to a file of the part's name next to the page, and the picture to the folder of
// pictures there.
func (p product) writeOn(a *app, path, part string) error {
	panels, err := p.panels()
	if err != nil {
		return err
	}
	if len(panels) > 0 {
		folder := filepath.Join(filepath.Dir(path), pictures)
		if err := session.MakeFolder(folder); err != nil {
			return err
		}
		picture := filepath.Join(folder, part+".svg")
		if err := a.WriteFile(picture, func(w io.Writer) error { return p.encode(w, picture) }); err != nil {
			return err
		}
		p.text += fmt.Sprintf("\n![%s](%s/%s.svg)\n", part, pictures, part)
	}
	numbers := docpage.NumbersName(filepath.Join(filepath.Dir(path), part))
	short, text, err := docpage.SplitPart(p.text, filepath.Base(numbers))
	if err != nil {
		return err
	}
	if err := a.WriteText(numbers, string(text)); err != nil {
		return err
	}
	return fillPage(path, part, short, a.WriteText)
}

// writeWith replaces a part of a page, if there is one, and writes the output. What is on the page
// is not printed.
func (p product) writeWith(a *app, page, part, out string) error {
	if page != "" {
		if err := p.writeOn(a, page, part); err != nil {
			return err
		}
	}
	if out == session.Stream && page != "" && !a.JSON {
		return a.Summarize(page, p.numbers, func(w io.Writer) { fmt.Fprintf(w, "written to %s\n", page) })
	}
	return p.write(a, out)
}
