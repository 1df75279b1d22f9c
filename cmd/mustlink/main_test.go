package main

import (
	"os"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/commandtest"
)

func TestMain(m *testing.M) { os.Exit(commandtest.Main(m, ".")) }
