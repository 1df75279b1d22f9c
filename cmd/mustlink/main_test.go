package main

import (
	"os"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m, ".")) }
