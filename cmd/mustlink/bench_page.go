package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/bench/page"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// pictures is the folder of pictures beside a page.
const pictures = "pictures"

// usePage finds out before the work whether a part of the page at path can be filled. An empty path is no page.
func (a *app) usePage(path, part string) error {
	if path == "" {
		return nil
	}
	if err := fillPage(path, part, "", func(string, string) error { return nil }); err != nil {
		return err
	}
	return a.checkOutput("--page", path)
}

// fillPage writes a part of the page at path anew.
func fillPage(path, part, text string, write func(path, text string) error) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return fault.Data(path, "reading the page: %w", err)
	}
	filled, err := page.Fill(path, string(old), part, text)
	if err != nil {
		return err
	}
	return write(path, filled)
}

// writePart fills a part of the page with text and, if there are panels, their picture, which goes to the folder of pictures beside the page.
func writePart(path, part, text string, columns int, panels []figure.Panel) error {
	if len(panels) > 0 {
		folder := filepath.Join(filepath.Dir(path), pictures)
		if err := makeFolder(folder); err != nil {
			return err
		}
		name := part + ".svg"
		err := dataset.Atomic(filepath.Join(folder, name), func(w io.Writer) error {
			return figure.Write(w, "svg", figure.Size{Columns: columns}, panels...)
		})
		if err != nil {
			return err
		}
		text += fmt.Sprintf("\n![%s](%s/%s)\n", part, pictures, name)
	}
	return fillPage(path, part, text, func(path, text string) error {
		return dataset.Atomic(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	})
}
