package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// runForks forks a C program while its threads use the library. In a child every call must be
// refused at once, with a message.
func runForks(c *campaign, p program, t *tally) error {
	if p.library == "" {
		return nil
	}
	return inFolder(func(dir string) error {
		if err := write(dir, "forks.c", forksSource); err != nil {
			return err
		}
		lib := filepath.Join(p.library, "lib")
		cc := exec.Command("cc", "-I", filepath.Join(p.library, "include"), "forks.c", "-o", "forks", "-L",
			lib, "-lmustlink", "-lpthread", "-Wl,-rpath,"+lib)
		cc.Dir, cc.Stderr = dir, os.Stderr
		if err := cc.Run(); err != nil {
			return err
		}
		caller := program{build: p.build, path: filepath.Join(dir, "forks")}
		const each = 50
		for range (c.forks + each - 1) / each {
			o, err := caller.run(dir, "", strconv.Itoa(min(each, c.forks)))
			if err != nil {
				return err
			}
			lines := strings.Fields(o.stdout)
			if o.late || o.code != 0 {
				t.add(c.list, classifyCall(o), "forks", o)
			}
			for k, code := range lines {
				result := refused
				if code != "0" {
					result = untyped
				}
				t.add(c.list, result, fmt.Sprintf("fork %d", k), ended{stderr: code})
			}
		}
		return nil
	})
}

// forksSource prints a line for each child: 0 if all of its calls were refused as calls in a fork,
// else the status of its end.
const forksSource = `#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mustlink.h"
enum { N = 60, D = 4, THREADS = 4 };
static double data[N * D];
static int64_t label[N];
static mustlink_engine engine;
static mustlink_model model;
static volatile int stop;
static mustlink_points points = {MUSTLINK_DENSE, MUSTLINK_FLOAT64, N, D, data, D, 1};
static int embed(void) {
	double out[N * D];
	mustlink_matrix matrix = {MUSTLINK_FLOAT64, N, D, out, D, 1};
	return mustlink_embed(engine, model, &points, NULL, &matrix);
}
static void *work(void *unused) {
	while (!stop) if (embed()) abort();
	return NULL;
}
int main(int argc, char **argv) {
	mustlink_links links = {0};
	pthread_t thread[THREADS];
	for (int i = 0; i < N * D; i++) data[i] = (i * 7919 % 1000) / 100.0 + 20 * (i / D % 2);
	for (int i = 0; i < N; i++) label[i] = i % 2;
	links.rows = N, links.label = label;
	if (mustlink_engine_new(MUSTLINK_ABI, NULL, &engine) ||
	    mustlink_fit(engine, "itml", NULL, &points, &links, NULL, &model)) {
		fprintf(stderr, "%s\n", mustlink_message());
		return 1;
	}
	for (int k = 0; k < THREADS; k++) pthread_create(&thread[k], NULL, work, NULL);
	for (int k = atoi(argv[1]); k > 0; k--) {
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			mustlink_engine made;
			mustlink_model fitted;
			alarm(10); /* a call that waits is a bad end */
			int bad = embed() != MUSTLINK_FORKED || !strstr(mustlink_message(), "fork") ||
				mustlink_engine_new(MUSTLINK_ABI, NULL, &made) != MUSTLINK_FORKED ||
				mustlink_fit(engine, "itml", NULL, &points, &links, NULL, &fitted) != MUSTLINK_FORKED ||
				mustlink_model_free(model) != MUSTLINK_FORKED ||
				mustlink_engine_free(engine) != MUSTLINK_FORKED;
			_exit(bad);
		}
		int status = -1;
		if (child < 0 || waitpid(child, &status, 0) != child) return 1;
		printf("%d\n", status);
		usleep(1000);
	}
	stop = 1;
	for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
	return 0;
}
`
