// Command mustlink-bench measures mustlink: tables and figures of the papers with our results next
// to the printed ones, comparisons of all methods on all data sets, speed compared with other
// libraries, and long loads.
//
// Environment: MUSTLINK_DATA is the folder of data sets; MUSTLINK_BACKEND and MUSTLINK_SIMD choose
// the linear algebra.
//
// Exit codes: 0 done, 1 failed, 2 wrong usage or bad input, 128 + N ended by the signal N.
package main

import (
	"io"
	"log"
	"os"

	"github.com/mustlink/mustlink/bench/commands"
	"github.com/mustlink/mustlink/internal/progress"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// garbage is the same as in the command mustlink, so that both programs run alike.
const garbage = 32 << 20

func main() {
	log.SetOutput(io.Discard) // the plotting library logs what it also returns
	os.Exit(usage.Run(commands.Root(&session.Session{
		Name: "mustlink-bench", Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Garbage: garbage,
		NewBar:  progress.New,
	})))
}
