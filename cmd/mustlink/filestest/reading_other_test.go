//go:build unix && !linux

package filestest

import (
	"io"
	"testing"
	"time"
)

// awaitReading waits as long as a command usually takes to begin: pipes do not say what they hold.
func awaitReading(*testing.T, io.Writer) { time.Sleep(time.Second) }
