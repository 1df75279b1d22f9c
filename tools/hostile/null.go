package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// runNull calls every function of the C library with NULL and other values that are no pointers and
// no sizes, each call in a process of its own.
func runNull(c *campaign, p program, t *tally) error {
	if p.library == "" {
		return nil
	}
	header, err := read(filepath.Join(p.library, "include", "mustlink.h"))
	if err != nil {
		return err
	}
	calls, err := hostileCalls(header)
	if err != nil {
		return err
	}
	return inFolder(func(dir string) error {
		if err := compile(dir, p.library, calls); err != nil {
			return err
		}
		caller := program{build: p.build, path: filepath.Join(dir, "calls")}
		for i, call := range calls {
			o, err := caller.run(dir, "", strconv.Itoa(i))
			if err != nil {
				return err
			}
			t.add(c.list, classifyCall(o), call, o)
		}
		return nil
	})
}

// classifyCall returns the class of a call, whose code and message are on standard output.
func classifyCall(o ended) class {
	const failed = 10 // MUSTLINK_FAILED: a bug or a problem of the machine
	code, message, _ := strings.Cut(strings.TrimSpace(o.stdout), " ")
	n, err := strconv.Atoi(code)
	switch {
	case o.late:
		return hang
	case o.code != 0 || traced(o.stderr):
		return trace
	case err == nil && n == 0:
		return done
	case err != nil || n < 0 || n >= failed || message == "":
		return untyped
	}
	return refused
}

// compile builds the program that makes one of the calls.
func compile(dir, library string, calls []string) error {
	var cases strings.Builder
	for i, call := range calls {
		fmt.Fprintf(&cases, "\tcase %d: %s break;\n", i, call)
	}
	source := strings.Replace(callsSource, "CASES", cases.String(), 1)
	if err := write(dir, "calls.c", source); err != nil {
		return err
	}
	lib := filepath.Join(library, "lib")
	cc := exec.Command("cc", "-w", "-I", filepath.Join(library, "include"), "calls.c", "-o", "calls", "-L",
		lib, "-lmustlink", "-Wl,-rpath,"+lib)
	cc.Dir, cc.Stderr = dir, os.Stderr
	return cc.Run()
}

var (
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	prototype = regexp.MustCompile(
		`(?m)^(?:MUSTLINK_API )?(?:int|int32_t|const char \*)\s*(mustlink_\w+)\(([^;]*)\)(?: MUSTLINK_DEPRECATED)?;`)
	structure = regexp.MustCompile(`(?s)typedef struct (mustlink_\w+) \{(.*?)\}`)
	space     = regexp.MustCompile(`\s+`)
)

// sound are the arguments of calls that succeed, by declaration, after a function's name for it
// alone.
var sound = map[string]string{
	"int32_t abi": "MUSTLINK_ABI", "const char *options": `"{}"`, "const char *method": `"krca"`,
	"const char *path": `"model.mlk"`, "const char *index_path": `"near.index"`,
	"const char *file": `"model.onnx"`, "const char *precision": `"double"`,
	"mustlink_engine engine": "engine", "mustlink_engine *engine": "&made", "mustlink_model model": "model",
	"mustlink_model *model": "&made", "mustlink_model *updated": "&made", "mustlink_index index": "index",
	"mustlink_index *index": "&made", "mustlink_model *calibrated": "&made", "mustlink_pairs pairs": "pairs",
	"mustlink_pairs *pairs": "&made", "const mustlink_points *known": "&points",
	"const mustlink_points *fresh": "&points", "int64_t *found": "drawn", "double *probability": "squared",
	"char *buffer": "text", "void *buffer": "text", "int64_t capacity": "sizeof text",
	"int64_t *size": "&size", "const void *bytes": "text", "int64_t size": "size",
	"int64_t *dimensions": "&size", "int64_t *features": "&size", "const int64_t *label": "label",
	"int64_t rows": "N", "int64_t must": "2", "int64_t cannot": "2", "uint64_t seed": "1",
	"int64_t *pair": "drawn", "const int64_t *pair": "pair", "int64_t pairs": "4", "double *out": "squared",
	"int64_t neighbors": "2", "int64_t *measured_neighbors": "&size", "int64_t k": "2",
	"double recall": "0.9", "int64_t *neighbor": "drawn", "double *distance": "out",
	"double *measured": "squared", "mustlink_groups_find const char *options": `"{\"count\": 2}"`,
	"mustlink_entities_find const char *options": `"{\"neighbors\": 2, \"ask\": 2}"`,
	"const mustlink_points *texts":               "&points", "mustlink_pairs *doubtful": "&made",
	"mustlink_groups groups": "groups", "mustlink_groups *groups": "&made",
	"const mustlink_distinct *columns": "&columns", "int64_t column_count": "1", "int64_t *label": "drawn",
	"int64_t *child": "drawn", "double *height": "squared", "int64_t *forbidden": "drawn",
	"const mustlink_points *points": "&points", "const mustlink_points *x": "&points",
	"const mustlink_points *y": "&points", "const mustlink_links *links": "&links",
	"const mustlink_control *control": "&control", "const mustlink_matrix *out": "&matrix",
}

// hostileCalls returns the statements that call the functions of a header: as they should be
// called, with one argument or one member of an argument that should not be, and with none that
// should.
func hostileCalls(header string) ([]string, error) {
	header = comment.ReplaceAllString(header, "")
	members := map[string][]string{}
	for _, s := range structure.FindAllStringSubmatch(header, -1) {
		members[s[1]] = declarations(s[2])
	}
	var calls []string
	for _, f := range prototype.FindAllStringSubmatch(header, -1) {
		name, list := f[1], strings.Split(space.ReplaceAllString(f[2], " "), ",")
		if f[2] == "void" {
			calls = append(calls, name+"();")
			continue
		}
		args, none := make([]string, len(list)), make([]string, len(list))
		for i, declared := range list {
			list[i] = strings.TrimSpace(declared)
			value, known := sound[name+" "+list[i]]
			if !known {
				value, known = sound[list[i]]
			}
			if !known {
				return nil, fmt.Errorf("%s has the argument %q: want one of the table", name, list[i])
			}
			args[i], none[i] = value, "0"
		}
		call := func(values []string) string {
			return fmt.Sprintf("code = %s(%s);", name, strings.Join(values, ", "))
		}
		calls = append(calls, call(args), call(none))
		for i, declared := range list {
			for _, value := range hostileValues(declared) {
				changed := append(append(append([]string{}, args[:i]...), value), args[i+1:]...)
				calls = append(calls, call(changed))
			}
			kind, _, _ := strings.Cut(strings.TrimPrefix(declared, "const "), " ")
			for _, m := range members[kind] {
				field := strings.TrimLeft(m[strings.LastIndexAny(m, " *")+1:], "*")
				for _, value := range hostileValues(m) {
					calls = append(calls,
						fmt.Sprintf("%s.%s = %s; %s", strings.TrimPrefix(args[i], "&"), field, value,
							call(args)))
				}
			}
		}
	}
	return calls, nil
}

// declarations returns the members of a structure, one declaration each.
func declarations(body string) []string {
	var out []string
	for line := range strings.SplitSeq(body, ";") {
		line = strings.TrimSpace(space.ReplaceAllString(line, " "))
		first, more, _ := strings.Cut(line, ",")
		if line == "" {
			continue
		}
		out = append(out, first)
		for name := range strings.SplitSeq(more, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, first[:strings.LastIndex(first, " ")]+" "+name)
			}
		}
	}
	return out
}

// hostileValues returns values that an argument or member should not have. Sizes beyond the memory
// of the caller are not among them: no library can know.
func hostileValues(declared string) []string {
	switch {
	case strings.Contains(declared, "*") || strings.HasPrefix(declared, "mustlink_progress "):
		return []string{"NULL"}
	case strings.HasPrefix(declared, "mustlink_"): // a handle
		return []string{"0", "12345678"}
	case strings.HasPrefix(declared, "double "):
		return []string{"0", "-1", "1e-300", "1e300", "NAN", "INFINITY"}
	case strings.HasPrefix(declared, "uint64_t "):
		return []string{"0", "-1"}
	}
	return []string{"0", "-1"}
}

// callsSource is the program around the calls: sound arguments, and the code and the message of the
// call on standard output.
const callsSource = `#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mustlink.h"
enum { N = 24, D = 3 };
static double data[N * D], out[N * N], squared[N], diagonal[N];
static char text[1 << 20];
static int64_t label[N], group[N], drawn[64], pair[] = {0, 2, 4, 6, 1, 3, 0, 1}, triplet[] = {0, 2, 1}, size;
static int8_t sign[] = {1, 1, 1, -1};
static double weight[] = {1, 1, 1, 1};
static int progress(void *user, const mustlink_report *report) { return 0; }
int main(int argc, char **argv) {
	for (int i = 0; i < N; i++) {
		label[i] = i % 2, group[i] = -1;
		for (int j = 0; j < D; j++) data[i * D + j] = (double)((i * 7919 + j * 104729) % 1000) / 100 + 20 * (i % 2);
	}
	int32_t cancel = 0, user = 0;
	mustlink_points points = {MUSTLINK_DENSE, MUSTLINK_FLOAT64, N, D, data, D, 1, NULL, NULL, diagonal};
	mustlink_links links = {4, pair, sign, weight, NULL, 0, triplet, N, group, NULL};
	mustlink_control control = {&cancel, progress, &user, 0.05};
	mustlink_matrix matrix = {MUSTLINK_FLOAT64, N, N, out, N, 1};
	mustlink_engine engine, made;
	mustlink_model model;
	mustlink_index index;
	mustlink_pairs pairs;
	mustlink_groups groups;
	mustlink_distinct columns = {"source", group, 0, NULL};
	int code = 0;
	if (mustlink_engine_new(MUSTLINK_ABI, NULL, &engine) || mustlink_fit(engine, "krca", NULL, &points, &links, NULL, &model) ||
	    mustlink_index_new(engine, &points, 2, 1, NULL, &index) || mustlink_index_save(index, "near.index") ||
	    mustlink_pairs_suggest(engine, model, NULL, &points, NULL, NULL, &pairs) ||
	    mustlink_groups_find(engine, 0, "{\"count\": 2}", &points, NULL, &columns, 1, NULL, &groups) ||
	    mustlink_save(model, "model.mlk") || mustlink_save_bytes(model, text, sizeof text, &size)) {
		fprintf(stderr, "%s\n", mustlink_message());
		return 1;
	}
	switch (atoi(argv[1])) {
CASES	}
	printf("%d %s\n", code, code ? mustlink_message() : "");
	return 0;
}
`
