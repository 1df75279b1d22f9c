// Supply prints the bill of materials of a Go program, given its file: the linked modules and the
// build settings. Its test checks the licenses of the modules.
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: want one, the file of a Go program", len(args))
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(Bill(info))
}

// BOM is a bill of materials in the form of CycloneDX 1.6, as JSON.
type BOM struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   Metadata    `json:"metadata"`
	Components []Component `json:"components"`
}

// Metadata names the program of the bill.
type Metadata struct {
	Component Component `json:"component"`
}

// Component is a module or the program.
type Component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []Property `json:"properties,omitempty"`
}

// Property is a fact without a field in the format: the module's checksum, a build setting.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Bill returns the bill of materials of the program with this build information, in the order of
// names.
func Bill(info *debug.BuildInfo) BOM {
	b := BOM{Format: "CycloneDX", Spec: "1.6", Version: 1, Components: []Component{}}
	b.Metadata.Component = component("application", &info.Main)
	for _, s := range info.Settings {
		b.Metadata.Component.Properties = append(b.Metadata.Component.Properties,
			Property{"go:build:" + s.Key, s.Value})
	}
	b.Components = append(b.Components,
		Component{Type: "library", Name: "std", Version: info.GoVersion,
			PURL: "pkg:golang/std@" + info.GoVersion})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, component("library", m))
	}
	slices.SortFunc(b.Components, func(x, y Component) int { return cmp.Compare(x.Name, y.Name) })
	return b
}

func component(kind string, m *debug.Module) Component {
	c := Component{Type: kind, Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" +
		m.Version}
	if m.Sum != "" {
		c.Properties = []Property{{"go:sum", m.Sum}}
	}
	return c
}
