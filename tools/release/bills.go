package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

const home = "https://github.com/mustlink/mustlink"

// hashes returns the names and SHA-256 sums of the files so far, in the order of names.
func (r *release) hashes() (names []string, sums map[string]string, err error) {
	entries, err := os.ReadDir(r.files)
	if err != nil {
		return nil, nil, err
	}
	sums = map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(r.files, e.Name()))
		if err != nil {
			return nil, nil, err
		}
		names = append(names, e.Name())
		sums[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return names, sums, nil
}

// writeJSON writes a value to a file of the release.
func (r *release) writeJSON(name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.files, name), b.Bytes(), 0o644)
}

// bills writes the bills of materials of the command, in both formats, and the provenance.
func (r *release) bills() error {
	program := r.program(runtime.GOOS + "/" + runtime.GOARCH)
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	supply := filepath.Join(r.work, "supply")
	if _, err := r.output(filepath.Join(r.clone, "tools"), nil, "go", "build", "-o", supply,
		"./supply"); err != nil {
		return err
	}
	bill, err := r.output(r.clone, nil, supply, program)
	if err != nil {
		return err
	}
	name := "mustlink_" + r.version
	if err := os.WriteFile(filepath.Join(r.files, name+".cdx.json"), []byte(bill+"\n"), 0o644); err != nil {
		return err
	}
	if err := r.writeJSON(name+".spdx.json", r.spdx(info)); err != nil {
		return err
	}
	names, sums, err := r.hashes()
	if err != nil {
		return err
	}
	return r.writeJSON(name+".intoto.json", r.provenance(names, sums, info.GoVersion))
}

// spdx is the bill of materials in the form of SPDX 2.3, as JSON.
func (r *release) spdx(info *debug.BuildInfo) map[string]any {
	var packages, relations []map[string]any
	add := func(id, name, version, license, relation, of string) {
		packages = append(packages, map[string]any{"SPDXID": id, "name": name, "versionInfo": version,
			"downloadLocation": "NOASSERTION", "filesAnalyzed": false, "licenseConcluded": license,
			"externalRefs": []map[string]string{{"referenceCategory": "PACKAGE-MANAGER",
				"referenceType": "purl", "referenceLocator": "pkg:golang/" + name + "@" + version}}})
		relations = append(relations, map[string]any{"spdxElementId": of, "relationshipType": relation,
			"relatedSpdxElement": id})
	}
	const own = "SPDXRef-mustlink"
	add(own, info.Main.Path, "v"+r.version, "BSD-3-Clause", "DESCRIBES", "SPDXRef-DOCUMENT")
	add("SPDXRef-0", "std", info.GoVersion, "BSD-3-Clause", "DEPENDS_ON", own)
	for i, m := range info.Deps {
		add(fmt.Sprintf("SPDXRef-%d", i+1), m.Path, m.Version, "NOASSERTION", "DEPENDS_ON", own)
	}
	return map[string]any{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
		"name": "mustlink-" + r.version, "documentNamespace": home + "/spdx/" + r.version + "/" + r.commit,
		"creationInfo": map[string]any{"created": r.when.Format(time.RFC3339),
			"creators": []string{"Tool: mustlink-release"}},
		"packages": packages, "relationships": relations}
}

// provenance is a statement of in-toto with SLSA's predicate: the commit that the files were built
// from.
func (r *release) provenance(names []string, sums map[string]string, goVersion string) map[string]any {
	var subjects []map[string]any
	for _, name := range names {
		subjects = append(subjects, map[string]any{"name": name,
			"digest": map[string]string{"sha256": sums[name]}})
	}
	return map[string]any{"_type": "https://in-toto.io/Statement/v1", "subject": subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{"buildType": home + "/tools/release",
				"externalParameters": map[string]any{"version": r.version, "platforms": r.platforms},
				"resolvedDependencies": []map[string]any{
					{"uri": "git+" + home, "digest": map[string]string{"gitCommit": r.commit}},
					{"name": "go", "annotations": map[string]string{"version": goVersion}}}},
			"runDetails": map[string]any{"builder": map[string]string{"id": home + "/tools/release"}}}}
}

func (r *release) sums() error {
	names, sums, err := r.hashes()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s  %s\n", sums[name], name)
	}
	return os.WriteFile(filepath.Join(r.files, "SHA256SUMS"), []byte(b.String()), 0o644)
}

// sign signs SHA256SUMS, which covers all other files.
func (r *release) sign() error {
	if r.key == "" {
		say("not signed: no key (-key FILE or MINISIGN_KEY)")
		return nil
	}
	cmd := exec.CommandContext(r.ctx, "minisign", "-S", "-s", r.key, "-t", "mustlink "+r.version, "-m",
		filepath.Join(r.files, "SHA256SUMS"))
	cmd.Stdin = os.Stdin // for the password of the key
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("minisign: %w: %s", err, strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}
