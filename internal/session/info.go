package session

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/usage"
)

// infoReport is the result of the info command.
type infoReport struct {
	Version       string   `json:"version"`
	Go            string   `json:"go"`
	Platform      string   `json:"platform"`
	BuildTags     []string `json:"build_tags"`
	Cgo           bool     `json:"cgo"`
	Backend       string   `json:"backend"`
	BackendDetail string   `json:"backend_detail"`
	Advice        string   `json:"advice,omitempty"` // what would make the backend faster
	Backends      []string `json:"backends"`
	SIMD          string   `json:"simd"`
	SIMDLevels    []string `json:"simd_levels"`
	Workers       int      `json:"workers"`
	GOMAXPROCS    int      `json:"gomaxprocs"`
	MemoryLimit   int64    `json:"memory_limit_bytes"` // 0: none
}

// InfoCommand returns the command that describes the build of the program and the machine.
func (s *Session) InfoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "show version, build, linear algebra backend, SIMD level and limits",
		Long: `Show the build of this program and the machine that it runs on: version, build tags,
linear algebra backend with its library version and core, SIMD level, threads and limits.`,
		Example: fmt.Sprintf("  %s info\n  MUSTLINK_BACKEND=gonum %[1]s info --json", s.Name),
		Args:    usage.Positional(0, 0, ""),
		RunE:    func(*cobra.Command, []string) error { return s.info() },
	}
}

func (s *Session) info() error {
	eng, err := s.Engine()
	if err != nil {
		return err
	}
	level, err := s.SIMD()
	if err != nil {
		return err
	}
	tags, cgo := BuildTags()
	r := infoReport{
		Version:       catalog.Version(),
		Go:            runtime.Version(),
		Platform:      runtime.GOOS + "/" + runtime.GOARCH,
		BuildTags:     tags,
		Cgo:           cgo,
		Backend:       eng.Backend().Name(),
		BackendDetail: eng.Backend().Describe(),
		Advice:        blas.Advice(eng.Backend()),
		Backends:      backends.Names(),
		SIMD:          level.String(),
		Workers:       eng.Workers(),
		GOMAXPROCS:    runtime.GOMAXPROCS(0),
		MemoryLimit:   eng.MemoryLimit(),
	}
	for _, l := range asm.Supported() {
		r.SIMDLevels = append(r.SIMDLevels, l.String())
	}
	return s.Print(r, func(w io.Writer) { r.text(w) })
}

func (r infoReport) text(w io.Writer) {
	limit := "none"
	if r.MemoryLimit > 0 {
		limit = fault.FormatBytes(r.MemoryLimit)
	}
	tags := NameOr(strings.Join(r.BuildTags, ","), "none")
	cgo := "without cgo"
	if r.Cgo {
		cgo = "with cgo"
	}
	fmt.Fprintf(w, "version\t%s\n", r.Version)
	fmt.Fprintf(w, "built\t%s, %s, %s, tags %s\n", r.Go, r.Platform, cgo, tags)
	fmt.Fprintf(w, "backend\t%s\n", r.BackendDetail)
	if r.Advice != "" {
		fmt.Fprintf(w, "advice\t%s\n", r.Advice)
	}
	fmt.Fprintf(w, "backends here\t%s\n", strings.Join(r.Backends, ", "))
	fmt.Fprintf(w, "SIMD level\t%s (supported here: %s)\n", r.SIMD, strings.Join(r.SIMDLevels, ", "))
	fmt.Fprintf(w, "workers\t%d (GOMAXPROCS %d)\n", r.Workers, r.GOMAXPROCS)
	fmt.Fprintf(w, "memory limit\t%s\n", limit)
}

// BuildTags returns the tags of this build, and whether it uses cgo.
func BuildTags() (tags []string, cgo bool) {
	tags = []string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return tags, false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags":
			tags = strings.Split(s.Value, ",")
		case "CGO_ENABLED":
			cgo = s.Value == "1"
		}
	}
	return tags, cgo
}
