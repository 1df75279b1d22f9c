package dataset

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// labelComment begins the comment with the column that links were made from.
const labelComment = "# label: "

// CommentLabel returns the column of labels that a line of comment before the header of a file of
// links names, "" for another line: "churn" for "# label: churn".
func CommentLabel(line string) string {
	name, is := strings.CutPrefix(strings.TrimSpace(line), labelComment)
	if !is {
		return ""
	}
	if name = strings.TrimSpace(name); strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			return plain
		}
	}
	return name
}

// commentOf returns the line that CommentLabel reads, "" for no column.
func commentOf(column string) string {
	if column == "" {
		return ""
	}
	line := labelComment + column
	if CommentLabel(line) != column || strings.ContainsAny(column, "\r\n\x00") {
		line = labelComment + strconv.Quote(column)
	}
	return line + "\n"
}

// CutComments divides the text of a file that refers to rows where its header begins: behind a byte
// order mark and the lines of comment.
func CutComments(text []byte) (head, body []byte) {
	body = bytes.TrimPrefix(text, []byte(byteOrderMark))
	for bytes.HasPrefix(body, []byte("#")) {
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	return text[:len(text)-len(body)], body
}

// readComments reads the lines before the header that begin with #, which are comments. It notes
// the column of labels that one of them names.
func (r *lineReader) readComments() error {
	for {
		head, err := r.src.r.Peek(len(byteOrderMark) + 1)
		if err != nil && err != io.EOF {
			return r.src.readError(err)
		}
		if !bytes.HasPrefix(bytes.TrimPrefix(head, []byte(byteOrderMark)), []byte("#")) {
			return nil
		}
		text, err := r.readLine()
		if err != nil {
			return err
		}
		if name := CommentLabel(string(text)); name != "" {
			r.src.label = name
		}
	}
}
