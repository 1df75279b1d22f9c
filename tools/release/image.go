package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// blob is the descriptor of a file of an image, as the OCI image specification 1.1 names it.
type blob struct {
	MediaType string    `json:"mediaType"`
	Digest    string    `json:"digest"`
	Size      int       `json:"size"`
	Platform  *platform `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

const ociType = "application/vnd.oci.image."

// containers writes the container images as archives in the OCI layout: one of the static command
// alone, for each platform with Linux, and for this machine one with OpenBLAS.
func (r *release) containers() error {
	static := map[string][]entry{}
	for _, name := range r.platforms {
		if strings.HasPrefix(name, "linux/") {
			content, err := os.ReadFile(r.program(name))
			if err != nil {
				return err
			}
			static[name] = []entry{{"usr/bin/mustlink", 0o755, content}}
		}
	}
	if err := r.image("mustlink_"+r.version+"_oci.tar", static); err != nil {
		return err
	}
	own := runtime.GOOS + "/" + runtime.GOARCH
	if static[own] == nil {
		return nil
	}
	if _, err := r.output(r.work, nil, "pkg-config", "--exists", "openblas", "lapacke"); err != nil {
		say("no image with OpenBLAS: pkg-config does not find openblas and lapacke")
		return nil
	}
	files, err := r.withOpenBLAS()
	if err != nil {
		return err
	}
	return r.image("mustlink_"+r.version+"_openblas_oci.tar", map[string][]entry{own: files})
}

var library = regexp.MustCompile(`(?:=> |^\s*)(/\S+) \(`)

// withOpenBLAS returns the command of the build netlib, the libraries of this machine that it
// needs, and their license texts, which Debian keeps in the folder of each package.
func (r *release) withOpenBLAS() ([]entry, error) {
	program := filepath.Join(r.work, "openblas", "mustlink")
	err := r.build(program, []string{"CGO_ENABLED=1"}, "", "-tags", "netlib", "./cmd/mustlink")
	if err != nil {
		return nil, err
	}
	needed, err := r.output(r.work, nil, "ldd", program)
	if err != nil {
		return nil, err
	}
	from := map[string]string{"usr/bin/mustlink": program}
	for line := range strings.Lines(needed) {
		found := library.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		file, err := filepath.EvalSymlinks(found[1])
		if err != nil {
			return nil, err
		}
		from[strings.TrimPrefix(found[1], "/")] = file
		owner, err := r.output(r.work, nil, "dpkg", "-S", "*"+strings.TrimPrefix(file, "/usr"))
		if err != nil {
			return nil, err
		}
		text := "/usr/share/doc/" + owner[:strings.IndexByte(owner, ':')] + "/copyright"
		from[text[1:]] = text
	}
	var files []entry
	for to, file := range from {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		files = append(files, entry{to, 0o755, content})
	}
	return files, nil
}

// image writes an image of some files for each platform. It runs as user 10001 in the folder /data.
func (r *release) image(name string, files map[string][]entry) error {
	var images []blob
	var entries []entry
	add := func(kind string, content []byte) blob {
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		entries = append(entries, entry{"blobs/sha256/" + sum, 0o644, content})
		return blob{MediaType: ociType + kind, Digest: "sha256:" + sum, Size: len(content)}
	}
	addJSON := func(kind string, v any) blob {
		content, _ := json.Marshal(v) // maps, texts and numbers: cannot fail
		return add(kind, content)
	}
	for _, on := range slices.Sorted(maps.Keys(files)) {
		goos, arch, _ := strings.Cut(on, "/")
		layer, id, err := r.layer(files[on])
		if err != nil {
			return err
		}
		config := addJSON("config.v1+json", map[string]any{
			"architecture": arch, "os": goos, "created": r.when.Format(time.RFC3339),
			"config": map[string]any{"User": "10001:10001", "WorkingDir": "/data",
				"Entrypoint": []string{"/usr/bin/mustlink"}, "Cmd": []string{"--help"},
				"Labels": map[string]string{"org.opencontainers.image.version": r.version,
					"org.opencontainers.image.revision": r.commit,
					"org.opencontainers.image.licenses": "BSD-3-Clause",
					"org.opencontainers.image.source":   home}},
			"rootfs": map[string]any{"type": "layers", "diff_ids": []string{id}}})
		layers := []blob{add("layer.v1.tar+gzip", layer)}
		image := addJSON("manifest.v1+json", map[string]any{"schemaVersion": 2,
			"mediaType": ociType + "manifest.v1+json", "config": config, "layers": layers})
		image.Platform = &platform{arch, goos}
		images = append(images, image)
	}
	if images == nil {
		return nil
	}
	index := map[string]any{"schemaVersion": 2, "mediaType": ociType + "index.v1+json", "manifests": images}
	content, err := json.Marshal(index)
	if err != nil {
		return err
	}
	entries = append(entries, entry{"index.json", 0o644, content},
		entry{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)})
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.name == b.name })
	say("%s", name)
	return toFile(filepath.Join(r.files, name), entries, r.when, writeTar)
}

// layer returns the compressed layer with some files and the licenses, and the digest of the layer
// before compression. The folders /data and /tmp come to be with a file of no bytes in each.
func (r *release) layer(files []entry) (compressed []byte, id string, err error) {
	licenses, err := tree(filepath.Join(r.work, "share", "licenses"), "usr/share/doc/mustlink/licenses")
	if err != nil {
		return nil, "", err
	}
	files = slices.Concat(files, licenses, []entry{{"data/.keep", 0o644, nil}, {"tmp/.keep", 0o644, nil}})
	var plain, small bytes.Buffer
	if err := writeTar(&plain, files, r.when); err != nil {
		return nil, "", err
	}
	err = writeTarGz(&small, files, r.when)
	return small.Bytes(), fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes())), err
}
