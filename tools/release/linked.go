package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// compilers are the C compilers, and the names that Debian and Python use for a platform. threads
// is the version that glibc gave the functions for threads there, before 2.34 gave them new ones.
var compilers = map[string]struct{ cc, debian, python, threads string }{
	"linux/amd64":   {"x86_64-linux-gnu-gcc", "amd64", "x86_64", "GLIBC_2.2.5"},
	"linux/arm64":   {"aarch64-linux-gnu-gcc", "arm64", "aarch64", "GLIBC_2.17"},
	"windows/amd64": {"x86_64-w64-mingw32-gcc", "", "win_amd64", ""},
}

// linked builds what contains the C library: wheels, their source archive, and Debian packages.
func (r *release) linked() error {
	if err := r.python(); err != nil {
		return err
	}
	wheel := ""
	for _, platform := range r.platforms {
		c, ok := compilers[platform]
		if !ok {
			say("no wheel for %s: there is no C compiler for it", platform)
			continue
		}
		if _, err := exec.LookPath(c.cc); err != nil {
			say("no wheel and no package of the library for %s: there is no %s", platform, c.cc)
			continue
		}
		goos, arch, _ := strings.Cut(platform, "/")
		env := []string{"CGO_ENABLED=1", "GOOS=" + goos, "GOARCH=" + arch, "CC=" + c.cc}
		folder := filepath.Dir(r.program(platform))
		library, tag := filepath.Join(folder, "libmustlink.dll"), c.python
		flags := "-extldflags '-static-libgcc'"
		if goos == "linux" {
			threads, err := r.oldThreads(folder, c.cc, c.threads)
			if err != nil {
				return fmt.Errorf("%s: %w", platform, err)
			}
			library = filepath.Join(folder, "libmustlink.so.1")
			flags = "-extldflags '" + threads + " -Wl,--version-script=" +
				filepath.Join(r.clone, "cmd/libmustlink/libmustlink.map") +
				" -Wl,-soname,libmustlink.so.1 -Wl,--build-id=none'"
		}
		if err := r.build(library, env, flags, "-buildmode=c-shared", "./cmd/libmustlink"); err != nil {
			return fmt.Errorf("the library for %s: %w", platform, err)
		}
		if goos == "linux" {
			glibc, err := r.glibc(library)
			if err != nil {
				return err
			}
			tag = "manylinux_" + strings.ReplaceAll(glibc, ".", "_") + "_" + c.python
			if err := r.debian(platform, c.debian, library, glibc); err != nil {
				return err
			}
		}
		var err error
		if wheel, err = r.wheel(library, tag); err != nil {
			return err
		}
	}
	if wheel == "" {
		return nil
	}
	return r.sdist(wheel)
}

// threadFunctions are the functions that the library uses of those that moved from libpthread to
// libc in glibc 2.34, where they got new versions.
var threadFunctions = []string{"pthread_attr_getstack", "pthread_attr_getstacksize", "pthread_create",
	"pthread_getattr_np", "pthread_getspecific", "pthread_key_create", "pthread_setspecific",
	"pthread_sigmask"}

// oldThreads makes an empty library with these functions, in a version that every glibc has since
// then. Linked before libc, it lets the library run with a glibc older than that of this machine.
func (r *release) oldThreads(folder, cc, version string) (string, error) {
	code, script, library := filepath.Join(folder, "threads.c"), filepath.Join(folder, "threads.map"),
		filepath.Join(folder, "libthreads.so")
	functions := ""
	for _, name := range threadFunctions {
		functions += "void " + name + "(void) {}\n"
	}
	text := version + " { global: " + strings.Join(threadFunctions, "; ") + "; local: *; };\n"
	for file, content := range map[string]string{code: functions, script: text} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	_, err := r.output(folder, nil, cc, "-shared", "-nostdlib", "-fno-builtin", "-Wl,-soname,libpthread.so.0",
		"-Wl,--version-script="+script, "-o", library, code)
	return library, err
}

var glibcSymbol = regexp.MustCompile(`GLIBC_(\d+)\.(\d+)`)

// newestGlibc returns the newest version of glibc that the symbols of a library ask for, from the
// output of readelf --version-info, or "".
func newestGlibc(info string) string {
	major, minor := 0, 0
	for _, m := range glibcSymbol.FindAllStringSubmatch(info, -1) {
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[2])
		if a > major || a == major && b > minor {
			major, minor = a, b
		}
	}
	if major == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", major, minor)
}

// allowed are the libraries that a wheel for manylinux may take from the system.
var allowed = regexp.MustCompile(`^(libc|libm|libpthread|libdl|librt|ld-linux-[a-z0-9-]+|libresolv)\.so\.\d+$`)

var needed = regexp.MustCompile(`\(NEEDED\).*\[(.*)\]`)

// glibc returns the version of glibc that a library requires, and refuses other libraries.
func (r *release) glibc(library string) (string, error) {
	info, err := r.output(r.work, []string{"LC_ALL=C"}, "readelf", "--version-info", "--dynamic", "--wide",
		library)
	if err != nil {
		return "", err
	}
	for _, m := range needed.FindAllStringSubmatch(info, -1) {
		if !allowed.MatchString(m[1]) {
			return "", fmt.Errorf("%s needs %s, which manylinux does not have", filepath.Base(library), m[1])
		}
	}
	version := newestGlibc(info)
	if version == "" {
		return "", fmt.Errorf("%s: readelf lists no symbol of glibc", filepath.Base(library))
	}
	return version, nil
}

// epoch makes tools that write times use that of the commit.
func (r *release) epoch() []string {
	return []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.when.Unix(), 10),
		"PYTHONDONTWRITEBYTECODE=1", "TZ=UTC", "PYTHONHASHSEED=0"}
}

// pythonVersion is a version as Python writes it: 1.0.0-rc.1 is 1.0.0rc1.
func pythonVersion(v string) string {
	base, pre, _ := strings.Cut(v, "-")
	return base + strings.ReplaceAll(pre, ".", "")
}

// python makes the folder of the Python package, without a library.
func (r *release) python() error {
	source := filepath.Join(r.work, "python")
	for from, to := range map[string]string{filepath.Join(r.clone, "cmd/libmustlink/python"): source,
		filepath.Join(r.work, "share/licenses"): filepath.Join(source, "licenses")} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return err
		}
	}
	if err := copyFile(filepath.Join(r.clone, "LICENSE"), filepath.Join(source, "LICENSE")); err != nil {
		return err
	}
	version := fmt.Sprintf("__version__ = %q\n", pythonVersion(r.version))
	return os.WriteFile(filepath.Join(source, "mustlink", "_version.py"), []byte(version), 0o644)
}

// wheel builds the wheel with a library, for a platform as Python names it, and returns its path.
func (r *release) wheel(library, platform string) (string, error) {
	source := filepath.Join(r.work, "python-"+platform)
	if err := os.CopyFS(source, os.DirFS(filepath.Join(r.work, "python"))); err != nil {
		return "", err
	}
	inside := strings.TrimSuffix(filepath.Base(library), ".1")
	if err := copyFile(library, filepath.Join(source, "mustlink", inside)); err != nil {
		return "", err
	}
	if _, err := r.output(source, r.epoch(), "/usr/bin/python3", "setup.py", "-q", "bdist_wheel",
		"--plat-name", platform, "--dist-dir", r.files); err != nil {
		return "", err
	}
	say("wheel for %s", platform)
	return filepath.Join(r.files, "mustlink-"+pythonVersion(r.version)+"-py3-none-"+platform+".whl"), nil
}

// debian builds the packages mustlink, libmustlink1 with the header, and python3-mustlink.
func (r *release) debian(platform, arch, library, glibc string) error {
	share := filepath.Join(r.work, "share")
	folder := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[arch]
	command, err := tree(filepath.Join(share, "man"), "usr/share/man")
	if err != nil {
		return err
	}
	licenses, err := tree(filepath.Join(share, "licenses"), "licenses")
	if err != nil {
		return err
	}
	python, err := tree(filepath.Join(r.clone, "cmd/libmustlink/python/mustlink"),
		"usr/lib/python3/dist-packages/mustlink")
	if err != nil {
		return err
	}
	for i := range python {
		if strings.HasSuffix(python[i].name, "/_version.py") {
			python[i].content = fmt.Appendf(nil, "__version__ = %q\n", pythonVersion(r.version))
		}
	}
	read := func(list *[]entry, from, to string, mode fs.FileMode) {
		content, e := os.ReadFile(from)
		if e != nil && err == nil {
			err = e
		}
		*list = append(*list, entry{to, mode, content})
	}
	read(&command, r.program(platform), "usr/bin/mustlink", 0o755)
	read(&command, filepath.Join(share, "completions/mustlink.bash"),
		"usr/share/bash-completion/completions/mustlink", 0o644)
	read(&command, filepath.Join(share, "completions/_mustlink"),
		"usr/share/zsh/vendor-completions/_mustlink", 0o644)
	read(&command, filepath.Join(share, "completions/mustlink.fish"),
		"usr/share/fish/vendor_completions.d/mustlink.fish", 0o644)
	var lib []entry
	read(&lib, library, "usr/lib/"+folder+"/libmustlink.so.1", 0o644)
	read(&lib, filepath.Join(r.clone, "cmd/libmustlink/mustlink.h"), "usr/include/mustlink.h", 0o644)
	read(&lib, filepath.Join(r.clone, "cmd/libmustlink/mustlink.pc.in"),
		"usr/lib/"+folder+"/pkgconfig/mustlink.pc", 0o644)
	pc := &lib[len(lib)-1].content
	*pc = []byte(strings.NewReplacer("@VERSION@", r.version, "@REQUIRES@", "", "${pcfiledir}/../..", "/usr",
		"libdir=${prefix}/lib", "libdir=${prefix}/lib/"+folder).Replace(string(*pc)))
	var text []entry
	read(&text, filepath.Join(r.clone, "LICENSE"), "copyright", 0o644)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		name, depends, what string
		files               []entry
		link                string
	}{
		{"mustlink", "", "metrics learned from pairwise constraints", command, ""},
		{"libmustlink1", "libc6 (>= " + glibc + ")", "metrics learned from pairwise constraints: C library", lib,
			"usr/lib/" + folder + "/libmustlink.so"},
		{"python3-mustlink",
			"libmustlink1 (= " + debianVersion(r.version) + "), python3 (>= 3.9), python3-numpy",
			"metrics learned from pairwise constraints: Python package", python, ""},
	} {
		for _, l := range append(text, licenses...) {
			l.name = "usr/share/doc/" + p.name + "/" + l.name
			p.files = append(p.files, l)
		}
		if err := r.dpkg(p.name, arch, p.depends, p.what, p.files, p.link); err != nil {
			return err
		}
	}
	say("Debian packages for %s", arch)
	return nil
}

// debianVersion is a version as Debian writes it: 1.0.0~rc.1 comes before 1.0.0.
func debianVersion(v string) string { return strings.Replace(v, "-", "~", 1) }

// dpkg builds one package. A link leads to the file of the same folder whose name ends in ".1".
func (r *release) dpkg(name, arch, depends, what string, files []entry, link string) error {
	root := filepath.Join(r.work, "deb-"+name+"-"+arch)
	size := 0
	for _, f := range files {
		to := filepath.Join(root, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, f.content, f.mode); err != nil {
			return err
		}
		size += len(f.content)
	}
	if link != "" {
		if err := os.Symlink(filepath.Base(link)+".1", filepath.Join(root, link)); err != nil {
			return err
		}
	}
	control := "Package: " + name + "\nVersion: " + debianVersion(r.version) + "\nArchitecture: " + arch +
		"\nMaintainer: The mustlink authors <mustlink@users.noreply.github.com>\nSection: science\n" +
		"Priority: optional\nHomepage: " + home + "\nInstalled-Size: " + strconv.Itoa(size/1024+1) + "\n"
	if depends != "" {
		control += "Depends: " + depends + "\n"
	}
	control += "Description: " + what + "\n Pairs of rows that belong together, and pairs that do not, teach a distance.\n"
	if err := os.MkdirAll(filepath.Join(root, "DEBIAN"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "DEBIAN/control"), []byte(control), 0o644); err != nil {
		return err
	}
	if name == "libmustlink1" {
		trigger := []byte("activate-noawait ldconfig\n")
		if err := os.WriteFile(filepath.Join(root, "DEBIAN/triggers"), trigger, 0o644); err != nil {
			return err
		}
	}
	file := fmt.Sprintf("%s_%s_%s.deb", name, debianVersion(r.version), arch)
	_, err := r.output(r.work, r.epoch(), "dpkg-deb", "--root-owner-group", "-Zxz", "--build", root,
		filepath.Join(r.files, file))
	return err
}
