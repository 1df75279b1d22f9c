package layering

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Module is the path of the checked module.
const Module = "github.com/mustlink/mustlink"

// The floors, lowest first. A program may import everything below it. The laboratory, bench/, is a
// separate module above this one: nothing here imports it, and it imports no program. Nor does
// anything import the tools, another module.
const (
	floorShared = iota // forks, panics of other goroutines, memory in huge pages, for all floors
	floorAsm
	floorBlas
	floorEngine
	floorSolvers
	floorAlgorithms
	floorDoor
	floorView
	floorSession
	floorProgram
)

var floors = map[string]int{
	"asm":        floorAsm,
	"blas":       floorBlas,
	"engine":     floorEngine,
	"solvers":    floorSolvers,
	"algorithms": floorAlgorithms,
	"":           floorDoor, // the root package of the module, which users import
	"export":     floorView, // brings other libraries, so that the root does not
	"cmd":        floorProgram,

	"internal/forks":     floorShared,
	"internal/panics":    floorShared,
	"internal/hugepages": floorShared,

	// Packages that programs share. Other packages below internal/ are for tests.
	"internal/view":          floorView,
	"internal/view/viewtest": floorView,
	"label":                  floorView,
	"internal/usage":         floorView,
	"internal/clitest":       floorView,
	"internal/session":       floorSession,
	"internal/progress":      floorSession,
	"internal/reference":     floorSession,
}

// engineRank orders the packages of the engine: an import must go to a strictly lower rank.
// Packages below engineRoot contain data and use no linear algebra.
var engineRank = map[string]int{
	"engine/fault":               0,
	"engine/internal/atomicfile": 1,
	"engine/param":               1,
	"engine/points":              2,
	"engine/links":               2,
	"engine/score":               2,
	"engine/model":               2,
	"engine/dataset":             3,
	"engine/prepare":             4,
	"engine":                     engineRoot,
	"engine/enginetest":          10,
	"engine/sparse":              6,
	"engine/similarity":          6,
	"engine/kernel":              7,
	"engine/formula":             8,
	"engine/graph":               8,
	"engine/bandwidth":           9,
}

const engineRoot = 5

// formatRank is the rank of a file format in a package of its own, below engine/dataset, which
// programs alone import.
const formatRank = 4

// rankOf returns the rank of a package of the engine.
func rankOf(pkg string) (rank int, ranked bool) {
	if isFormat(pkg) {
		return formatRank, true
	}
	rank, ranked = engineRank[pkg]
	return rank, ranked
}

func isFormat(pkg string) bool { return path.Dir(pkg) == "engine/dataset" }

// The packages of the command, below cmd/mustlink/internal, by what they may import of each other:
// an import must go to a strictly lower rank. The packages with commands, one for each group, have
// the same rank, so that none imports another.
const (
	rankShared  = iota // what is given, and the words of all
	rankMetric         // the metric that a command works in
	rankFinding        // what is found and drawn in it
	rankPage           // the report page
	rankRoom
	rankProgram
)

const command = "cmd/mustlink"

var commandRank = map[string]int{
	command:                           rankProgram,
	command + "/filestest":            rankProgram,
	command + "/internal/commandtest": rankShared,
	command + "/internal/source":      rankShared,
	command + "/internal/metric":      rankMetric,
	command + "/internal/pictures":    rankFinding,
	command + "/internal/page":        rankPage,
	command + "/internal/train":       rankRoom,
	command + "/internal/apply":       rankRoom,
	command + "/internal/data":        rankRoom,
	command + "/internal/look":        rankRoom,
	command + "/internal/topics":      rankShared,
}

// modules that the library may import, and modules that only its tests may import.
var (
	libraryModules = []string{"gonum.org/v1/gonum", "gonum.org/v1/netlib", "golang.org/x/sync",
		"github.com/klauspost/cpuid/v2"}
	testModules = []string{"pgregory.net/rapid", "go.uber.org/goleak"}
)

// arrow, parquet and similarity are the only packages of the library that use other libraries:
// leaves, which only programs import, so that no other package depends on them. The first two use
// decompressors, the builder of Arrow's metadata, and the description of those of Parquet, which
// are plain Go with the tag noasm. Their tests use arrow-go and the rest of parquet-go, which are
// not.
const (
	arrow   = "engine/dataset/arrow"
	parquet = "engine/dataset/parquet"
)

var leafPackages = map[string][]string{
	"engine/similarity": {"github.com/hbollon/go-edlib"},
	arrow: {"github.com/google/flatbuffers/go", "github.com/klauspost/compress/zstd",
		"github.com/pierrec/lz4/v4"},
	parquet: {"github.com/andybalholm/brotli",
		"github.com/klauspost/compress/snappy", "github.com/klauspost/compress/zstd",
		"github.com/parquet-go/parquet-go/deprecated", "github.com/parquet-go/parquet-go/encoding/thrift",
		"github.com/parquet-go/parquet-go/format",
		"github.com/pierrec/lz4/v4",
	},
}

// leafReferences are what the tests of the leaves compare with.
var leafReferences = map[string][]string{
	arrow:   {"github.com/apache/arrow-go/v18", "github.com/parquet-go/parquet-go"},
	parquet: {"github.com/parquet-go/parquet-go", "github.com/pierrec/lz4/v4"},
}

// testTools are imported by the tests of all floors, and by the packages that support these tests.
var testTools = []string{"internal/propertytest", "internal/drawstest", "internal/racetest",
	"internal/difftest", "internal/tabletest", "internal/failtest",
	"internal/gziptest", "internal/clustertest"}

// Check returns one message for every import of the package pkg that breaks the order,
// none if all is well. pkg is relative to the module ("" its root, "engine/kernel");
// imports are full paths as written in the source.
//
// With test set the imports are those of _test.go files: they must not point to a higher
// floor and may use the test modules, but are free of the finer rules, so that the tests
// of one method may use another.
func Check(pkg string, imports []string, test bool) []string {
	floor, known := floorOf(pkg)
	if !known {
		return []string{fmt.Sprintf("package %q has no floor: add it in tools/layering", pkg)}
	}
	if floor == floorEngine && !test {
		if _, ranked := rankOf(pkg); !ranked {
			return []string{fmt.Sprintf("package %q has no rank in the engine: add one in tools/layering",
				pkg)}
		}
	}
	var faults []string
	for _, imp := range imports {
		target, inside := relative(imp)
		var fault string
		if inside {
			fault = checkInside(pkg, target, test)
		} else {
			fault = checkOutside(pkg, imp, test)
		}
		if fault != "" {
			faults = append(faults, fmt.Sprintf("%s imports %s: %s", display(pkg), display(imp), fault))
		}
	}
	return faults
}

// checkInside checks an import of the module's own package target by pkg.
func checkInside(pkg, target string, test bool) string {
	from, _ := floorOf(pkg)
	to, known := floorOf(target)
	switch {
	case (test || testSupport(pkg)) && slices.Contains(testTools, target):
		return ""
	case !known:
		return "it has no floor"
	case to > from:
		return "an upward edge"
	case isFormat(target) && from < floorView && !test:
		return "it is a file format, which may bring other libraries: only programs import it"
	case test || from != to:
		if !test && dataOnly(pkg) && to > floorShared && to < floorEngine {
			return "packages with data do not import linear algebra"
		}
		if !test && from == floorSolvers && slices.Contains(learningPackages, target) {
			return "solvers take operators, not data sets or links"
		}
		return ""
	}
	switch from {
	case floorAsm, floorBlas:
		if !strings.Contains(pkg, "/") {
			return "the root of a floor imports none of its sub-packages"
		}
	case floorEngine:
		return checkEngine(pkg, target)
	case floorAlgorithms:
		return checkAlgorithms(pkg, target)
	case floorProgram:
		return checkCommand(pkg, target)
	}
	return ""
}

// checkCommand checks an import between two packages of the programs.
func checkCommand(pkg, target string) string {
	if !inTree(target, command) {
		return ""
	}
	rank, ranked := commandRank[target]
	switch {
	case !ranked:
		return "it has no rank in the command: add one in tools/layering"
	case rank == rankRoom && commandRank[pkg] == rankRoom:
		return "no room imports another"
	case rank >= commandRank[pkg]:
		return "an upward edge within the command"
	}
	return ""
}

var learningPackages = []string{"engine/links", "engine/score", "engine/model", "engine/dataset"}

// checkEngine checks an import between two packages of the engine.
func checkEngine(pkg, target string) string {
	rank, ranked := rankOf(target)
	above, _ := rankOf(pkg)
	switch {
	case !ranked:
		return "it has no rank in the engine"
	case rank >= above:
		return "an upward edge within the engine"
	case pkg == "engine" && target != "engine/fault":
		return "the engine's root imports only engine/fault of the engine"
	}
	return ""
}

// aboveCatalog are the packages of algorithms that work with all methods by name.
var aboveCatalog = []string{"selection", "labelnoise"}

// aboveMethods are methods, and tools, that are made of others or fit any of them.
var aboveMethods = []string{"blend", "parts", "neighborindex", "verdict", "entities"}

// checkAlgorithms checks an import between two packages of algorithms: all may import the contract
// and internal packages, only the catalog and methods made of methods may import methods, and only
// packages above the catalog may import it.
func checkAlgorithms(pkg, target string) string {
	switch {
	case pkg == "algorithms":
		return "the contract imports no method"
	case target == "algorithms" || method(pkg) == method(target) || method(target) == "internal":
		return ""
	case slices.Contains(aboveCatalog, method(pkg)):
		return ""
	case method(target) == "catalog" || slices.Contains(aboveCatalog, method(target)):
		return "the catalog is above the methods"
	case method(pkg) == "catalog" || slices.Contains(aboveMethods, method(pkg)) &&
		!slices.Contains(aboveMethods, method(target)):
		return ""
	}
	return "no method imports another"
}

// checkOutside checks an import of the standard library or of another module.
func checkOutside(pkg, imp string, test bool) string {
	floor, _ := floorOf(pkg)
	allowed := libraryModules
	switch {
	case imp == "C":
		if pkg != "blas/internal/netlib" && pkg != "cmd/libmustlink" {
			return "cgo belongs in blas/internal/netlib, and in the C library"
		}
		return ""
	case standard(imp) || floor >= floorView || slices.Contains(leafPackages[pkg], imp):
		return ""
	case test && slices.ContainsFunc(leafReferences[pkg], func(m string) bool { return inModule(imp, m) }):
		return "" // the reference
	case inModule(imp, "gonum.org/v1/netlib") && pkg != "blas/internal/netlib":
		return "netlib belongs in blas/internal/netlib"
	case inModule(imp, "github.com/klauspost/cpuid/v2") && !inTree(pkg, "asm"):
		return "cpuid belongs in asm"
	case test || testSupport(pkg):
		allowed = append(slices.Clone(libraryModules), testModules...)
	case dataOnly(pkg):
		return "packages with data import only the standard library"
	}
	if !slices.ContainsFunc(allowed, func(m string) bool { return inModule(imp, m) }) {
		return "not among the modules that the library may import"
	}
	return ""
}

// floorOf returns the floor of a package, and false if it has none.
func floorOf(pkg string) (int, bool) {
	if f, ok := floors[pkg]; ok {
		return f, ok
	}
	first, _, _ := strings.Cut(pkg, "/")
	f, ok := floors[first]
	return f, ok
}

// Library reports whether pkg is below the programs.
func Library(pkg string) bool {
	f, known := floorOf(pkg)
	return !known || f < floorView
}

// dataOnly reports whether pkg is one of the engine's packages free of linear algebra.
func dataOnly(pkg string) bool {
	rank, ok := rankOf(pkg)
	return ok && rank < engineRoot
}

// method returns the name of the method that a package below algorithms belongs to.
func method(pkg string) string {
	parts := strings.Split(pkg, "/")
	if len(parts) > 2 && parts[1] == "baseline" {
		return "baseline/" + parts[2]
	}
	return parts[min(1, len(parts)-1)]
}

// testSupport reports whether pkg is code for tests in ordinary files, as blas/internal/blastest.
func testSupport(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }

// relative returns the path of an import within the module, and false if it is outside.
func relative(imp string) (string, bool) {
	if imp == Module {
		return "", true
	}
	return strings.CutPrefix(imp, Module+"/")
}

// standard reports whether imp is in the standard library: no dot in its first element.
func standard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

func inModule(imp, module string) bool { return inTree(imp, module) }

func inTree(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

func display(p string) string {
	if p == "" {
		return "the root package"
	}
	return strings.TrimPrefix(p, Module+"/")
}
