package job

import (
	"encoding/base64"
	"errors"
	"regexp"

	"github.com/mustlink/mustlink/engine/fault"
)

// Errors travel from workers as text, with other text around them. These are the marks of what a
// user is to be told.
const (
	markInput  = "mustlink-input:"
	markFailed = "mustlink-failed:"
)

var marked = regexp.MustCompile(`(` + markInput + `|` + markFailed + `)([A-Za-z0-9+/=]+);`)

// Wrap returns an error whose words reach the one who started the job, as [Run]'s error. DoFns
// return no other errors.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	var sent *sentError
	if errors.As(err, &sent) {
		return err
	}
	return &sentError{err}
}

// sentError is an error on its way.
type sentError struct{ err error }

func (e *sentError) Unwrap() error { return e.err }

func (e *sentError) Error() string {
	mark := markFailed
	if fault.IsInput(e.err) {
		mark = markInput
	}
	text := e.err.Error()
	return text + " [" + mark + base64.StdEncoding.EncodeToString([]byte(text)) + ";]"
}

// decoded returns the first error that was sent in a text, nil for none.
func decoded(text string) error {
	m := marked.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	words, err := base64.StdEncoding.DecodeString(m[2])
	if err != nil {
		return nil
	}
	if m[1] == markInput {
		return &InputError{string(words)}
	}
	return errors.New(string(words))
}

// InputError is a typed error of a worker's input that has come as text.
type InputError struct{ message string }

func (e *InputError) Error() string { return e.message }

// InputFault marks the error as caused by the caller's input.
func (e *InputError) InputFault() {}
