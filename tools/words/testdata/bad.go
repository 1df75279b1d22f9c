// Package bad has words that are not used: colours.
package bad

import _ "example.org/colour"

// Centre is the middle. It is mended
// anew.
type Centre struct {
	neighbours int `json:"neighbours" help:"of the neighbourhood"`
}

//go:embed a-line-that-tells-the-compiler-something-and-may-go-on-beyond-the-one-hundred-characters-of-a-line
var text = "no \ncolour"

// newColour returns what lines beyond one hundred characters have too much of, which is more characters.
func newColour(unseen int) (told string) {
	for centre := range unseen {
		judges := centre
		use(judges)
	}
	return
}
