package layering

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

const root = "../.."

func TestModule(t *testing.T) {
	faults, files, err := Scan(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("read only %d files: the scan does not see the module", files)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

// TestLaboratory: the laboratory imports no program.
func TestLaboratory(t *testing.T) {
	faults, files, err := ScanLaboratory(os.DirFS(filepath.Join(root, "bench")))
	if err != nil || files < 50 {
		t.Fatalf("%d files, error %v: the scan does not see the laboratory", files, err)
	}
	for _, f := range faults {
		t.Error(f)
	}
	tree := fstest.MapFS{
		"up.go": &fstest.MapFile{Data: []byte("package x\n\nimport _ \"" + Module +
			"/cmd/mustlink/internal/train\"\n")},
		"fine.go": &fstest.MapFile{Data: []byte("package x\n\nimport _ \"" + Module + "/internal/view\"\n")},
	}
	if faults, files, err = ScanLaboratory(tree); err != nil || files != 2 || len(faults) != 1 ||
		!strings.Contains(faults[0], "up.go: imports cmd/mustlink/internal/train") {
		t.Errorf("%d files, faults %q, error %v: want that of up.go", files, faults, err)
	}
}

// TestPureGoHoldsNoAssembly lists everything that the pure-Go build links, and finds no assembly or
// cgo outside the standard library.
func TestPureGoHoldsNoAssembly(t *testing.T) {
	format := `{{if not .Standard}}{{.ImportPath}}` +
		`|{{join .SFiles " "}} {{join .CgoFiles " "}} {{join .CFiles " "}} {{join .SysoFiles " "}}{{end}}`
	out := goList(t, "-deps", "-tags", "purego,noasm", "-f", format, "./...")
	seen := 0
	for line := range strings.Lines(out) {
		pkg, native, ok := strings.Cut(strings.TrimSpace(line), "|")
		if !ok {
			continue
		}
		seen++
		if files := strings.TrimSpace(native); files != "" {
			t.Errorf("%s brings %s into the pure-Go build", pkg, files)
		}
	}
	if seen < 10 {
		t.Fatalf("go list named only %d packages:\n%s", seen, out)
	}
}

// TestAssemblyIsVisible: the listing above finds assembly if there is some: gonum's kernels,
// without the noasm tag.
func TestAssemblyIsVisible(t *testing.T) {
	out := goList(t, "-f", `{{join .SFiles " "}}`, "-test=false", "gonum.org/v1/gonum/internal/asm/f64")
	pure := goList(t, "-tags", "purego,noasm", "-f", `{{join .SFiles " "}}`,
		"gonum.org/v1/gonum/internal/asm/f64")
	if strings.TrimSpace(pure) != "" {
		t.Errorf("noasm leaves %q", pure)
	}
	if strings.TrimSpace(out) == "" {
		t.Skip("gonum has no assembly for this platform")
	}
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go tool is not in PATH")
	}
	cmd := exec.Command(tool, append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	return string(out)
}

func TestCheck(t *testing.T) {
	const m = Module + "/"
	tests := []struct {
		pkg, imp string
		test     bool
		want     string // part of the message, "" if the import is legal
	}{
		// Floors.
		{"engine/kernel", m + "blas", false, ""},
		{"blas/internal/native", m + "asm", false, ""},
		{"cmd/mustlink", m + "internal/session", false, ""},
		{"internal/session", m + "engine", false, ""},
		{"internal/session", m + "internal/usage", false, ""},
		{"internal/view", m + "internal/session", false, "upward"},
		{"algorithms/krca", m + "internal/usage", false, "upward"},
		{"internal/session", m + "cmd/mustlink", false, "upward"},
		{"", m + "algorithms/krca", false, ""},
		{"asm", m + "blas", false, "upward"},
		{"blas", m + "engine", false, "upward"},
		{"blas/internal/native", m + "engine/fault", false, "upward"},
		{"engine/kernel", m + "solvers/cg", false, "upward"},
		{"engine", m + "algorithms", false, "upward"},
		{"solvers/cg", m + "algorithms/krca", false, "upward"},
		{"algorithms", Module, false, "upward"},
		{"", m + "internal/view", false, "upward"},
		{"", "github.com/spf13/cobra", false, "not among"},
		{"cmd/mustlink", Module, false, ""},
		{"cmd/mustlink", m + "bench/paper", false, "no floor"},
		{"internal/view", m + "bench/paper", true, "no floor"},
		{"engine/kernel", m + "tools/layering", false, "no floor"},
		{"tools/x", "fmt", false, "no floor"},
		{"blas", m + "blas/internal/native", false, "root of a floor"},
		{"blas/internal/native", m + "blas", false, ""},
		// Within the command.
		{"cmd/mustlink", m + "cmd/mustlink/internal/train", false, ""},
		{"cmd/mustlink/internal/train", m + "cmd/mustlink/internal/source", false, ""},
		{"cmd/mustlink/internal/train", m + "cmd/mustlink/internal/page", false, ""},
		{"cmd/mustlink/internal/page", m + "cmd/mustlink/internal/pictures", false, ""},
		{"cmd/mustlink/internal/train", m + "cmd/mustlink/internal/look", false, "no room imports another"},
		{"cmd/mustlink/internal/source", m + "cmd/mustlink/internal/metric", false, "upward"},
		{"cmd/mustlink/internal/source", m + "cmd/mustlink/internal/apply", false, "upward"},
		{"cmd/mustlink/internal/train", m + "cmd/mustlink/internal/newcomer", false, "no rank"},
		{"cmd/mustlink/internal/train", m + "internal/session", false, ""},
		{"internal/session", m + "cmd/mustlink/internal/source", false, "upward"},
		// Tests: floors only.
		{"algorithms/krca", m + "algorithms/cluster", true, ""},
		{"engine/links", m + "engine/dataset", true, ""},
		{"blas", m + "blas/gonum", true, ""},
		{"blas/internal/native", m + "engine", true, "upward"},
		// Within the engine.
		{"engine/links", m + "engine/fault", false, ""},
		{"engine/dataset", m + "engine/links", false, ""},
		{"engine", m + "engine/fault", false, ""},
		{"engine/kernel", m + "engine", false, ""},
		{"engine/kernel", m + "engine/points", false, ""},
		{"engine/bandwidth", m + "engine/graph", false, ""},
		{"engine/links", m + "engine/dataset", false, "upward"},
		{"engine/links", m + "engine/points", false, "upward"},
		{"engine/dataset", m + "engine", false, "upward"},
		{"engine/kernel", m + "engine/bandwidth", false, "upward"},
		{"engine/kernel", m + "engine/graph", false, "upward"},
		{"engine/graph", m + "engine/bandwidth", false, "upward"},
		{"engine", m + "engine/points", false, "only engine/fault"},
		{"engine/links", m + "blas", false, "linear algebra"},
		{"engine/dataset", m + "blas", false, "linear algebra"},
		{"engine/score", m + "asm", false, "linear algebra"},
		{"engine/newcomer", "fmt", false, "no rank"},
		{"engine/kernel", m + "engine/newcomer", false, "no rank"},
		// Solvers and algorithms.
		{"solvers/cg", m + "blas", false, ""},
		{"solvers/cg", m + "engine", false, ""},
		{"solvers/cg", m + "engine/links", false, "operators"},
		{"algorithms/krca", m + "algorithms", false, ""},
		{"algorithms/krca", m + "engine/links", false, ""},
		{"algorithms/krca", m + "algorithms/krca/internal/helmert", false, ""},
		{"algorithms/catalog", m + "algorithms/krca", false, ""},
		{"algorithms/krca", m + "algorithms/internal/fitted", false, ""},
		{"algorithms/internal/fitted", m + "algorithms/krca", false, "no method"},
		{"algorithms/krca", m + "algorithms/cluster", false, "no method"},
		{"algorithms/baseline/nonlinear", m + "algorithms/baseline/itml", false, "no method"},
		{"algorithms/krca", m + "algorithms/catalog", false, "catalog"},
		{"algorithms", m + "algorithms/catalog", false, "contract"},
		{"algorithms", m + "algorithms/krca", false, "contract"},
		// Other modules.
		{"blas/gonum", "gonum.org/v1/gonum/blas/blas64", false, ""},
		{"blas/internal/netlib", "gonum.org/v1/netlib/blas/netlib", false, ""},
		{"blas/internal/netlib", "C", false, ""},
		{"cmd/libmustlink", "C", false, ""},
		{"cmd/libmustlink/internal/abi", "C", false, "cgo"},
		{"cmd/mustlink", "C", false, "cgo"},
		{"engine", "golang.org/x/sync/errgroup", false, ""},
		{"asm", "github.com/klauspost/cpuid/v2", false, ""},
		{"cmd/mustlink", "github.com/spf13/cobra", false, ""},
		{"cmd/mustlink", m + "internal/view", false, ""},
		{"internal/view", "gonum.org/v1/plot", false, ""},
		{"engine/score", "gonum.org/v1/plot", false, "standard library"},
		{"algorithms/krca", "gonum.org/v1/plot", false, "not among"},
		{"algorithms/krca", m + "internal/view", false, "upward edge"},
		{"engine/dataset/parquet", "github.com/parquet-go/parquet-go/format", false, ""},
		{"engine/dataset/parquet", "github.com/klauspost/compress/zstd", false, ""},
		{"engine/dataset/parquet", "github.com/parquet-go/parquet-go", false, "standard library"},
		{"engine/dataset/parquet", "github.com/parquet-go/parquet-go", true, ""},
		{"engine/dataset/parquet", "pgregory.net/rapid", true, ""},
		{"engine/dataset/parquet", "gonum.org/v1/plot", false, "standard library"},
		{"engine/dataset/parquet", m + "engine/dataset", false, ""},
		{"engine/dataset/arrow", "github.com/pierrec/lz4/v4", false, ""},
		{"engine/dataset/arrow", "github.com/klauspost/compress/snappy", false, "standard library"},
		{"engine/dataset/arrow", "github.com/apache/arrow-go/v18/arrow", false, "standard library"},
		{"engine/dataset/arrow", "github.com/apache/arrow-go/v18/arrow", true, ""},
		{"engine/dataset/parquet", "github.com/apache/arrow-go/v18/arrow", true, "not among"},
		{"engine/dataset/parquet", m + "engine/dataset/arrow", false, "only programs"},
		{"engine/prepare", m + "engine/dataset/arrow", false, "only programs"},
		{"internal/session", m + "engine/dataset/arrow", false, ""},
		{"engine/dataset", "github.com/parquet-go/parquet-go/format", false, "standard library"},
		{"engine/dataset", m + "engine/dataset/parquet", false, "only programs"},
		{"engine/kernel", m + "engine/dataset/parquet", false, "only programs"},
		{"algorithms/catalog", m + "engine/dataset/parquet", false, "only programs"},
		{"solvers/cg", m + "engine/dataset/parquet", false, "only programs"},
		{"algorithms/krca", "github.com/klauspost/compress/zstd", false, "not among"},
		{"algorithms/krca", "github.com/parquet-go/parquet-go", true, "not among"},
		{"cmd/mustlink", m + "engine/dataset/parquet", false, ""},
		{"engine/links", "pgregory.net/rapid", true, ""},
		{"blas/internal/blastest", "pgregory.net/rapid", false, ""},
		{"engine", "C", false, "cgo"},
		{"engine", "gonum.org/v1/netlib/lapack/lapacke", false, "netlib"},
		{"blas/internal/native", "github.com/klauspost/cpuid/v2", false, "cpuid"},
		{"engine/links", "gonum.org/v1/gonum/stat", false, "standard library"},
		{"engine/links", "pgregory.net/rapid", false, "standard library"},
		{"algorithms/krca", "pgregory.net/rapid", false, "not among"},
		{"algorithms/krca", "github.com/spf13/cobra", false, "not among"},
		{"algorithms/krca", "gonum.org/v1/gonumx", false, "not among"},
	}
	for _, tt := range tests {
		got := strings.Join(Check(tt.pkg, []string{"fmt", tt.imp}, tt.test), "; ")
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("Check(%q, %q, test %v) = %q, want %q", tt.pkg, tt.imp, tt.test, got, tt.want)
		}
	}
}

// TestScan puts faults into a small tree and expects exactly these.
func TestScan(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tree := fstest.MapFS{
		"engine/kernel/up.go": file("//go:build never\n\npackage kernel\n\nimport _ \"" + Module +
			"/algorithms/krca\"\n"),
		"engine/kernel/env.go": file(
			"package kernel\n\nimport system \"os\"\n\nvar X = system.Getenv(\"X\")\n"),
		"engine/kernel/print.go": file(
			"package kernel\n\nimport \"fmt\"\n\nfunc f() { fmt.Println(); println() }\n"),
		"engine/kernel/fine.go": file(
			"package kernel\n\nimport (\"fmt\"; \"os\")\n\nfunc g() string { _ = os.Remove; return " +
				"fmt.Sprint() }\n"),
		"engine/kernel/env_test.go": file(
			"package kernel\n\nimport \"os\"\n\nvar Y = os.Getenv(\"Y\")\n"),
		"algorithms/krca/flags.go": file("package krca\n\nimport _ \"flag\"\n"),
		"algorithms/krca/dot.go":   file("package krca\n\nimport . \"os\"\n\nvar _ = Args\n"),
		"blas/internal/blastest/env.go": file(
			"package blastest\n\nimport \"os\"\n\nvar B = os.Getenv(\"B\")\n"),
		"cmd/mustlink/main.go": file(
			"package main\n\nimport (\"flag\"; \"os\")\n\nfunc main() { flag.Parse(); os.Exit(0) }\n"),
		"tools/go.mod":                 file("module tools\n"),
		"tools/tool/main.go":           file("no Go at all"),
		"internal/metamorphic/bad.go":  file("package metamorphic\n\nimport _ \"" + Module + "/engine\"\n"),
		"asm/_gen/gen.go":              file("package main\n\nimport _ \"" + Module + "/engine\"\n"),
		"engine/testdata/broken.go":    file("no Go at all"),
		"cmd/mustlink-beam/go.mod":     file("module other\n"),
		"cmd/mustlink-beam/broken.go":  file("no Go at all"),
		"docs/figures/not-a-source.md": file("package"),
	}
	faults, files, err := Scan(tree)
	if err != nil {
		t.Fatal(err)
	}
	if files != 10 {
		t.Errorf("read %d files, want 10", files)
	}
	want := []string{
		"upward edge", "uses os.Getenv", "uses fmt.Println", "built-in println",
		"imports flag", "all names of os", "packages below internal/",
	}
	if len(faults) != len(want) {
		t.Errorf("got %d faults, want %d:\n%s", len(faults), len(want), strings.Join(faults, "\n"))
	}
	all := strings.Join(faults, "\n")
	for _, w := range want {
		if strings.Count(all, w) != 1 {
			t.Errorf("%q occurs %d times in\n%s", w, strings.Count(all, w), all)
		}
	}
}

func TestScanReportsSyntaxErrors(t *testing.T) {
	tree := fstest.MapFS{"engine/x.go": &fstest.MapFile{Data: []byte("no Go at all")}}
	if _, _, err := Scan(tree); err == nil {
		t.Error("no error for a file that does not parse")
	}
}
