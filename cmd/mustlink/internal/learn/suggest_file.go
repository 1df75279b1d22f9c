package learn

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// linkAppender adds links to a file. Each call is one write of whole lines, and on disk before it returns.
type linkAppender struct {
	file    *os.File
	columns []string
	lines   int // of the file so far
	name    func(row int) string
}

// openAppender opens a file of links, or makes one with a header.
func openAppender(path string, name func(int) string) (*linkAppender, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fault.Data(path, "it cannot be appended to: %w", err)
	}
	l := &linkAppender{file: f, columns: []string{"i", "j", "link"}, name: name}
	if err := l.begin(path); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// begin reads the header of the file, or writes it, and ends its last line.
func (l *linkAppender) begin(path string) error {
	text, err := io.ReadAll(l.file)
	if err != nil {
		return fault.Data(path, "%w", err)
	}
	if len(text) == 0 {
		return l.write([][]string{l.columns})
	}
	if l.columns, err = csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).Read(); err != nil {
		return fault.Data(path, "its header cannot be read: want a .csv that is not compressed, with the columns i, j, link: %w", err)
	}
	for _, c := range []string{"i", "j", "link"} {
		if !slices.Contains(l.columns, c) {
			return fault.Data(path, "answers are links: want the columns i, j, link, and a file that is not compressed")
		}
	}
	l.lines = bytes.Count(text, []byte("\n"))
	if text[len(text)-1] == '\n' {
		return nil
	}
	l.lines++
	if _, err := l.file.Write([]byte("\n")); err != nil {
		return err
	}
	return l.file.Sync()
}

// add appends links.
func (l *linkAppender) add(list []links.Link) error {
	rows := make([][]string, len(list))
	for k, link := range list {
		rows[k] = make([]string, len(l.columns))
		for at, column := range l.columns {
			switch column {
			case "i":
				rows[k][at] = l.name(link.I)
			case "j":
				rows[k][at] = l.name(link.J)
			case "link":
				rows[k][at] = link.Sign.String()
			}
		}
	}
	return l.write(rows)
}

func (l *linkAppender) write(rows [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	if _, err := l.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("the answer is not kept: %w", err)
	}
	l.lines += len(rows)
	return l.file.Sync()
}

func (l *linkAppender) close() error { return l.file.Close() }
