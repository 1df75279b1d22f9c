package job

import (
	"encoding/base64"
	"errors"
	"regexp"

	"github.com/mustlink/mustlink/engine/fault"
)

// A runner passes errors of workers on as text, with other text around them. These marks enclose
// the message for the user.
const (
	markInput  = "mustlink-input:"
	markFailed = "mustlink-failed:"
)

var marked = regexp.MustCompile(`(` + markInput + `|` + markFailed + `)([A-Za-z0-9+/=]+);`)

// Wrap returns an error whose message reaches the user unchanged, as the error of [Run]. DoFns
// return only such errors.
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

// sentError is a marked error.
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

// decoded returns the first marked error in a text, nil for none.
func decoded(text string) error {
	m := marked.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	message, err := base64.StdEncoding.DecodeString(m[2])
	if err != nil {
		return nil
	}
	if m[1] == markInput {
		return &InputError{string(message)}
	}
	return errors.New(string(message))
}

// InputError is an error of a worker that its input caused. The worker's error type is lost,
// because errors travel as text.
type InputError struct{ message string }

func (e *InputError) Error() string { return e.message }

// InputFault marks the error as caused by the caller's input.
func (e *InputError) InputFault() {}
