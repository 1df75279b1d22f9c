// Package filestest tests what the command does with files, pipes, signals and mistakes, which does
// not depend on the linear algebra: one build runs it.
package filestest

import (
	"os"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m, "..")) }
