package pygen

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the Python module anew")

const module = "../../python/mustlink/_estimators.py"

// TestModule: the estimators of the Python package are the methods of the catalog.
func TestModule(t *testing.T) {
	now, err := Source()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(module, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	then, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	if string(then) != now {
		t.Error("_estimators.py is not what the catalog says: run make python-methods")
	}
}
