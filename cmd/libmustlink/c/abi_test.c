/*
 * Tests of the C side of the interface, run under AddressSanitizer: results do not depend on the
 * layout, buffers are not written beyond their ends, freed and NULL arguments give codes, signals
 * do not harm calls, and calls in a fork are refused.
 */
#include <math.h>
#define MUSTLINK_KEEP_DEPRECATED
#include <mustlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 60, D = 5, LINKS = 40 };

static int checks, failures;

#define CHECK(condition, ...)                                                              \
	do {                                                                               \
		checks++;                                                                  \
		if (!(condition)) {                                                        \
			failures++;                                                        \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);    \
			fprintf(stderr, __VA_ARGS__);                                      \
			fprintf(stderr, " (%s)\n", mustlink_message());                    \
		}                                                                          \
	} while (0)

/* GIVES checks the code of a call, and that the message of a failure contains a word. */
#define GIVES(want, call, word)                                                                            \
	do {                                                                                               \
		int got = (call);                                                                          \
		CHECK(got == (want), "code %d: want %d", got, (int)(want));                                \
		CHECK((want) == MUSTLINK_OK || strstr(mustlink_message(), word), "want a message with %s", word); \
	} while (0)

static mustlink_engine engine;
static int64_t label[N], pair[2 * 2 * LINKS];
static int8_t sign[2 * LINKS];

/* exactly returns memory of exactly this size, so that AddressSanitizer detects accesses beyond
 * it. */
static void *exactly(size_t count, size_t size)
{
	void *p = calloc(count, size);
	if (!p && count)
		abort();
	return p;
}

static double *draw(void)
{
	double *x = exactly(N * D, sizeof *x);
	unsigned state = 1;
	for (int i = 0; i < N * D; i++) {
		state = state * 1664525u + 1013904223u;
		x[i] = (float)(state / 4294967296.0 + (i % D == 0) * 3 * ((i / D) % 3)); /* exact in float too */
	}
	return x;
}

static mustlink_points by_rows(const double *x)
{
	return (mustlink_points){.kind = MUSTLINK_DENSE, .type = MUSTLINK_FLOAT64, .rows = N, .columns = D, .data = x, .row_stride = D, .column_stride = 1};
}

static mustlink_matrix matrix(double *out, int64_t rows, int64_t columns)
{
	return (mustlink_matrix){.type = MUSTLINK_FLOAT64, .rows = rows, .columns = columns, .data = out, .row_stride = columns, .column_stride = 1};
}

static mustlink_links links(void) { return (mustlink_links){.pairs = 2 * LINKS, .pair = pair, .sign = sign}; }

static mustlink_model fit(const char *method, const char *options, const mustlink_points *points)
{
	mustlink_links l = links();
	mustlink_model model = 0;
	GIVES(MUSTLINK_OK, mustlink_fit(engine, method, options, points, &l, NULL, &model), "");
	return model;
}

static double *embedded(mustlink_model model, const mustlink_points *points, int64_t *dimensions)
{
	int64_t features;
	GIVES(MUSTLINK_OK, mustlink_model_size(model, dimensions, &features), "");
	CHECK(features == D, "%lld features", (long long)features);
	double *out = exactly(N * *dimensions, sizeof *out);
	mustlink_matrix m = matrix(out, N, *dimensions);
	GIVES(MUSTLINK_OK, mustlink_embed(engine, model, points, NULL, &m), "");
	return out;
}

/* layouts: the same values by columns, with gaps, in floats and in sparse rows give bit-identical
 * results. */
static void layouts(void)
{
	double *x = draw(), *columns = exactly(N * D, sizeof *columns), *gaps = exactly(N * (D + 3) - 3, sizeof *gaps);
	float *floats = exactly(N * D, sizeof *floats);
	int64_t *start = exactly(N + 1, sizeof *start);
	int32_t *column = exactly(N * D, sizeof *column);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < D; j++) {
			columns[j * N + i] = gaps[i * (D + 3) + j] = x[i * D + j];
			floats[i * D + j] = (float)x[i * D + j];
			column[i * D + j] = j;
			start[i + 1] = (i + 1) * D;
		}
	mustlink_points rows = by_rows(x), others[4];
	for (int k = 0; k < 4; k++)
		others[k] = rows;
	others[0].data = columns, others[0].row_stride = 1, others[0].column_stride = N;
	others[1].data = gaps, others[1].row_stride = D + 3;
	others[2].data = floats, others[2].type = MUSTLINK_FLOAT32;
	others[3].kind = MUSTLINK_SPARSE, others[3].row_start = start, others[3].column = column;
	for (int sparse = 0; sparse < 2; sparse++) { /* a linear method, and one for sparse points */
		const char *method = sparse ? "krca" : "rca";
		mustlink_model model = fit(method, NULL, &rows);
		int64_t dim;
		double *want = embedded(model, &rows, &dim);
		for (int k = 0; k < 3; k++) {
			mustlink_model other = fit(method, NULL, &others[k]);
			double *got = embedded(other, &others[k], &dim);
			CHECK(!memcmp(got, want, N * dim * sizeof *got), "%s, layout %d", method, k);
			free(got);
			GIVES(MUSTLINK_OK, mustlink_model_free(other), "");
		}
		if (sparse) {
			mustlink_model other = fit(method, NULL, &others[3]);
			double *got = embedded(other, &others[3], &dim);
			free(got);
			GIVES(MUSTLINK_OK, mustlink_model_free(other), "");
		}
		/* Outputs by columns, with gaps and in floats. */
		double *turned = exactly(N * dim, sizeof *turned), *apart = exactly(N * (dim + 2) - 2, sizeof *apart);
		float *small = exactly(N * dim, sizeof *small);
		mustlink_matrix m = matrix(turned, N, dim);
		m.row_stride = 1, m.column_stride = N;
		GIVES(MUSTLINK_OK, mustlink_embed(engine, model, &rows, NULL, &m), "");
		m = matrix(apart, N, dim);
		m.row_stride = dim + 2;
		GIVES(MUSTLINK_OK, mustlink_embed(engine, model, &rows, NULL, &m), "");
		m = matrix((double *)small, N, dim);
		m.type = MUSTLINK_FLOAT32;
		GIVES(MUSTLINK_OK, mustlink_embed(engine, model, &rows, NULL, &m), "");
		int same = 1;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < dim; j++) {
				double v = want[i * dim + j];
				same &= turned[j * N + i] == v && apart[i * (dim + 2) + j] == v && small[i * dim + j] == (float)v;
			}
		for (int i = 0; i < N - 1; i++)
			same &= apart[i * (dim + 2) + dim] == 0 && apart[i * (dim + 2) + dim + 1] == 0;
		CHECK(same, "%s: outputs differ by layout", method);
		free(turned), free(apart), free(small), free(want);
		GIVES(MUSTLINK_OK, mustlink_model_free(model), "");
	}
	free(x), free(columns), free(gaps), free(floats), free(start), free(column);
}

/* tables: columns in another order and with another one among them give the same coordinates, which
 * no later change of their memory changes, and mistakes name the column. */
static void tables(void)
{
	double *x = exactly(N, sizeof *x);
	int32_t *codes = exactly(N, sizeof *codes);
	const char *levels[] = {"basic", "plus", "gr\xc3\xb6\xc3\x9f" "er"};
	for (int i = 0; i < N; i++)
		x[i] = i % 7 ? i % 3 + 0.1 * (i % 5) : NAN, codes[i] = i % 11 ? i % 3 : -1;
	mustlink_column columns[3] = {{.name = "income", .numbers = x}, {.name = "plan", .codes = codes, .levels = levels, .level_count = 3}};
	mustlink_points table = {.kind = MUSTLINK_TABLE, .rows = N, .columns = 2, .data = columns};
	mustlink_model model = fit("rca", "{\"kinds\": {\"plan\": \"category\"}}", &table);
	int64_t dim, features, size = 0;
	GIVES(MUSTLINK_OK, mustlink_model_size(model, &dim, &features), "");
	CHECK(features == 2, "%lld features", (long long)features);
	double *want = exactly(N * dim, sizeof *want), *got = exactly(N * dim, sizeof *got);
	mustlink_matrix to = matrix(want, N, dim), other = matrix(got, N, dim);
	GIVES(MUSTLINK_OK, mustlink_embed(engine, model, &table, NULL, &to), "");
	char text[200];
	GIVES(MUSTLINK_OK, mustlink_remarks(model, &table, text, sizeof text, &size), "");
	CHECK(size == 3 && !strcmp(text, "[]"), "remarks %s", text);
	columns[2] = columns[0];
	columns[0] = (mustlink_column){.name = "note", .codes = codes, .levels = levels, .level_count = 3};
	table.columns = 3;
	GIVES(MUSTLINK_OK, mustlink_embed(engine, model, &table, NULL, &other), "");
	CHECK(!memcmp(got, want, N * dim * sizeof *got), "another order");
	GIVES(MUSTLINK_TOO_SMALL, mustlink_remarks(model, &table, NULL, 0, &size), "want");
	GIVES(MUSTLINK_OK, mustlink_remarks(model, &table, text, sizeof text, &size), "");
	CHECK(strstr(text, "note"), "remarks %s", text);

	table.columns = 2;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_embed(engine, model, &table, NULL, &other), "income");
	table.columns = 3;
	columns[2].numbers = NULL;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &table, NULL, &other), "\"income\"");
	columns[2].numbers = x, columns[1].level_count = 2;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_embed(engine, model, &table, NULL, &other), "\"plan\"");
	columns[1].levels = NULL;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &table, NULL, &other), "\"plan\"");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_remarks(model, NULL, text, sizeof text, &size), "NULL");
	table.data = NULL;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &table, NULL, &other), "NULL");
	free(x), free(codes), free(want), free(got);
	GIVES(MUSTLINK_OK, mustlink_model_free(model), "");
}

/* meanings: distances, kernel and embedding agree, and a model survives saving and loading. */
static void meanings(void)
{
	double *x = draw(), *gram = exactly(N * N, sizeof *gram), *distance = exactly(N, sizeof *distance), *squared = exactly(N, sizeof *squared);
	int64_t *pairs = exactly(2 * N, sizeof *pairs), dim, size = 0;
	mustlink_points points = by_rows(x);
	mustlink_model model = fit("krca", "{\"kernel\":\"rbf:sigma=median\",\"params\":{\"dims\":3,\"eps_rel\":\"1e-2\"},\"seed\":7,\"standardize\":true,\"features\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}", &points);
	for (int i = 0; i < N; i++)
		pairs[2 * i] = i, pairs[2 * i + 1] = (i + 7) % N;
	mustlink_matrix m = matrix(gram, N, N);
	GIVES(MUSTLINK_OK, mustlink_gram(engine, model, &points, NULL, NULL, &m), "");
	GIVES(MUSTLINK_OK, mustlink_distances(engine, model, &points, pairs, N, NULL, squared), "");
	GIVES(MUSTLINK_OK, mustlink_euclidean_distances(engine, model, &points, pairs, N, NULL, distance), "");
	for (int i = 0; i < N; i++) {
		int j = (i + 7) % N;
		double want = gram[i * N + i] + gram[j * N + j] - 2 * gram[i * N + j];
		CHECK(fabs(squared[i] - want) <= 1e-9 * gram[0], "squared distance %d is %g: want %g", i, squared[i], want);
		CHECK(distance[i] == sqrt(squared[i]), "distance %d is %g: want the root of %g", i, distance[i], squared[i]);
	}
	double *before = embedded(model, &points, &dim);
	GIVES(MUSTLINK_TOO_SMALL, mustlink_save_bytes(model, NULL, 0, &size), "0 bytes");
	char *bytes = exactly(size, 1), *info;
	GIVES(MUSTLINK_TOO_SMALL, mustlink_save_bytes(model, bytes, size - 1, &size), "want");
	GIVES(MUSTLINK_OK, mustlink_save_bytes(model, bytes, size, &size), "");
	mustlink_model again;
	GIVES(MUSTLINK_OK, mustlink_load_bytes(engine, bytes, size, &again), "");
	memset(bytes, 0xff, size); /* the library keeps no pointer to it */
	memset(gram, 0, N * N * sizeof *gram);
	double *after = embedded(again, &points, &dim);
	CHECK(!memcmp(before, after, N * dim * sizeof *before), "a loaded model gives another embedding");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_load_bytes(engine, bytes, size, &again), "model");
	GIVES(MUSTLINK_TOO_SMALL, mustlink_model_info(model, NULL, 0, &size), "want");
	info = exactly(size, 1);
	GIVES(MUSTLINK_OK, mustlink_model_info(model, info, size, &size), "");
	CHECK(strstr(info, "\"method\":\"krca\"") && strlen(info) + 1 == (size_t)size, "info is %s", info);
	free(info);

	char path[] = "/tmp/mustlink-abi-XXXXXX";
	CHECK(mkdtemp(path), "mkdtemp");
	char file[64];
	snprintf(file, sizeof file, "%s/model.mlk", path);
	GIVES(MUSTLINK_OK, mustlink_save(model, file), "");
	mustlink_model read;
	GIVES(MUSTLINK_OK, mustlink_load(engine, file, &read), "");
	double *from_file = embedded(read, &points, &dim);
	CHECK(!memcmp(before, from_file, N * dim * sizeof *before), "a model from a file gives another embedding");
	unlink(file);
	GIVES(MUSTLINK_BAD_FILE, mustlink_load(engine, file, &read), "no such file");
	rmdir(path);
	free(x), free(gram), free(distance), free(squared), free(pairs), free(before), free(after), free(from_file), free(bytes);
	GIVES(MUSTLINK_OK, mustlink_model_free(model), "");
	GIVES(MUSTLINK_OK, mustlink_model_free(again), "");
}

/* matches: pairs are those within the threshold, a calibration gives them probabilities, suggested
 * pairs are not known, and rows are classified as their neighbors are. */
static void matches(void)
{
	double *x = draw(), *out;
	int64_t dimensions, size, *found = exactly(N, sizeof *found);
	mustlink_points points = by_rows(x);
	mustlink_links l = links(), one = {.pairs = LINKS, .pair = pair, .sign = sign};
	mustlink_model model = fit("rca", NULL, &points), calibrated = 0;
	mustlink_pairs pairs = 0;
	out = embedded(model, &points, &dimensions);
	GIVES(MUSTLINK_BAD_INPUT, mustlink_pairs_find(engine, model, "{\"recall\": 0.5}", &points, NULL, &pairs), "not calibrated");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_pairs_find(engine, model, NULL, &points, NULL, &pairs), "threshold");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_pairs_find(engine, model, "{\"threshold\": 1}", &points, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_pairs_find(engine, model, "{\"threshold\": 1}", NULL, NULL, &pairs), "NULL");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_calibrate(engine, model, NULL, &points, &one, NULL, &calibrated), "cannot-link");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_calibrate(engine, model, "{\"share\": 2}", &points, &l, NULL, &calibrated), "share");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_calibrate(engine, model, NULL, &points, &l, NULL, NULL), "NULL");
	GIVES(MUSTLINK_OK, mustlink_calibrate(engine, model, NULL, &points, &l, NULL, &calibrated), "");
	for (int with = 0; with < 2; with++) {
		const double threshold = 1;
		GIVES(MUSTLINK_OK, mustlink_pairs_find(engine, with ? calibrated : model, "{\"threshold\": 1}", &points, NULL, &pairs), "");
		int within = 0;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < i; j++) {
				double sum = 0;
				for (int c = 0; c < dimensions; c++)
					sum += (out[i * dimensions + c] - out[j * dimensions + c]) * (out[i * dimensions + c] - out[j * dimensions + c]);
				within += sqrt(sum) <= threshold;
			}
		char *text, want[32];
		GIVES(MUSTLINK_TOO_SMALL, mustlink_pairs_info(pairs, NULL, 0, &size), "want");
		text = exactly(size, 1);
		GIVES(MUSTLINK_OK, mustlink_pairs_info(pairs, text, size, &size), "");
		snprintf(want, sizeof want, "\"pairs\":%d,", within);
		CHECK(within > 0 && strstr(text, want), "%s: want %s", text, want);
		CHECK((strstr(text, "\"calibrated\":null") == NULL) == with, "%s", text);
		int64_t *rows = exactly(2 * within, sizeof *rows);
		double *distance = exactly(within, sizeof *distance), *probability = exactly(within, sizeof *probability);
		GIVES(MUSTLINK_OK, mustlink_pairs_copy(pairs, rows, distance, probability), "");
		for (int k = 0; k < within; k++)
			CHECK(rows[2 * k] < rows[2 * k + 1] && distance[k] <= threshold && (probability[k] > 0) == with, "pair %d", k);
		GIVES(MUSTLINK_OK, mustlink_pairs_copy(pairs, rows, NULL, NULL), "");
		GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_pairs_copy(pairs, NULL, distance, NULL), "NULL");
		GIVES(MUSTLINK_OK, mustlink_pairs_free(pairs), "");
		GIVES(MUSTLINK_BAD_HANDLE, mustlink_pairs_free(pairs), "pairs");
		free(text), free(rows), free(distance), free(probability);
	}
	int64_t asked[2 * 3];
	GIVES(MUSTLINK_BAD_INPUT, mustlink_pairs_suggest(engine, model, "{\"count\": 0}", &points, &l, NULL, &pairs), "count");
	GIVES(MUSTLINK_OK, mustlink_pairs_suggest(engine, model, "{\"count\": 3, \"near\": 9}", &points, &l, NULL, &pairs), "");
	GIVES(MUSTLINK_OK, mustlink_pairs_copy(pairs, asked, NULL, NULL), "");
	for (int k = 0; k < 3 * 2 * LINKS; k++) {
		int64_t *a = asked + 2 * (k % 3), *b = pair + 2 * (k / 3);
		CHECK(!(a[0] == b[0] && a[1] == b[1]) && !(a[0] == b[1] && a[1] == b[0]), "pair %d is known", k % 3);
	}
	GIVES(MUSTLINK_OK, mustlink_pairs_free(pairs), "");
	GIVES(MUSTLINK_OK, mustlink_pairs_suggest(engine, model, NULL, &points, NULL, NULL, &pairs), "");
	GIVES(MUSTLINK_OK, mustlink_pairs_free(pairs), "");
	GIVES(MUSTLINK_OK, mustlink_classify(engine, model, &points, label, &points, 1, NULL, found), "");
	CHECK(!memcmp(found, label, N * sizeof *found), "a row is not of its own label");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_classify(engine, model, &points, label, &points, N + 1, NULL, found), "neighbors");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_classify(engine, model, &points, NULL, &points, 1, NULL, found), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_classify(engine, model, NULL, label, &points, 1, NULL, found), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_classify(engine, model, &points, label, NULL, 1, NULL, found), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_classify(engine, model, &points, label, &points, 1, NULL, NULL), "NULL");
	GIVES(MUSTLINK_OK, mustlink_model_free(calibrated), "");
	GIVES(MUSTLINK_OK, mustlink_model_free(model), "");
	free(x), free(out), free(found);
}

/* groups: links and columns are kept, merges are a tree, and mistakes have a code. */
static void groups(void)
{
	enum { ROWS = 6 };
	double *x = exactly(ROWS, sizeof *x), *at = exactly(ROWS, sizeof *at);
	int64_t two[] = {0, 5, 0, 1}, *keys = exactly(ROWS, sizeof *keys), *of = exactly(ROWS, sizeof *of);
	int8_t signs[] = {1, -1};
	for (int i = 0; i < ROWS; i++)
		x[i] = i, keys[i] = i == 2 || i == 3 ? 7 : -1, at[i] = i == 4 ? NAN : 10 * i;
	mustlink_points points = {.kind = MUSTLINK_DENSE, .type = MUSTLINK_FLOAT64, .rows = ROWS, .columns = 1, .data = x, .row_stride = 1, .column_stride = 1};
	mustlink_links known = {.pairs = 2, .pair = two, .sign = signs};
	mustlink_distinct columns[] = {{.name = "photo", .keys = keys}, {.width = 10, .values = at}};
	mustlink_groups found = 0;
	char text[200];
	int64_t size, child[2 * ROWS], forbidden[3 * ROWS * ROWS];
	double height[ROWS];
	GIVES(MUSTLINK_BAD_INPUT, mustlink_groups_find(engine, 0, NULL, &points, NULL, NULL, 0, NULL, &found), "threshold");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_groups_find(engine, 0, "{\"threshold\": 2, \"linkage\": \"mean\"}", &points, NULL, NULL, 0, NULL, &found), "linkage");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_groups_find(engine, 0, "{\"threshold\": 2}", &points, NULL, NULL, 1, NULL, &found), "columns");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_groups_find(engine, 0, "{\"threshold\": 2}", NULL, NULL, NULL, 0, NULL, &found), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_groups_find(engine, 0, "{\"threshold\": 2}", &points, NULL, NULL, 0, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_groups_find(engine, 99999, NULL, &points, NULL, NULL, 0, NULL, &found), "model");
	columns[0].values = at;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_groups_find(engine, 0, "{\"threshold\": 2}", &points, NULL, columns, 1, NULL, &found), "either keys or values");
	columns[0].values = NULL, columns[0].width = 3;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_groups_find(engine, 0, "{\"threshold\": 2}", &points, NULL, columns, 1, NULL, &found), "width");
	columns[0].width = 0;
	GIVES(MUSTLINK_OK, mustlink_groups_find(engine, 0, "{\"count\": 1, \"linkage\": \"single\"}", &points, &known, columns, 2, NULL, &found), "");
	GIVES(MUSTLINK_OK, mustlink_groups_info(found, text, sizeof text, &size), "");
	CHECK(!strcmp(text, "{\"groups\":2,\"rows\":6,\"merges\":4,\"forbidden\":2}"), "%s", text);
	GIVES(MUSTLINK_OK, mustlink_groups_copy(found, of, child, height, forbidden), "");
	CHECK(of[0] == of[5] && of[0] != of[1] && of[2] != of[3], "groups violate links or columns");
	CHECK(child[0] == 0 && child[1] == 5 && height[0] == 0 && height[3] >= height[1], "the must-linked rows merge first");
	GIVES(MUSTLINK_OK, mustlink_groups_copy(found, of, NULL, NULL, NULL), "");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_groups_copy(found, NULL, child, height, NULL), "NULL");
	GIVES(MUSTLINK_OK, mustlink_groups_free(found), "");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_groups_free(found), "groups");
	columns[1].width = 11;
	GIVES(MUSTLINK_OK, mustlink_groups_find(engine, 0, "{\"min_size\": 2, \"threshold\": 2}", &points, NULL, columns, 2, NULL, &found), "");
	GIVES(MUSTLINK_OK, mustlink_groups_copy(found, of, NULL, NULL, NULL), "");
	for (int i = 0; i + 1 < ROWS; i++)
		CHECK(i == 3 || i == 4 || of[i] < 0 || of[i] != of[i + 1], "rows %d and %d are too near in a column", i, i + 1);
	GIVES(MUSTLINK_OK, mustlink_groups_free(found), "");

	/* entities: candidates with equal keys, and mistakes have a code */
	const char *levels[] = {"ann", "bob"};
	int32_t codes[] = {0, 1, 0, 1, 1, -1};
	int64_t pair[8];
	mustlink_column column = {.name = "name", .codes = codes, .levels = levels, .level_count = 2};
	mustlink_points texts = {.kind = MUSTLINK_TABLE, .rows = ROWS, .columns = 1, .data = &column};
	mustlink_pairs doubtful = 0;
	const char *ask = "{\"blocks\": [\"name\"], \"ask\": 9}";
	GIVES(MUSTLINK_OK, mustlink_entities_find(engine, 0, ask, NULL, &texts, NULL, NULL, 0, NULL, &doubtful, NULL, NULL), "");
	GIVES(MUSTLINK_OK, mustlink_pairs_copy(doubtful, pair, NULL, NULL), "");
	GIVES(MUSTLINK_OK, mustlink_pairs_info(doubtful, text, sizeof text, &size), "");
	CHECK(strstr(text, "\"pairs\":4") && codes[pair[0]] == codes[pair[1]], "%s", text);
	GIVES(MUSTLINK_OK, mustlink_pairs_free(doubtful), "");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_entities_find(engine, 0, "{}", NULL, &texts, NULL, NULL, 0, NULL, &doubtful, of, NULL), "blocks");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_entities_find(engine, 0, "{\"blocks\": [\"nam\"]}", NULL, &texts, NULL, NULL, 0, NULL, &doubtful, of, NULL), "name");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_entities_find(engine, 0, "{\"blocks\": [\"name\"], \"compare\": [\"name\"]}", NULL, &texts, NULL, NULL, 0, NULL, &doubtful, of, NULL), "links");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_entities_find(engine, 0, "{\"blocks\": [\"name\"]}", NULL, &texts, NULL, NULL, 0, NULL, &doubtful, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_entities_find(engine, 0, ask, NULL, NULL, NULL, NULL, 0, NULL, &doubtful, of, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_entities_find(engine, 0, ask, NULL, &texts, NULL, NULL, 0, NULL, NULL, of, NULL), "NULL");
	free(x), free(at), free(keys), free(of);
}

/* searches: an index finds what brute force does, and what it measures is a share. */
static void searches(void)
{
	enum { K = 4 };
	double *x = draw(), *distance = exactly(N * K, sizeof *distance), measured = -1;
	int64_t *near = exactly(N * K, sizeof *near);
	mustlink_points points = by_rows(x), other = points;
	mustlink_index index;
	GIVES(MUSTLINK_OK, mustlink_index_new(engine, &points, K, 3, NULL, &index), "");
	GIVES(MUSTLINK_OK, mustlink_index_search(index, &points, K, 1, NULL, near, distance, &measured), "");
	CHECK(measured == 1, "recall %g of the exact search", measured);
	for (int i = 0; i < N; i++) {
		int closer = 0;
		double last = distance[i * K + K - 1];
		for (int j = 0; j < N; j++) {
			double sum = 0;
			for (int c = 0; c < D; c++)
				sum += (x[i * D + c] - x[j * D + c]) * (x[i * D + c] - x[j * D + c]);
			closer += sqrt(sum) < last * (1 - 1e-12);
		}
		CHECK(near[i * K] == i && distance[i * K] == 0, "row %d is nearest to %d", i, (int)near[i * K]);
		CHECK(closer < K, "row %d has %d rows before the last neighbor", i, closer);
	}
	GIVES(MUSTLINK_OK, mustlink_index_search(index, &points, K, 0.5, NULL, near, distance, &measured), "");
	CHECK(measured > 0 && measured <= 1, "recall %g", measured);
	GIVES(MUSTLINK_OK, mustlink_index_search(index, &points, 1, 0.5, NULL, near, distance, NULL), "");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_index_search(index, &points, K, 0, NULL, near, distance, NULL), "recall");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_index_search(index, &points, N + 1, 1, NULL, near, distance, NULL), "neighbors");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_index_search(index, &points, K, 1, NULL, NULL, distance, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_index_search(index, NULL, K, 1, NULL, near, distance, NULL), "NULL");
	other.columns = D - 1;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_index_search(index, &other, K, 1, NULL, near, distance, NULL), "columns");
	other.kind = MUSTLINK_GRAM;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_index_search(index, &other, K, 1, NULL, near, distance, NULL), "dense");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_index_search((mustlink_index)engine, &points, K, 1, NULL, near, distance, NULL), "index");
	char path[] = "/tmp/mustlink-abi-XXXXXX", file[64];
	CHECK(mkdtemp(path), "mkdtemp");
	snprintf(file, sizeof file, "%s/near.index", path);
	mustlink_index read;
	int64_t measured_neighbors = -1, *same = exactly(N * K, sizeof *same);
	other = points;
	GIVES(MUSTLINK_OK, mustlink_index_search(index, &points, K, 0.5, NULL, near, distance, NULL), "");
	GIVES(MUSTLINK_OK, mustlink_index_save(index, file), "");
	GIVES(MUSTLINK_OK, mustlink_index_load(engine, file, 0, &points, NULL, &read, &measured_neighbors), "");
	GIVES(MUSTLINK_OK, mustlink_index_search(read, &points, K, 0.5, NULL, same, distance, NULL), "");
	CHECK(measured_neighbors == K && !memcmp(near, same, N * K * sizeof *near), "an index from a file finds other rows");
	GIVES(MUSTLINK_OK, mustlink_index_free(read), "");
	other.rows = N - 1;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_index_load(engine, file, 0, &other, NULL, &read, NULL), "other rows");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_index_load(engine, file, 0, NULL, NULL, &read, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_index_load(engine, NULL, 0, &points, NULL, &read, NULL), "NULL");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_index_load(engine, file, engine, &points, NULL, &read, NULL), "model");
	unlink(file);
	GIVES(MUSTLINK_BAD_FILE, mustlink_index_load(engine, file, 0, &points, NULL, &read, NULL), "no such file");
	rmdir(path);
	free(same);
	GIVES(MUSTLINK_OK, mustlink_index_free(index), "");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_index_free(index), "index");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_index_new(engine, &points, N, 3, NULL, &index), "neighbors");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_index_new(engine, &points, K, 3, NULL, NULL), "NULL");
	free(x), free(near), free(distance);
}

/* mistakes: each gives a code with a message, and the process continues. */
static void mistakes(void)
{
	double *x = draw(), *out = exactly(N * D, sizeof *out);
	mustlink_points points = by_rows(x), bad;
	mustlink_links l = links(), worse;
	mustlink_model model = fit("rca", NULL, &points), m2;
	mustlink_matrix m = matrix(out, N, D), wrong;
	mustlink_engine e2;
	int64_t size;
	GIVES(MUSTLINK_BAD_VERSION, mustlink_engine_new(MUSTLINK_ABI + 1, NULL, &e2), "version 2");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_engine_new(MUSTLINK_ABI, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_engine_new(MUSTLINK_ABI, "{\"threads\":2}", &e2), "threads");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_engine_new(MUSTLINK_ABI, "[", &e2), "options");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_engine_new(MUSTLINK_ABI, "{\"workers\":-1}", &e2), "want");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_engine_new(MUSTLINK_ABI, "{\"backend\":\"mkl\"}", &e2), "mkl");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "krcaa", NULL, &points, &l, NULL, &m2), "krca");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_fit(engine, NULL, NULL, &points, &l, NULL, &m2), "method");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_save(model, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_export(engine, model, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_export(engine, model, "model.txt", NULL), "want a name that ends in .onnx");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_export(engine, model, "model.onnx", "half"), "want one of double, single");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_load(engine, NULL, &m2), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_load(engine, "model.mlk", NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_load_bytes(engine, NULL, 100, &m2), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_save_bytes(model, NULL, 0, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_methods(NULL, 0, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_engine_info(engine, NULL, 0, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_model_info(model, NULL, 0, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_gram(engine, model, NULL, NULL, NULL, &m), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_gram(engine, model, &points, NULL, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, NULL, NULL, &m), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_update(engine, model, NULL, &points, &l, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_sample_links(NULL, 5, 1, 1, 1, NULL), "NULL");
	GIVES(MUSTLINK_OK, mustlink_model_size(model, NULL, NULL), "");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "rca", "{\"params\":{\"dims\":-1}}", &points, &l, NULL, &m2), "dims");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "rca", "{\"params\":{\"dims\":[1]}}", &points, &l, NULL, &m2), "want");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "rca", "{} {}", &points, &l, NULL, &m2), "more");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "rca", "{\"features\":[\"a\"]}", &points, &l, NULL, &m2), "names");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_fit(engine, "rca", NULL, NULL, &l, NULL, &m2), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_fit(engine, "rca", NULL, &points, &l, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "rca", NULL, &points, NULL, NULL, &m2), "must-link");
	bad = points, bad.data = NULL;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &bad, NULL, &m), "NULL");
	bad = points, bad.rows = -1;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &bad, NULL, &m), "-1 rows");
	bad = points, bad.type = 9;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &bad, NULL, &m), "type");
	bad = points, bad.kind = 9;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &bad, NULL, &m), "kind");
	bad = points, bad.row_stride = 2;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &bad, NULL, &m), "strides");
	bad = points, bad.rows = INT64_MAX, bad.row_stride = INT64_MAX / 2;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &bad, NULL, &m), "larger than memory");
	bad = points, bad.data = (const char *)x + 1;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &bad, NULL, &m), "aligned");
	bad = points, bad.columns = D - 1, bad.row_stride = D;
	wrong = matrix(out, N, D);
	GIVES(MUSTLINK_BAD_INPUT, mustlink_embed(engine, model, &bad, NULL, &wrong), "features");
	wrong = matrix(out, N - 1, D);
	GIVES(MUSTLINK_BAD_INPUT, mustlink_embed(engine, model, &points, NULL, &wrong), "rows of the output");
	wrong = matrix(NULL, N, D);
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &points, NULL, &wrong), "NULL");
	wrong = m, wrong.row_stride = 0;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &points, NULL, &wrong), "strides");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_embed(engine, model, &points, NULL, NULL), "NULL");
	x[3 * D + 2] = NAN;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_embed(engine, model, &points, NULL, &m), "row 3, column \"2\"");
	x[3 * D + 2] = 0;
	int64_t far[2] = {0, N};
	double d;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_euclidean_distances(engine, model, &points, far, 1, NULL, &d), "60");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_euclidean_distances(engine, model, &points, far, 1, NULL, NULL), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_euclidean_distances(engine, model, NULL, far, 1, NULL, &d), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_euclidean_distances(engine, model, &points, NULL, 1, NULL, &d), "NULL");
	worse = l, worse.sign = NULL;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_fit(engine, "rca", NULL, &points, &worse, NULL, &m2), "NULL");
	worse = l, worse.pair = far, worse.pairs = 1;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "rca", NULL, &points, &worse, NULL, &m2), "row 60");
	worse = l, worse.label = label, worse.rows = N - 1;
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "rca", NULL, &points, &worse, NULL, &m2), "labels");
	worse = (mustlink_links){.triplets = 1, .triplet = far};
	worse.triplet = (int64_t[]){0, 1, 2};
	GIVES(MUSTLINK_BAD_INPUT, mustlink_fit(engine, "rca", NULL, &points, &worse, NULL, &m2), "triplets");
	bad = points, bad.kind = MUSTLINK_SPARSE;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_fit(engine, "krca", NULL, &bad, &l, NULL, &m2), "row_start");
	int64_t *start = exactly(N + 1, sizeof *start);
	start[N] = INT64_MAX;
	bad.row_start = start;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_fit(engine, "krca", NULL, &bad, &l, NULL, &m2), "memory");
	start[N] = 0, start[1] = 5;
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_fit(engine, "krca", NULL, &bad, &l, NULL, &m2), "row_start");
	free(start);
	GIVES(MUSTLINK_BAD_INPUT, mustlink_update(engine, model, NULL, &points, &l, NULL, &m2), "cannot be updated");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_update(engine, model, "{\"drop_last\":1}", NULL, NULL, NULL, &m2), "drop_last");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_model_info(model, NULL, 5, &size), "NULL");
	GIVES(MUSTLINK_BAD_ARGUMENT, mustlink_model_info(model, NULL, 0, NULL), "NULL");
	GIVES(MUSTLINK_BAD_INPUT, mustlink_sample_links(label, N, N * N, 0, 1, pair), "must");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_embed(engine, engine, &points, NULL, &m), "not a model");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_embed(model, model, &points, NULL, &m), "not an engine");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_engine_free(model), "not an engine");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_model_free(0), "handle 0");
	GIVES(MUSTLINK_OK, mustlink_model_free(model), "");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_model_free(model), "freed");
	GIVES(MUSTLINK_BAD_HANDLE, mustlink_embed(engine, model, &points, NULL, &m), "freed");
	GIVES(MUSTLINK_OK, mustlink_engine_new(MUSTLINK_ABI, "{\"memory_limit\": 1000, \"workers\": 1}", &e2), "");
	GIVES(MUSTLINK_NO_MEMORY, mustlink_fit(e2, "krca", NULL, &points, &l, NULL, &m2), "limit");
	GIVES(MUSTLINK_OK, mustlink_engine_free(e2), "");
	free(x), free(out);
}

/* updates: a model of itml learns more links; a model of krca learns more groups, and the update
 * is undone. */
static void updates(void)
{
	double *x = draw();
	mustlink_points points = by_rows(x);
	mustlink_links l = links();
	mustlink_model old = fit("itml", NULL, &points), more, less;
	GIVES(MUSTLINK_OK, mustlink_update(engine, old, NULL, &points, &l, NULL, &more), "");
	mustlink_model_free(old), mustlink_model_free(more);
	old = fit("krca", NULL, &points);
	int64_t group[N], dim;
	for (int i = 0; i < N; i++)
		group[i] = i < 6 ? i % 2 : -1;
	l = (mustlink_links){.rows = N, .group = group};
	double *before = embedded(old, &points, &dim), *after;
	GIVES(MUSTLINK_OK, mustlink_update(engine, old, NULL, &points, &l, NULL, &more), "");
	after = embedded(more, &points, &dim);
	CHECK(memcmp(before, after, N * dim * sizeof *after), "an update changed nothing");
	free(after);
	GIVES(MUSTLINK_OK, mustlink_update(engine, more, "{\"drop_last\":1}", NULL, NULL, NULL, &less), "");
	after = embedded(less, &points, &dim);
	double worst = 0;
	for (int i = 0; i < N * dim; i++)
		worst = fmax(worst, fabs(fabs(after[i]) - fabs(before[i])));
	CHECK(worst < 1e-6, "after the undone update coordinates differ by %g", worst);
	mustlink_model_free(old), mustlink_model_free(more), mustlink_model_free(less);
	free(x), free(before), free(after);
}

static int32_t stop;

static int count(void *user, const mustlink_report *r)
{
	(void)r;
	return ++*(int *)user >= 3; /* the third call cancels */
}

static void *raise_flag(void *unused)
{
	usleep(30000);
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	return unused;
}

/* endings: a long fit ends soon after the flag is set, or after the progress function cancels. */
static void endings(void)
{
	enum { MANY = 2500 };
	double *x = exactly(MANY * D, sizeof *x);
	int64_t *group = exactly(MANY, sizeof *group);
	for (int i = 0; i < MANY * D; i++)
		x[i] = sin(i * 1.7) + cos(i * i * 0.3);
	for (int i = 0; i < MANY; i++)
		group[i] = i % 4;
	mustlink_points points = {.kind = MUSTLINK_DENSE, .type = MUSTLINK_FLOAT64, .rows = MANY, .columns = D, .data = x, .row_stride = D, .column_stride = 1};
	mustlink_links l = {.rows = MANY, .label = group};
	mustlink_model model = 0;
	int calls = 0;
	mustlink_control by_function = {.progress = count, .user = &calls, .interval = 0.01};
	GIVES(MUSTLINK_CANCELED, mustlink_fit(engine, "nca", "{\"params\":{\"tol\":1e-12}}", &points, &l, &by_function, &model), "cancel");
	CHECK(calls == 3, "%d calls", calls);
	mustlink_control by_flag = {.cancel = &stop};
	pthread_t thread;
	pthread_create(&thread, NULL, raise_flag, NULL);
	GIVES(MUSTLINK_CANCELED, mustlink_fit(engine, "nca", "{\"params\":{\"tol\":1e-12}}", &points, &l, &by_flag, &model), "cancel");
	pthread_join(thread, NULL);
	CHECK(model == 0, "a canceled fit wrote its handle");
	free(x), free(group);
}

static void *worker(void *unused)
{
	for (int round = 0; round < 5; round++) {
		double *x = draw();
		mustlink_points points = by_rows(x);
		int64_t dim;
		mustlink_model model = fit("rca", NULL, &points);
		free(embedded(model, &points, &dim));
		GIVES(MUSTLINK_OK, mustlink_model_free(model), "");
		GIVES(MUSTLINK_BAD_HANDLE, mustlink_model_free(model), "freed");
		free(x);
	}
	return unused;
}

/* threads: each thread has its own message. */
static void threads(void)
{
	pthread_t list[4];
	CHECK(mustlink_engine_free(0) == MUSTLINK_BAD_HANDLE, "handle 0");
	char before[200];
	snprintf(before, sizeof before, "%s", mustlink_message());
	for (int k = 0; k < 4; k++)
		pthread_create(&list[k], NULL, worker, NULL);
	for (int k = 0; k < 4; k++)
		pthread_join(list[k], NULL);
	CHECK(!strcmp(before, mustlink_message()), "another thread changed this thread's message");
}

static volatile sig_atomic_t alarms;

/* on_alarm needs more stack than Go code leaves free. */
static void on_alarm(int number)
{
	volatile char stack[12 << 10];
	memset((void *)stack, number, sizeof stack);
	alarms++;
}

/* busy spends nearly all its time in calls that compute. */
static void *busy(void *unused)
{
	enum { ROWS = 600, COLUMNS = 5 };
	double *x = exactly(ROWS * COLUMNS, sizeof *x);
	int64_t *class = exactly(ROWS, sizeof *class), dim, features;
	for (int i = 0; i < ROWS; i++) {
		class[i] = i % 3;
		for (int j = 0; j < COLUMNS; j++)
			x[i * COLUMNS + j] = cos(7.0 * i * (j + 1)) + class[i];
	}
	mustlink_points points = by_rows(x);
	points.rows = ROWS, points.columns = COLUMNS, points.row_stride = COLUMNS;
	mustlink_links all = {.rows = ROWS, .label = class};
	for (int round = 0; round < 4; round++) {
		mustlink_model model = 0;
		GIVES(MUSTLINK_OK, mustlink_fit(engine, "krca", NULL, &points, &all, NULL, &model), "");
		GIVES(MUSTLINK_OK, mustlink_model_size(model, &dim, &features), "");
		double *out = exactly(ROWS * dim, sizeof *out);
		mustlink_matrix m = matrix(out, ROWS, dim);
		for (int k = 0; k < 20; k++)
			GIVES(MUSTLINK_OK, mustlink_embed(engine, model, &points, NULL, &m), "");
		free(out);
		GIVES(MUSTLINK_OK, mustlink_model_free(model), "");
	}
	free(x), free(class);
	return unused;
}

/* signals: a handler that was installed without SA_ONSTACK interrupts calls of eight threads. */
static void signals(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}, before;
	sigaction(SIGALRM, &action, &before);
	usleep(5000); /* longer than the pause between two looks at the handlers */
	struct itimerval often = {{0, 300}, {0, 300}}, off = {{0, 0}, {0, 0}};
	pthread_t list[8];
	for (int k = 0; k < 8; k++)
		pthread_create(&list[k], NULL, busy, NULL);
	sigset_t alarm_only;
	sigemptyset(&alarm_only), sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL); /* not on this thread, which only waits */
	setitimer(ITIMER_REAL, &often, NULL);
	for (int k = 0; k < 8; k++)
		pthread_join(list[k], NULL);
	setitimer(ITIMER_REAL, &off, NULL);
	CHECK(alarms > 10, "%d signals", (int)alarms);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	sigaction(SIGALRM, &before, NULL);
}

/* forks: calls in a child are refused at once. */
static void forks(void)
{
	pid_t child = fork();
	if (child == 0) {
		mustlink_engine e;
		_exit(mustlink_engine_new(MUSTLINK_ABI, NULL, &e) == MUSTLINK_FORKED && strstr(mustlink_message(), "fork") ? 0 : 1);
	}
	int status = 1;
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
}

int main(void)
{
	int64_t size = 0;
	CHECK(mustlink_abi_version() == MUSTLINK_ABI, "version %d", mustlink_abi_version());
	CHECK(mustlink_version()[0], "no version");
	GIVES(MUSTLINK_OK, mustlink_engine_new(MUSTLINK_ABI, "{\"workers\": 2}", &engine), "");
	GIVES(MUSTLINK_TOO_SMALL, mustlink_methods(NULL, 0, &size), "want");
	for (int i = 0; i < N; i++)
		label[i] = i % 3;
	for (int k = 0; k < 2 * LINKS; k++)
		sign[k] = k < LINKS ? 1 : -1;
	GIVES(MUSTLINK_OK, mustlink_sample_links(label, N, LINKS, LINKS, 1, pair), "");
	for (int k = 0; k < 2 * LINKS; k++)
		CHECK((label[pair[2 * k]] == label[pair[2 * k + 1]]) == (sign[k] > 0), "pair %d", k);
	layouts();
	tables();
	meanings();
	searches();
	matches();
	groups();
	mistakes();
	updates();
	endings();
	threads();
	signals();
	forks();
	GIVES(MUSTLINK_OK, mustlink_engine_free(engine), "");
	printf("%d checks, %d failed\n", checks, failures);
	return failures > 0;
}
