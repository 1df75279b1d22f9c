package main

import (
	"io"
	"log"
	"os"

	"github.com/mustlink/mustlink/internal/progress"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// garbage is how many bytes of it there may be before it is collected, besides as many as are in use: small fits
// leave some 30 KB each, and thousands are made in a second. More than so much was not seen to be faster.
const garbage = 32 << 20

func main() {
	log.SetOutput(io.Discard) // the plotting library logs what it also returns
	s := &session.Session{
		Name: "mustlink", Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Garbage: garbage,
		NewBar: progress.New,
	}
	os.Exit(usage.Run(newRoot(&app{s})))
}
