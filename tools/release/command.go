package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// build builds a package of the clone with the version, without the paths of the machine.
func (r *release) build(file string, env []string, flags string, args ...string) error {
	args = append([]string{"build", "-trimpath", "-buildvcs=true", "-o", file, "-ldflags",
		strings.TrimSpace("-s -w -buildid= " + flags)}, args...)
	_, err := r.output(r.clone, append(env, "GOFLAGS="), "go", args...)
	return err
}

// program is the file of the command for a platform.
func (r *release) program(platform string) string {
	goos, arch, _ := strings.Cut(platform, "/")
	name := "mustlink"
	if goos == "windows" {
		name += ".exe"
	}
	return filepath.Join(r.work, goos+"_"+arch, name)
}

func (r *release) buildCommand(platform string) error {
	goos, arch, _ := strings.Cut(platform, "/")
	return r.build(r.program(platform), []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + arch}, "",
		"./cmd/mustlink")
}

// documents makes the folder of manual pages, completions and license texts, with a program for
// this machine.
func (r *release) documents() error {
	own := runtime.GOOS + "/" + runtime.GOARCH
	if err := r.buildCommand(own); err != nil {
		return err
	}
	share := filepath.Join(r.work, "share")
	completions := filepath.Join(share, "completions")
	for _, dir := range []string{completions, filepath.Join(share, "man")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if _, err := r.output(r.clone, nil, r.program(own), "reference", "--man",
		filepath.Join(share, "man")); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "mustlink.bash", "zsh": "_mustlink",
		"fish": "mustlink.fish", "powershell": "mustlink.ps1"} {
		text, err := r.output(r.clone, nil, r.program(own), "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(completions, name), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if err := copyFile(filepath.Join(r.clone, name), filepath.Join(share, name)); err != nil {
			return err
		}
	}
	return r.licenses(r.program(own), filepath.Join(share, "licenses"))
}

// licenses copies the license texts of the modules that a program links, and that of Go.
func (r *release) licenses(program, to string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	root, err := r.output(r.clone, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	from := map[string]string{"go": root}
	for _, m := range info.Deps {
		if from[m.Path], err = r.output(r.clone, nil, "go", "list", "-m", "-f", "{{.Dir}}",
			m.Path); err != nil {
			return err
		}
	}
	for module, dir := range from {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		found := false
		for _, e := range entries {
			upper := strings.ToUpper(e.Name())
			if e.IsDir() || !strings.HasPrefix(upper, "LICEN") && !strings.HasPrefix(upper, "COPYING") &&
				!strings.HasPrefix(upper, "NOTICE") && upper != "UNLICENSE" {
				continue
			}
			found = true
			name := filepath.Join(to, filepath.FromSlash(module), e.Name())
			if err := copyFile(filepath.Join(dir, e.Name()), name); err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("module %s: its folder has no license text", module)
		}
	}
	return nil
}

// archiveName is the name of the archive of the command, without its ending.
func (r *release) archiveName(platform string) string {
	return "mustlink_" + r.version + "_" + strings.ReplaceAll(platform, "/", "_")
}

// archive is the name of the archive of a platform: zip for Windows, otherwise tar.gz.
func (r *release) archive(platform string) string {
	if strings.HasPrefix(platform, "windows/") {
		return r.archiveName(platform) + ".zip"
	}
	return r.archiveName(platform) + ".tar.gz"
}

// commands builds the command for each platform, and its archive.
func (r *release) commands() error {
	for _, platform := range r.platforms {
		if err := r.buildCommand(platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		entries, err := tree(filepath.Join(r.work, "share"), "")
		if err != nil {
			return err
		}
		program, err := os.ReadFile(r.program(platform))
		if err != nil {
			return err
		}
		entries = append(entries, entry{path.Base(filepath.ToSlash(r.program(platform))), 0o755, program})
		for i := range entries {
			entries[i].name = r.archiveName(platform) + "/" + entries[i].name
		}
		write := writeTarGz
		if strings.HasPrefix(platform, "windows/") {
			write = writeZip
		}
		if err := toFile(filepath.Join(r.files, r.archive(platform)), entries, r.when, write); err != nil {
			return err
		}
		say("%s", r.archive(platform))
	}
	return nil
}

// javascript builds the package for npm.
func (r *release) javascript() error {
	folder := filepath.Join(r.work, "javascript")
	if _, err := r.output(r.clone, []string{"GOFLAGS="}, "make", "-s", "wasm", "WASM="+folder,
		"WASM_VERSION="+r.version); err != nil {
		return err
	}
	entries, err := tree(folder, "package")
	if err != nil {
		return err
	}
	licenses, err := tree(filepath.Join(r.work, "share/licenses"), "package/licenses")
	if err != nil {
		return err
	}
	entries, name := append(entries, licenses...), "mustlink-"+r.version+".tgz"
	if err := toFile(filepath.Join(r.files, name), entries, r.when, writeTarGz); err != nil {
		return err
	}
	say("%s", name)
	return nil
}
