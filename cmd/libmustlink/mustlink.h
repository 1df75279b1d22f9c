/*
 * mustlink.h: the C interface of mustlink, which learns metrics from pairwise constraints.
 *
 * Link with libmustlink.so (pkg-config mustlink) or libmustlink.a. docs/bindings.md is the manual.
 *
 * Rules for every function:
 *   - It returns MUSTLINK_OK or another code of mustlink_code. After a failure, mustlink_message()
 *     returns the error message of the calling thread, in English. Outputs are written only with
 *     MUSTLINK_OK, except for a matrix whose computation was canceled.
 *   - It may be called from any thread at any time, also on shared handles. At most as many fits
 *     and updates run at a time as there are processors; others wait.
 *   - Handles are numbers, never 0. A handle that was freed or never existed gives
 *     MUSTLINK_BAD_HANDLE. It is safe to free a handle that another thread still uses.
 *   - All memory belongs to the caller, before and after a call. The library keeps no pointer to
 *     it: a fit copies what the model needs of the training points. Memory must not change during
 *     a call.
 *   - Text is UTF-8 and ends in a zero byte. Options are a JSON object, or NULL for none. An
 *     unknown member is an error.
 *   - In a process that was forked after the library was loaded every function returns
 *     MUSTLINK_FORKED.
 *   - Signal handlers of the program run on the signal stack of their thread: calls add the flag
 *     SA_ONSTACK to them. Install handlers at least 2 ms before calls, or with that flag. They may
 *     use 16 KB of stack.
 *   - NULL where a function does not allow it gives MUSTLINK_BAD_ARGUMENT.
 */
#ifndef MUSTLINK_H
#define MUSTLINK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MUSTLINK_ABI is the version of this interface. It changes when programs that were compiled for
 * the previous one would no longer work. New functions, codes and options do not
 * change it. */
#define MUSTLINK_ABI 1

/* Deprecated functions give a warning where they are called, unless MUSTLINK_KEEP_DEPRECATED is
 * defined before this file is included. */
#if defined(MUSTLINK_KEEP_DEPRECATED) || !defined(__GNUC__)
#define MUSTLINK_DEPRECATED
#else
#define MUSTLINK_DEPRECATED __attribute__((deprecated))
#endif

/* MUSTLINK_API marks the functions: a library for Windows, which is compiled with MUSTLINK_EXPORT,
 * exports only what is marked. */
#if defined(_WIN32) && defined(MUSTLINK_EXPORT)
#define MUSTLINK_API __declspec(dllexport)
#else
#define MUSTLINK_API
#endif

typedef uintptr_t mustlink_engine; /* linear algebra, workers and a memory limit */
typedef uintptr_t mustlink_model;  /* a learned metric, immutable */
typedef uintptr_t mustlink_index;  /* rows to search for nearest neighbors, immutable */
typedef uintptr_t mustlink_pairs;  /* pairs of rows that a call found, immutable */
typedef uintptr_t mustlink_groups; /* groups of rows that a call found, immutable */

typedef enum mustlink_code {
	MUSTLINK_OK = 0,
	MUSTLINK_BAD_INPUT = 1,    /* bad data, links, parameters or file content */
	MUSTLINK_BAD_ARGUMENT = 2, /* bad pointers, strides, element types or sizes: an error of the calling program */
	MUSTLINK_BAD_HANDLE = 3,   /* the handle was freed, is of another kind, or never existed */
	MUSTLINK_NO_MEMORY = 4,    /* the call needs more than the engine's memory limit */
	MUSTLINK_CANCELED = 5,     /* canceled by the flag or the progress function */
	MUSTLINK_BAD_FILE = 6,     /* a file cannot be opened, read or written */
	MUSTLINK_TOO_SMALL = 7,    /* the buffer is too small; *size is the required size */
	MUSTLINK_BAD_VERSION = 8,  /* the program was compiled for another MUSTLINK_ABI */
	MUSTLINK_FORKED = 9,       /* the process was forked after the library was loaded */
	MUSTLINK_FAILED = 10       /* any other failure: a bug or a problem of the machine */
} mustlink_code;

typedef enum mustlink_type { MUSTLINK_FLOAT64 = 1, MUSTLINK_FLOAT32 = 2 } mustlink_type;
typedef enum mustlink_kind { MUSTLINK_DENSE = 1, MUSTLINK_SPARSE = 2, MUSTLINK_GRAM = 3, MUSTLINK_TABLE = 4 } mustlink_kind;

/* mustlink_column is one column of a table: numbers or texts, one for each row. Exactly one of
 * numbers and codes is not NULL. */
typedef struct mustlink_column {
	const char *name;          /* not empty, and different for each column; NULL for all columns: no names */
	const double *numbers;     /* NAN: missing */
	const int32_t *codes;      /* positions in levels, -1: missing */
	const char *const *levels; /* different texts, of which some need not occur; ignored for numbers */
	int64_t level_count;
} mustlink_column;

/* mustlink_points are n points: rows of a matrix or of a table, or their inner products.
 *
 * MUSTLINK_DENSE   data[i * row_stride + j * column_stride] is feature j of point i. Strides count
 *                  elements: (columns, 1) for contiguous rows, (1, rows) for contiguous columns.
 *                  Doubles in contiguous rows are used without a copy, except in fits and updates.
 * MUSTLINK_SPARSE  compressed rows: the entries row_start[i] to row_start[i + 1] - 1 of data and
 *                  column belong to point i, with ascending columns. Strides are ignored.
 * MUSTLINK_GRAM    data as for MUSTLINK_DENSE: inner products of the rows with the training
 *                  points, which are the columns. diagonal holds the inner product of each row
 *                  with itself, or is NULL for the square matrix of the training points.
 * MUSTLINK_TABLE   data points to `columns` elements of mustlink_column. type, strides and the
 *                  other members are ignored. A model takes its columns by their names: they may
 *                  come in any order and among others. Without names they come as in the fit.
 *                  Memory of columns is the caller's, as all memory; numbers and codes are used
 *                  without a copy, except in fits and updates. */
typedef struct mustlink_points {
	int32_t kind; /* mustlink_kind */
	int32_t type; /* mustlink_type of data */
	int64_t rows, columns;
	const void *data;
	int64_t row_stride, column_stride;
	const int64_t *row_start; /* rows + 1 elements */
	const int32_t *column;
	const double *diagonal;
} mustlink_points;

/* mustlink_matrix is an output matrix, with strides as above. Elements must not overlap. */
typedef struct mustlink_matrix {
	int32_t type; /* mustlink_type of data */
	int64_t rows, columns;
	void *data;
	int64_t row_stride, column_stride;
} mustlink_matrix;

/* mustlink_links are constraints between rows. Every part may be empty, and all parts are
 * combined. All zeros means no constraints. */
typedef struct mustlink_links {
	int64_t pairs;          /* number of pairs */
	const int64_t *pair;    /* two rows for each pair */
	const int8_t *sign;     /* 1: must-link, -1: cannot-link */
	const double *weight;   /* > 0, one for each pair; NULL for weights of 1 */
	const double *bound;    /* target of the squared distance, NaN for none; NULL for no targets */
	int64_t triplets;       /* number of triplets */
	const int64_t *triplet; /* three rows i, j, k for each: i is nearer to j than to k */
	int64_t rows;           /* length of group and label: the number of points */
	const int64_t *group;   /* chunklets: rows with the same number >= 0 belong together; NULL for none */
	const int64_t *label;   /* classes: rows with the same number >= 0 belong together, others do not; NULL for none */
} mustlink_links;

/* mustlink_distinct is a column in which any two rows of a group differ: in their keys, or by a width
 * in their values, such as times. Either keys or values are not NULL, with a number for each row. */
typedef struct mustlink_distinct {
	const char *name;     /* for messages, or NULL */
	const int64_t *keys;  /* below 0: the row may be in any group */
	double width;         /* 0 for keys, > 0 for values */
	const double *values; /* NAN: the row may be in any group */
} mustlink_distinct;

/* mustlink_report is the progress of a long call. stage is NULL when there is none to report; the
 * progress function is still called about every interval, so that it can cancel. */
typedef struct mustlink_report {
	const char *stage;
	int64_t done, total; /* steps; total is 0 when it is unknown */
	double objective, residual, seconds;
} mustlink_report;

/* mustlink_progress returns 0 to continue, any other value to cancel. It runs on the thread of the
 * call. */
typedef int (*mustlink_progress)(void *user, const mustlink_report *report);

/* mustlink_control observes and cancels one call. NULL does neither. */
typedef struct mustlink_control {
	const int32_t *cancel; /* another thread sets it to a value other than 0 to cancel; NULL for none */
	mustlink_progress progress; /* NULL for none */
	void *user;                 /* passed to progress */
	double interval;            /* seconds between calls of progress; 0: 0.05 */
} mustlink_control;

/* mustlink_abi_version returns the MUSTLINK_ABI of the library. It never fails. */
MUSTLINK_API int32_t mustlink_abi_version(void);

/* mustlink_version returns the library's version as text: "v1.2.3". It never fails. */
MUSTLINK_API const char *mustlink_version(void);

/* mustlink_message returns the error message of this thread's latest failed call, "" before the
 * first. It is valid until the next failed call of this thread. */
MUSTLINK_API const char *mustlink_message(void);

/* mustlink_engine_new creates an engine. abi is the MUSTLINK_ABI for which the program was
 * compiled. Options: "workers" (0: all processors), "memory_limit" (bytes, 0: none), "backend" and
 * "simd" (values as in the environment variables MUSTLINK_BACKEND and MUSTLINK_SIMD of the
 * command), "blas_threads". */
MUSTLINK_API int mustlink_engine_new(int32_t abi, const char *options, mustlink_engine *engine);

/* mustlink_engine_info writes a JSON object: version, build, backend, workers, limits, and
 * "advice" if OpenBLAS runs kernels of an older processor. For the buffer see
 * mustlink_model_info. */
MUSTLINK_API int mustlink_engine_info(mustlink_engine engine, char *buffer, int64_t capacity, int64_t *size);
MUSTLINK_API int mustlink_engine_free(mustlink_engine engine);

/* mustlink_methods writes a JSON array of the methods with their parameters. For the buffer see
 * mustlink_model_info. */
MUSTLINK_API int mustlink_methods(char *buffer, int64_t capacity, int64_t *size);

/* mustlink_sample_links draws must + cannot pairs at random, each at most once: first must pairs
 * of rows with the same label, then cannot pairs of rows with different labels. Rows with a label
 * below 0 are unlabeled. The pairs are those of `mustlink links make` for the same labels and
 * seed. pair is the output, two row numbers for each pair. */
MUSTLINK_API int mustlink_sample_links(const int64_t *label, int64_t rows, int64_t must, int64_t cannot, uint64_t seed, int64_t *pair);

/* mustlink_fit learns a metric by the named method ("krca"), or by one that the links suggest
 * ("auto", without params). links may be NULL. Options: "kernel",
 * "params" (an object of parameters by name), "seed" (1), "standardize", "tfidf" (true or false),
 * "features" (names of the columns; a table has its own), "quadruplets" (lists of four rows [i, j, k, l]: i and j are
 * nearer to each other than k and l), "targets" (a number for each point, for methods that learn
 * from targets), "hold_out" (0; the number of further fits that hold links out to assess the
 * metric: 1 for a single fit without a fifth of the linked points, -1 for five, or as many as take
 * ten seconds. mustlink_model_info has the member "verdict"), "keep_worse" (false: where these links find the metric of "auto" worse than the
 * points without learning, the model is of the method "raw").
 *
 * Columns of tables and of dense points are prepared, and the model prepares later points in the
 * same way: "prepare" ("auto": as their kinds ask for; "none": numbers are taken as they are, and
 * texts and missing values are errors; "embeddings": rows are embeddings of texts or pictures, so
 * only directions count, and "auto" takes the method "adapt"). With auto, NAN in dense points is a missing value, "kinds"
 * are kinds by the name of a column, or by a pattern such as "total_*": "number", "category",
 * "boolean", "date", "text", "drop"; "impute" ("median", "mean", "most-frequent", "constant=V",
 * "sides": below and above all values in two columns, for forest; "error"), "indicators" (true: a
 * column for the gaps of each column of numbers), "scale" ("auto", "none", "standardize",
 * "robust"), "levels" (50: columns of a category), "cyclic" (true: parts of dates as points on
 * circles), "text" ("": left out; "words", "letters:K": tf-idf of them). A Gram matrix must be
 * positive semidefinite, or "gram" ("clip", "flip") makes its negative eigenvalues 0 or positive. */
MUSTLINK_API int mustlink_fit(mustlink_engine engine, const char *method, const char *options, const mustlink_points *points,
                 const mustlink_links *links, const mustlink_control *control, mustlink_model *model);

/* mustlink_update computes a new model from a model and more links. npkl, kbeta, gml, itml, blend:
 * links between the points of the fit, which must be given again, or may be NULL if the model stores
 * them, as the member "updating" of mustlink_model_info says. krca: the linked rows are new points.
 * Options, for krca only: "extend" (true: group numbers are those of
 * the model's groups), "drop_last" (undo this many updates; points and links are NULL then). */
MUSTLINK_API int mustlink_update(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                    const mustlink_links *links, const mustlink_control *control, mustlink_model *updated);

/* mustlink_model_size returns the number of columns of an embedding, and the number of features
 * that points must have (-1: any). Either pointer may be NULL. */
MUSTLINK_API int mustlink_model_size(mustlink_model model, int64_t *dimensions, int64_t *features);

/* mustlink_embed writes the embedding of points, rows x dimensions: coordinates in which Euclidean
 * distance is the learned distance. For krca, and for gml and itml with a kernel, they hold a share of
 * it, which mustlink_model_info says for the training rows; mustlink_gram and
 * mustlink_euclidean_distances compute the learned metric itself. */
MUSTLINK_API int mustlink_embed(mustlink_engine engine, mustlink_model model, const mustlink_points *points,
                   const mustlink_control *control, const mustlink_matrix *out);

/* mustlink_gram writes the learned kernel between the rows of x and those of y (NULL: x). */
MUSTLINK_API int mustlink_gram(mustlink_engine engine, mustlink_model model, const mustlink_points *x, const mustlink_points *y,
                  const mustlink_control *control, const mustlink_matrix *out);

/* mustlink_euclidean_distances writes the learned distance of each pair of rows; pair has two row
 * numbers for each. */
MUSTLINK_API int mustlink_euclidean_distances(mustlink_engine engine, mustlink_model model, const mustlink_points *points,
                                 const int64_t *pair, int64_t pairs, const mustlink_control *control, double *out);

/* mustlink_distances writes the squares of these distances. It is deprecated: use
 * mustlink_euclidean_distances. */
MUSTLINK_API int mustlink_distances(mustlink_engine engine, mustlink_model model, const mustlink_points *points, const int64_t *pair,
                       int64_t pairs, const mustlink_control *control, double *out) MUSTLINK_DEPRECATED;

/* mustlink_calibrate computes a model with a calibration: which distances mean that two rows belong
 * together, as `mustlink calibrate` does. links, between rows of points, should be others than those
 * of the fit, of both kinds, and a random sample of all pairs, of both kinds of pairs apart (then with
 * "share"), or of the pairs up to a distance (with "near"). Options: "share" (0: that of the links; the
 * share of matching pairs among those to judge, below 1), "near" (false). mustlink_model_info has the
 * member "calibration". */
MUSTLINK_API int mustlink_calibrate(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                       const mustlink_links *links, const mustlink_control *control, mustlink_model *calibrated);

/* mustlink_pairs_find finds all pairs of rows up to a distance, nearest first, as `mustlink pairs` does.
 * Options: one of "threshold" (a distance >= 0) and, for a calibrated model, "precision" and "recall"
 * (above 0 to 1); "share" (0: the calibration's), "neighbors" (0: all; only pairs with a row among so
 * many nearest of the other), "max_pairs" (0: 20 million; more are an error). */
MUSTLINK_API int mustlink_pairs_find(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                        const mustlink_control *control, mustlink_pairs *pairs);

/* mustlink_pairs_suggest chooses pairs to ask a person about next, as `mustlink suggest` does; links are
 * what is known, or NULL. Options: "count" (10), "classes" (0: unknown), "near" (0; draw the pairs at
 * random from those up to this distance), "seed" (1). */
MUSTLINK_API int mustlink_pairs_suggest(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                           const mustlink_links *links, const mustlink_control *control, mustlink_pairs *pairs);

/* mustlink_pairs_info writes a JSON object: "pairs" (their number), "threshold", "calibrated" (what the
 * links of the calibration show up to the threshold, null without one), "classes" (that a suggestion
 * knows), "notices". For the buffer see mustlink_model_info. */
MUSTLINK_API int mustlink_pairs_info(mustlink_pairs pairs, char *buffer, int64_t capacity, int64_t *size);

/* mustlink_pairs_copy writes two row numbers for each pair, its distance and its probability. distance
 * and probability may be NULL. They are not written for a suggestion, nor probability without a
 * calibration. */
MUSTLINK_API int mustlink_pairs_copy(mustlink_pairs pairs, int64_t *pair, double *distance, double *probability);
MUSTLINK_API int mustlink_pairs_free(mustlink_pairs pairs);

/* mustlink_groups_find merges nearest rows into groups, as `mustlink cluster` without -n does; links and
 * columns are kept exactly. model may be 0, for the rows as they are, and links and columns NULL.
 * Options: "linkage" ("average", "complete", "single", "ward"); "threshold" (0: that of the calibration;
 * the largest height of a merge), "precision" (of a threshold by the calibration), "count" (0; end at so
 * many groups), "min_size" (0; groups by density of at least so many rows), "neighbors" (0: all of up to
 * 2000 rows, and 20 of more), "recall" (0: 1; the share of the nearest rows to find). */
MUSTLINK_API int mustlink_groups_find(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                         const mustlink_links *links, const mustlink_distinct *columns, int64_t column_count,
                         const mustlink_control *control, mustlink_groups *groups);

/* mustlink_groups_info writes a JSON object: "groups", "rows", "merges" and "forbidden", the numbers of
 * these. For the buffer see mustlink_model_info. */
MUSTLINK_API int mustlink_groups_info(mustlink_groups groups, char *buffer, int64_t capacity, int64_t *size);

/* mustlink_groups_copy writes the group of each row (numbered by first rows; -1: in none), two nodes and
 * a height for each merge, and for each merge that was not allowed two rows and the number of the column
 * that says so, -1 for a cannot-link. Node i is row i, and merge k makes node rows + k; merges of
 * must-linked rows come first, at height 0. All but label may be NULL. */
MUSTLINK_API int mustlink_groups_copy(mustlink_groups groups, int64_t *label, int64_t *child, double *height, int64_t *forbidden);
MUSTLINK_API int mustlink_groups_free(mustlink_groups groups);

/* mustlink_entities_find joins the records that are one entity, as `mustlink entities` does, and writes
 * the number of the entity of each record and its probability, which may be NULL. texts is a table with
 * the columns of keys and texts, NULL for none; points are the records as the model takes them, NULL with
 * model 0. links, NULL with the probabilities of a calibration, and columns of keys are kept exactly.
 * Options: "blocks" (lists of keys that candidates share, such as "zip,first-letter(name)"), "neighbors"
 * (0; candidates are so many nearest records too), "max_pairs" (0: 20 million candidates), "compare" (names
 * of texts whose similarity the probability depends on), "decided" (lists of two rows and 1 or -1: links to
 * keep, not to learn from), "previous" (earlier numbers of the records, -1 for new ones, which they keep),
 * "next" (the first number of new entities), "doubts" (100), "seed" (1). doubtful becomes the candidates about
 * which the entities are wrong most likely, with their probabilities, and mustlink_pairs_info has the member
 * "entities". With "ask", they are so many candidates at random to ask people about, and label is not written. */
MUSTLINK_API int mustlink_entities_find(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                           const mustlink_points *texts, const mustlink_links *links, const mustlink_distinct *columns,
                           int64_t column_count, const mustlink_control *control, mustlink_pairs *doubtful, int64_t *label,
                           double *probability);

/* mustlink_classify writes the most frequent label among the k nearest known rows of each fresh row, as
 * `mustlink classify` does; of equally frequent ones that of the nearest. label has a number for each
 * known row, below 0 for rows without one, which do not vote. */
MUSTLINK_API int mustlink_classify(mustlink_engine engine, mustlink_model model, const mustlink_points *known, const int64_t *label,
                      const mustlink_points *fresh, int64_t k, const mustlink_control *control, int64_t *found);

/* mustlink_remarks writes what is odd about points that a model is applied to, a JSON array of
 * sentences: columns that the model does not take, and rows with texts that the fit did not see. */
MUSTLINK_API int mustlink_remarks(mustlink_model model, const mustlink_points *points, char *buffer, int64_t capacity, int64_t *size);

/* mustlink_model_info writes a description of a model as a JSON object. "prepared" is a line for
 * each column that the model prepares, "left_out" the names of others. After a fit, "columns" are
 * the columns of its points with what was found and what is done with each; null after a load.
 *
 * Functions with a buffer write *size bytes, for text including its zero byte. When *size is more
 * than capacity they write only *size and return MUSTLINK_TOO_SMALL. buffer may be NULL with
 * capacity 0. */
MUSTLINK_API int mustlink_model_info(mustlink_model model, char *buffer, int64_t capacity, int64_t *size);

/* Save and load a model, as a file or in memory. A file is written completely or not at all. */
MUSTLINK_API int mustlink_save(mustlink_model model, const char *path);
MUSTLINK_API int mustlink_load(mustlink_engine engine, const char *path, mustlink_model *model);
MUSTLINK_API int mustlink_save_bytes(mustlink_model model, void *buffer, int64_t capacity, int64_t *size);
MUSTLINK_API int mustlink_load_bytes(mustlink_engine engine, const void *bytes, int64_t size, mustlink_model *model);
MUSTLINK_API int mustlink_model_free(mustlink_model model);

/* mustlink_export writes a model for programs without this library. The extension of the file selects
 * the format: .onnx, a graph for ONNX's runtimes; .json or .sql, a linear map. precision is that of a
 * graph's input and output, "double" or "single"; NULL means double. The file is written completely
 * or not at all. */
MUSTLINK_API int mustlink_export(mustlink_engine engine, mustlink_model model, const char *file, const char *precision);

/* mustlink_index_new makes an index for searches of nearest neighbors among dense points, such as
 * coordinates of mustlink_embed. It keeps a copy. neighbors, from 1 to one less than the number of
 * points, is the number for which the recall of searches is measured, on a sample that seed draws. */
MUSTLINK_API int mustlink_index_new(mustlink_engine engine, const mustlink_points *points, int64_t neighbors, uint64_t seed,
                       const mustlink_control *control, mustlink_index *index);

/* Save and load an index. A file, which is written completely or not at all, has the cells, not the
 * points: a load takes the same dense points again, and refuses others, such as the coordinates of
 * another model. It also takes a file of the command `mustlink neighbors`, with the coordinates of
 * its --train; model may be 0, or is that of the coordinates, which must be that of the file.
 * *measured_neighbors becomes the neighbors of mustlink_index_new; it may be NULL. */
MUSTLINK_API int mustlink_index_save(mustlink_index index, const char *index_path);
MUSTLINK_API int mustlink_index_load(mustlink_engine engine, const char *index_path, mustlink_model model, const mustlink_points *points,
                        const mustlink_control *control, mustlink_index *index, int64_t *measured_neighbors);

/* mustlink_index_search writes, for each of the dense points, the k nearest points of the index and
 * their distances, nearest first: k numbers for each point. recall is the share of the exact
 * neighbors that is found on average, above 0 to 1; 1 is exact. *measured becomes the share that was
 * found in another sample; it may be NULL. */
MUSTLINK_API int mustlink_index_search(mustlink_index index, const mustlink_points *points, int64_t k, double recall,
                          const mustlink_control *control, int64_t *neighbor, double *distance, double *measured);
MUSTLINK_API int mustlink_index_free(mustlink_index index);

#ifdef __cplusplus
}
#endif

#endif
