// Package filestest tests how the command handles files, pipes, signals and mistakes. This does not
// depend on the linear algebra, so only one build runs the tests.
package filestest

import (
	"os"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
)

func TestMain(m *testing.M) { os.Exit(commandtest.Main(m, "..")) }
