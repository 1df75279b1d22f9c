/*
 * mustlink.h: the C interface of mustlink, which learns metrics from pairwise constraints.
 *
 * Link with libmustlink.so (pkg-config mustlink) or libmustlink.a. docs/bindings.md is the manual.
 *
 * Rules, for every function:
 *   - It returns MUSTLINK_OK or another code of mustlink_code. mustlink_message() then says what was
 *     wrong, in English, for the calling thread. Outputs are written only with MUSTLINK_OK, but for a
 *     matrix that was cancelled half-way.
 *   - All functions may be called from any thread at any time, on the same handles too. As many fits
 *     and updates work at a time as there are processors; others wait for their turn.
 *   - Handles are numbers. One that was freed or never existed gives MUSTLINK_BAD_HANDLE; freeing one
 *     that another thread still uses is safe. 0 is never a handle.
 *   - Memory belongs to the caller, before and after a call. Nothing is kept: what a model needs of
 *     its training points is copied by the fit. While a call runs, its memory must not change.
 *   - Text is UTF-8 and ends in a zero byte. Options are a JSON object, or NULL for none; a member
 *     that does not exist is an error.
 *   - In a process that was forked after the library was loaded every function gives MUSTLINK_FORKED.
 */
#ifndef MUSTLINK_H
#define MUSTLINK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MUSTLINK_ABI is the version of this interface. It changes when a program that was compiled for
 * the one before would not work; functions, codes and options that are added leave it as it is. */
#define MUSTLINK_ABI 1

typedef uintptr_t mustlink_engine; /* what work runs on: linear algebra, workers, a memory limit */
typedef uintptr_t mustlink_model;  /* a learned metric; it never changes */

typedef enum mustlink_code {
	MUSTLINK_OK = 0,
	MUSTLINK_BAD_INPUT = 1,    /* data, links, parameters or a file's content */
	MUSTLINK_BAD_ARGUMENT = 2, /* NULL, strides, element types, sizes: a mistake of the calling program */
	MUSTLINK_BAD_HANDLE = 3,   /* freed, of another kind, or never given out */
	MUSTLINK_NO_MEMORY = 4,    /* the work needs more than the engine's memory limit */
	MUSTLINK_CANCELED = 5,    /* by the cancel flag or the progress function */
	MUSTLINK_BAD_FILE = 6,     /* a path that cannot be opened, read or written */
	MUSTLINK_TOO_SMALL = 7,    /* the buffer; its size was written */
	MUSTLINK_BAD_VERSION = 8,  /* the program was compiled for another MUSTLINK_ABI */
	MUSTLINK_FORKED = 9,       /* the process is a fork of the one that loaded the library */
	MUSTLINK_FAILED = 10       /* the input was sound: a bug, or the machine */
} mustlink_code;

typedef enum mustlink_type { MUSTLINK_FLOAT64 = 1, MUSTLINK_FLOAT32 = 2 } mustlink_type;
typedef enum mustlink_kind { MUSTLINK_DENSE = 1, MUSTLINK_SPARSE = 2, MUSTLINK_GRAM = 3 } mustlink_kind;

/* mustlink_points are n objects: rows of a matrix, or what is known of them.
 *
 * MUSTLINK_DENSE   data[i * row_stride + j * column_stride] is feature j of point i, strides counted
 *                  in elements: (columns, 1) for rows without gaps, (1, rows) for columns. Doubles in
 *                  rows without gaps are used in place by all but fits and updates; else there is a copy.
 * MUSTLINK_SPARSE  compressed rows: values row_start[i] up to row_start[i + 1] of data and column
 *                  belong to point i, columns ascending. Strides are not looked at.
 * MUSTLINK_GRAM    data as for MUSTLINK_DENSE, where columns are the training points: inner products.
 *                  diagonal holds that of each row with itself; NULL for a square matrix whose rows
 *                  are the training points.
 */
typedef struct mustlink_points {
	int32_t kind; /* mustlink_kind */
	int32_t type; /* mustlink_type of data */
	int64_t rows, columns;
	const void *data;
	int64_t row_stride, column_stride;
	const int64_t *row_start; /* rows + 1 of them */
	const int32_t *column;
	const double *diagonal;
} mustlink_points;

/* mustlink_matrix is a matrix to be written, with strides as above. Elements must not overlap. */
typedef struct mustlink_matrix {
	int32_t type; /* mustlink_type of data */
	int64_t rows, columns;
	void *data;
	int64_t row_stride, column_stride;
} mustlink_matrix;

/* mustlink_links are what is known of pairs of rows. Every part may be empty; given together they are
 * united. All zeros is no links at all. */
typedef struct mustlink_links {
	int64_t pairs;          /* their number */
	const int64_t *pair;    /* two rows each */
	const int8_t *sign;     /* 1: the two belong together, -1: they do not */
	const double *weight;   /* > 0; NULL for 1 each */
	const double *bound;    /* aim for the squared distance, NaN for none; NULL for none */
	int64_t triplets;       /* their number */
	const int64_t *triplet; /* three rows each: the first is nearer to the second than to the third */
	int64_t rows;           /* length of group and label, the number of points */
	const int64_t *group;   /* rows with the same number >= 0 belong together; NULL for none */
	const int64_t *label;   /* rows with the same number >= 0 belong together, with others do not */
} mustlink_links;

/* mustlink_report is news of long work. stage is NULL when there is none; the function is called
 * all the same, about every interval, so that it can say whether to go on. */
typedef struct mustlink_report {
	const char *stage;
	int64_t done, total; /* total is 0 when it is not known */
	double objective, residual, seconds;
} mustlink_report;

/* mustlink_progress returns 0 to go on, anything else to cancel. It runs on the thread of the call. */
typedef int (*mustlink_progress)(void *user, const mustlink_report *report);

/* mustlink_control watches and cancels one call; NULL stands for neither. */
typedef struct mustlink_control {
	const int32_t *cancel; /* the call ends soon after another thread has made it other than 0; NULL for none */
	mustlink_progress progress; /* NULL for none */
	void *user;                 /* given to progress */
	double interval;            /* seconds between two calls of progress; 0: 0.05 */
} mustlink_control;

/* mustlink_abi_version returns the MUSTLINK_ABI of the library. It never fails. */
int32_t mustlink_abi_version(void);

/* mustlink_version returns the library's version, for people: "v1.2.3". It never fails. */
const char *mustlink_version(void);

/* mustlink_message says what the latest call of this thread that failed met with: "" before the
 * first. It is valid until this thread's next call that fails. */
const char *mustlink_message(void);

/* mustlink_engine_new makes an engine. abi is MUSTLINK_ABI, with which the program was compiled.
 * Options: "workers" (0: all processors), "memory_limit" (bytes, 0: none), "backend", "simd" (names
 * as MUSTLINK_BACKEND and MUSTLINK_SIMD of the command take them), "blas_threads". */
int mustlink_engine_new(int32_t abi, const char *options, mustlink_engine *engine);

/* mustlink_engine_info writes a JSON object: version, build, backend, workers, limits. See mustlink_model_info. */
int mustlink_engine_info(mustlink_engine engine, char *buffer, int64_t capacity, int64_t *size);
int mustlink_engine_free(mustlink_engine engine);

/* mustlink_methods writes a JSON array of the methods with their parameters. See mustlink_model_info. */
int mustlink_methods(char *buffer, int64_t capacity, int64_t *size);

/* mustlink_sample_links draws must + cannot pairs at random: first must of rows with the same label,
 * then cannot of rows with different ones, each pair at most once. A label below 0 is none. The same
 * labels and seed give the pairs of `mustlink links make`. pair takes two numbers each. */
int mustlink_sample_links(const int64_t *label, int64_t rows, int64_t must, int64_t cannot, uint64_t seed, int64_t *pair);

/* mustlink_fit learns a metric by the method of that name ("krca"). links may be NULL.
 * Options: "kernel", "params" (an object of parameters by name), "seed" (1), "standardize", "tfidf"
 * (true or false), "features" (names of the columns), "quadruplets" (lists of four rows [i, j, k, l]: i and j
 * are nearer to each other than k and l), "targets" (a number for each point, for methods that learn from
 * targets). Progress and cancel as control says. */
int mustlink_fit(mustlink_engine engine, const char *method, const char *options, const mustlink_points *points,
                 const mustlink_links *links, const mustlink_control *control, mustlink_model *model);

/* mustlink_update teaches a model more and makes a new one. npkl, kbeta, gml, itml: more links
 * between points, which are those of the fit. krca: the rows that links name are new points.
 * Options, krca alone: "extend" (true: a group's number names a group of the model), "drop_last" (takes
 * so many updates back; points and links are NULL then). */
int mustlink_update(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                    const mustlink_links *links, const mustlink_control *control, mustlink_model *updated);

/* mustlink_model_size gives the number of columns that embedding writes, and of features that points
 * must have, -1 when any number will do. Either may be NULL. */
int mustlink_model_size(mustlink_model model, int64_t *dimensions, int64_t *features);

/* mustlink_embed writes coordinates in which Euclidean distance is the learned one: rows x dimensions. */
int mustlink_embed(mustlink_engine engine, mustlink_model model, const mustlink_points *points,
                   const mustlink_control *control, const mustlink_matrix *out);

/* mustlink_gram writes the learned kernel between the rows of x and those of y; NULL stands for x. */
int mustlink_gram(mustlink_engine engine, mustlink_model model, const mustlink_points *x, const mustlink_points *y,
                  const mustlink_control *control, const mustlink_matrix *out);

/* mustlink_distances writes the squared learned distance of each of so many pairs of rows, two numbers each. */
int mustlink_distances(mustlink_engine engine, mustlink_model model, const mustlink_points *points, const int64_t *pair,
                       int64_t pairs, const mustlink_control *control, double *out);

/* mustlink_model_info writes what is known of a model as a JSON object.
 *
 * Functions with a buffer write *size bytes (text with its zero byte), or, when that is more than
 * capacity, nothing but *size and return MUSTLINK_TOO_SMALL. buffer may be NULL with capacity 0. */
int mustlink_model_info(mustlink_model model, char *buffer, int64_t capacity, int64_t *size);

/* A model's file: as a whole at a path (written or not, never half), or in memory. */
int mustlink_save(mustlink_model model, const char *path);
int mustlink_load(mustlink_engine engine, const char *path, mustlink_model *model);
int mustlink_save_bytes(mustlink_model model, void *buffer, int64_t capacity, int64_t *size);
int mustlink_load_bytes(mustlink_engine engine, const void *bytes, int64_t size, mustlink_model *model);
int mustlink_model_free(mustlink_model model);

#ifdef __cplusplus
}
#endif

#endif
