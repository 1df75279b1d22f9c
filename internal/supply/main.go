// Supply prints the bill of materials of a Go program that is given by its file: the modules that it links and
// the settings of its build. Its test looks at the licences of the modules.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: want the file of a Go program", len(args))
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(Bill(info))
}
