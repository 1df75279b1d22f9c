package session

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/usage"
)

// Number is a number whose JSON is null if it is not defined.
type Number float64

// MarshalJSON implements json.Marshaler: NaN and infinities become null.
func (v Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// String writes four decimals, enough for scores.
func (v Number) String() string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return strconv.FormatFloat(float64(v), 'f', 4, 64)
}

// Warnf prints a warning to standard error and keeps it for the JSON report, unless it did so
// before. It is safe for concurrent use.
func (s *Session) Warnf(format string, args ...any) {
	message := Printable(fmt.Sprintf(format, args...))
	s.warning.Lock()
	defer s.warning.Unlock()
	if slices.Contains(s.warnings, message) {
		return
	}
	s.warnings = append(s.warnings, message)
	s.course.aside(s, func() { fmt.Fprintln(s.Stderr, s.Name+": warning: "+message) })
}

// WarnOf prints warnings about something with a name, which may be "".
func (s *Session) WarnOf(name string, warnings []string) {
	if name != "" {
		name += ": "
	}
	for _, w := range warnings {
		s.Warnf("%s%s", name, w)
	}
}

// Warnings returns the warnings for a JSON report: never nil, so that the field is
// always a list.
func (s *Session) Warnings() []string {
	s.warning.Lock()
	defer s.warning.Unlock()
	return append([]string{}, s.warnings...)
}

// Print writes the result of a command: v as JSON with --json, else text.
func (s *Session) Print(v any, text func(w io.Writer)) error {
	return s.PrintTo(s.Stdout, v, text)
}

// Summarize is Print for commands whose product is a file: it writes nothing with --quiet (unless
// --json is given), and writes to standard error if the product goes to standard output.
func (s *Session) Summarize(product string, v any, text func(w io.Writer)) error {
	w := s.Stdout
	if product == Stream {
		w = s.Stderr
	}
	if s.Quiet && !s.JSON {
		return nil
	}
	return s.PrintTo(w, v, text)
}

// PrintTo is Print to w.
func (s *Session) PrintTo(w io.Writer, v any, text func(w io.Writer)) error {
	if s.JSON {
		return EncodeJSON(w, v)
	}
	tw := tabwriter.NewWriter(terminal{w}, 0, 0, 2, ' ', 0)
	text(tw)
	return tw.Flush()
}

// Printable returns a text of a user's file as it can be shown in a line: with line ends, escape
// sequences and other letters that do not show written as in Go, \n or \x1b.
func Printable(text string) string {
	return escaped(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// LongName is the number of letters of a name of a column that people read.
const LongName = 60

// Clip shortens a text to so many letters.
func Clip(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}

// terminal is text whose lines are laid out already: it escapes what a terminal would obey.
type terminal struct{ io.Writer }

func (t terminal) Write(b []byte) (int, error) {
	_, err := io.WriteString(t.Writer, escaped(string(b), func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	}))
	return len(b), err
}

// escaped returns a text with some letters written as in Go.
func escaped(text string, some func(rune) bool) string {
	if !strings.ContainsFunc(text, some) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if some(r) {
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// EncodeJSON writes v as indented JSON.
func EncodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Joined writes numbers with a separator between them.
func Joined(numbers []int, separator string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", separator)
}

// Quantile returns the value below which the fraction q of the values lies, the lower one
// of two; NaN without values.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1))]
}

// ShortTime writes a duration in seconds with about three digits.
func ShortTime(seconds float64) string {
	unit := 10 * time.Millisecond
	switch {
	case seconds < 0.01:
		unit = 10 * time.Microsecond
	case seconds < 1:
		unit = time.Millisecond
	}
	return time.Duration(seconds * float64(time.Second)).Round(unit).String()
}

// versionReport is the result of the version command.
type versionReport struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// versionHere returns the versions of this program.
func versionHere() versionReport {
	return versionReport{catalog.Version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// VersionCommand returns the command that prints the version of the program. It makes no engine, so
// it also answers where the settings of one are wrong.
func (s *Session) VersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Long:    "Print the version of this program, that of Go, and the platform; info says more.",
		Example: fmt.Sprintf("  %s version", s.Name),
		Args:    usage.Positional(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			r := versionHere()
			return s.Print(r, func(w io.Writer) {
				fmt.Fprintf(w, "%s %s (%s, %s)\n", s.Name, r.Version, r.Go, r.Platform)
			})
		},
	}
}

// infoReport is the result of the info command.
type infoReport struct {
	versionReport
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
	tags, cgo := catalog.BuildTags()
	r := infoReport{
		versionReport: versionHere(),
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
