package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// image writes the container image as an archive in the OCI layout: the static command alone, for
// each platform with Linux. It runs as user 10001 in the folder /data.
func (r *release) image() error {
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
	for _, name := range r.platforms {
		goos, arch, _ := strings.Cut(name, "/")
		if goos != "linux" {
			continue
		}
		layer, id, err := r.layer(r.program(name))
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
	name := "mustlink_" + r.version + "_oci.tar"
	say("%s", name)
	return toFile(filepath.Join(r.files, name), entries, r.when, writeTar)
}

// layer returns the compressed layer with a program and its licenses, and the digest of the layer
// before compression. The folders /data and /tmp come to be with a file of no bytes in each.
func (r *release) layer(program string) (compressed []byte, id string, err error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, "", err
	}
	files, err := tree(filepath.Join(r.work, "share", "licenses"), "usr/share/doc/mustlink/licenses")
	if err != nil {
		return nil, "", err
	}
	files = append(files, entry{"usr/bin/mustlink", 0o755, content}, entry{"data/.keep", 0o644, nil},
		entry{"tmp/.keep", 0o644, nil})
	var plain, small bytes.Buffer
	if err := writeTar(&plain, files, r.when); err != nil {
		return nil, "", err
	}
	err = writeTarGz(&small, files, r.when)
	return small.Bytes(), fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes())), err
}
