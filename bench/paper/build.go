package paper

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/mustlink/mustlink/engine"
)

// Build describes the program and the machine that computed a result: values and times can be
// compared only with regard to it.
type Build struct {
	Version string `json:"version"` // version of this module, with the commit if it is known
	Go      string `json:"go"`
	Tags    string `json:"tags"` // build tags, "" for none
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPU     string `json:"cpu"`
	CPUs    int    `json:"cpus"`    // logical, as the process sees them
	Backend string `json:"backend"` // with library version and threads
	Workers int    `json:"workers"` // trials at a time
}

// String returns the line that goes under a table.
func (b Build) String() string {
	tags := "no tags"
	if b.Tags != "" {
		tags = "tags " + b.Tags
	}
	return fmt.Sprintf("mustlink %s, %s %s/%s, %s; backend %s; %d trials at a time on %d logical CPUs (%s)",
		b.Version, b.Go, b.OS, b.Arch, tags, b.Backend, b.Workers, b.CPUs, b.CPU)
}

// DescribeBuild describes this program on an engine, with the given number of trials at a time.
func DescribeBuild(eng *engine.Engine, workers int) Build {
	b := Build{
		Version: "(unknown version)",
		Go:      runtime.Version(),
		OS:      runtime.GOOS,
		Arch:    runtime.GOARCH,
		CPU:     cpuName(),
		CPUs:    runtime.NumCPU(),
		Backend: eng.Backend().Describe(),
		Workers: workers,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			b.Tags = s.Value
		}
	}
	return b
}

// cpuName returns the name of the processor as Linux reports it, or a text that it is not known.
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(line, ":")
			if strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return "model not known"
}
