package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestLicenses: every module that a build links has a permissive license; modules that only tests
// link may also have the Mozilla license.
func TestLicenses(t *testing.T) {
	linked, tested := modules(t, ".", linkable), modules(t, ".", []string{"./..."}, "-test")
	maps.Copy(linked, modules(t, "bench", []string{"./..."}))
	maps.Copy(tested, modules(t, "bench", []string{"./..."}, "-test"))
	maps.Copy(tested, modules(t, "tools", []string{"./..."}, "-test"))
	if len(linked) < 10 || len(tested) <= len(linked) {
		t.Fatalf("go list names %d modules of builds and %d of tests: want more", len(linked), len(tested))
	}
	for name, dir := range tested {
		license := licenseIn(t, dir)
		if _, built := linked[name]; license == "" || built && license == "MPL-2.0" {
			t.Errorf("%s: the license in %s is not known to be permissive", name, dir)
		}
		t.Logf("%-14s %s", license, name)
	}
}

// linkable are all packages except those for the project's own tests and tools.
var linkable = []string{".", "./asm/...", "./blas/...", "./engine/...", "./solvers/...", "./algorithms/...",
	"./export/...", "./cmd/..."}

// modules returns the folders of the modules, by path and version, that the three builds link for
// packages of the module in a folder.
func modules(t *testing.T, folder string, packages []string, flags ...string) map[string]string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go tool is not in PATH")
	}
	found := map[string]string{}
	for _, tags := range []string{"", "netlib", "purego,noasm"} {
		args := append([]string{"list", "-deps", "-tags", tags, "-f",
			"{{with .Module}}{{if .Version}}{{if not .Replace}}{{.Path}}@{{.Version}} " +
				"{{.Dir}}{{end}}{{end}}{{end}}"}, flags...)
		cmd := exec.Command(tool, append(args, packages...)...)
		cmd.Dir = filepath.Join("../..", folder)
		cmd.Env = append(os.Environ(), "GOFLAGS=")
		if tags == "purego,noasm" {
			cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list -tags %q: %v", tags, err)
		}
		for line := range strings.Lines(string(out)) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				found[name] = dir
			}
		}
	}
	return found
}

// licenseIn returns the license of a module, from the files with the usual names.
func licenseIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") &&
			name != "UNLICENSE" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if license := License(string(text)); license != "" {
			return license
		}
	}
	return ""
}

func TestLicense(t *testing.T) {
	for text, want := range map[string]string{
		"Redistribution and use in\n source and binary forms ... Neither the name of":         "BSD-3-Clause",
		"Redistribution and use in source and binary forms":                                   "BSD-2-Clause",
		"Permission is hereby granted, free of charge, to any person ... without restriction": "MIT",
		"Apache License\n Version 2.0, January 2004":                                          "Apache-2.0",
		"GNU GENERAL PUBLIC LICENSE Version 3 ... Apache License Version 2.0":                 "",

		"GNU Lesser General Public License, linked with Redistribution and use in source and binary forms": "",

		"Mozilla Public License Version 2.0":          "MPL-2.0",
		"Creative Commons Attribution-ShareAlike 4.0": "",
		"All rights reserved.":                        "",
		"":                                            "",
	} {
		if got := License(text); got != want {
			t.Errorf("%q is %q: want %q", text, got, want)
		}
	}
}

// TestBill: modules are in order, replaced ones are named by their replacement, with checksums and
// build settings.
func TestBill(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.0",
		Main: debug.Module{Path: "example.com/main", Version: "(devel)"},
		Deps: []*debug.Module{{Path: "z.org/z", Version: "v1.0.0", Sum: "h1:abc="},
			{Path: "a.org/a", Version: "v2.0.0", Replace: &debug.Module{Path: "b.org/b", Version: "v2.1.0"}}},
		Settings: []debug.BuildSetting{{Key: "-tags", Value: "netlib"}}}
	b := Bill(info)
	var names []string
	for _, c := range b.Components {
		names = append(names, c.PURL)
	}
	if want := []string{"pkg:golang/b.org/b@v2.1.0", "pkg:golang/std@go1.26.0",
		"pkg:golang/z.org/z@v1.0.0"}; !slices.Equal(names, want) {
		t.Errorf("components %q: want %q", names, want)
	}
	if p := b.Components[2].Properties; len(p) != 1 || p[0].Value != "h1:abc=" {
		t.Errorf("properties of z: %v", p)
	}
	if m := b.Metadata.Component; m.Type != "application" || m.Name != "example.com/main" ||
		len(m.Properties) != 1 {
		t.Errorf("the program is %+v", m)
	}
}
