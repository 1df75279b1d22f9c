//go:build cgo

/*
 * The functions of mustlink.h. Each first checks that Go can run in this process, makes the signal
 * handlers safe, and then calls a function of export.go. The error messages of threads are stored
 * here, because only C code has thread-specific memory on a thread that Go did not start.
 */
#include "mustlink.h"

#include "_cgo_export.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* MESSAGE_BYTES is messageBytes of convert.go. */
enum { MESSAGE_BYTES = 4096 };

static volatile int forked;
static pthread_key_t messages;
static char spare[MESSAGE_BYTES]; /* for a thread that cannot allocate its own */

/* Go's threads do not exist in a forked child, and a call would wait for them forever. */
static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void begin(void)
{
	pthread_key_create(&messages, free);
#ifndef _WIN32
	pthread_atfork(0, 0, in_child);
#else
	(void)in_child;
#endif
}

/* message returns the buffer of this thread. It is no thread-local variable, because a library
 * that is loaded at run time has room for only a few bytes of these. */
static char *message(void)
{
	char *text = pthread_getspecific(messages);
	if (text)
		return text;
	if (!(text = calloc(1, MESSAGE_BYTES)) || pthread_setspecific(messages, text)) {
		free(text);
		return spare;
	}
	return text;
}

static int refuse_fork(void)
{
	strcpy(message(), "this process was forked after mustlink was loaded, and Go cannot run in a fork: "
	                  "want the library loaded only in the child, or processes started with spawn or forkserver");
	return MUSTLINK_FORKED;
}

#ifndef _WIN32
/*
 * on_own_stack makes the handlers of the program run on the signal stack of their thread, as Go's
 * runtime does once, for the handlers that it finds when it starts. A handler without SA_ONSTACK
 * would run on the small stack of whatever Go code it interrupts, and overwrite other memory. Go
 * gives every thread in a call a signal stack, unless the program has done so.
 */
static void on_own_stack(void)
{
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;
		if (sigaction(number, NULL, &action) || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
			continue;
		if (!(action.sa_flags & SA_ONSTACK)) {
			action.sa_flags |= SA_ONSTACK;
			sigaction(number, &action, NULL);
		}
	}
}

/* looked_at is when on_own_stack last ran, in nanoseconds. It takes some 20 us, as long as a short
 * call, so it runs at most once in PAUSE nanoseconds. */
static int64_t looked_at;
enum { PAUSE = 2000000 };

static void handlers(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	int64_t now = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	if (now - __atomic_load_n(&looked_at, __ATOMIC_RELAXED) < PAUSE)
		return;
	__atomic_store_n(&looked_at, now, __ATOMIC_RELAXED);
	on_own_stack();
}
#else
static void handlers(void) {}
#endif

/* may_call prepares a call into Go, and returns 0 if Go cannot run. */
static int may_call(void)
{
	if (!forked)
		handlers();
	return !forked;
}

#define CALL(...) return may_call() ? (__VA_ARGS__) : refuse_fork()

int mustlinkCallProgress(mustlink_progress progress, void *user, const mustlink_report *report)
{
	return progress(user, report);
}

int32_t mustlink_abi_version(void) { return MUSTLINK_ABI; }
const char *mustlink_version(void) { return forked ? "" : mustlinkVersion(); }
const char *mustlink_message(void) { return message(); }

int mustlink_engine_new(int32_t abi, const char *options, mustlink_engine *engine)
{
	CALL(mustlinkEngineNew(abi, (char *)options, engine, message()));
}

int mustlink_engine_info(mustlink_engine engine, char *buffer, int64_t capacity, int64_t *size)
{
	CALL(mustlinkEngineInfo(engine, buffer, capacity, size, message()));
}

int mustlink_engine_free(mustlink_engine engine) { CALL(mustlinkEngineFree(engine, message())); }

int mustlink_methods(char *buffer, int64_t capacity, int64_t *size)
{
	CALL(mustlinkMethods(buffer, capacity, size, message()));
}

int mustlink_sample_links(const int64_t *label, int64_t rows, int64_t must, int64_t cannot, uint64_t seed, int64_t *pair)
{
	CALL(mustlinkSampleLinks((int64_t *)label, rows, must, cannot, seed, pair, message()));
}

int mustlink_fit(mustlink_engine engine, const char *method, const char *options, const mustlink_points *points,
                 const mustlink_links *links, const mustlink_control *control, mustlink_model *model)
{
	CALL(mustlinkFit(engine, (char *)method, (char *)options, (mustlink_points *)points, (mustlink_links *)links,
	                 (mustlink_control *)control, model, message()));
}

int mustlink_update(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                    const mustlink_links *links, const mustlink_control *control, mustlink_model *updated)
{
	CALL(mustlinkUpdate(engine, model, (char *)options, (mustlink_points *)points, (mustlink_links *)links,
	                    (mustlink_control *)control, updated, message()));
}

int mustlink_model_size(mustlink_model model, int64_t *dimensions, int64_t *features)
{
	CALL(mustlinkModelSize(model, dimensions, features, message()));
}

int mustlink_embed(mustlink_engine engine, mustlink_model model, const mustlink_points *points,
                   const mustlink_control *control, const mustlink_matrix *out)
{
	CALL(mustlinkEmbed(engine, model, (mustlink_points *)points, (mustlink_control *)control, (mustlink_matrix *)out, message()));
}

int mustlink_gram(mustlink_engine engine, mustlink_model model, const mustlink_points *x, const mustlink_points *y,
                  const mustlink_control *control, const mustlink_matrix *out)
{
	CALL(mustlinkGram(engine, model, (mustlink_points *)x, (mustlink_points *)y, (mustlink_control *)control,
	                  (mustlink_matrix *)out, message()));
}

int mustlink_euclidean_distances(mustlink_engine engine, mustlink_model model, const mustlink_points *points,
                                 const int64_t *pair, int64_t pairs, const mustlink_control *control, double *out)
{
	CALL(mustlinkEuclideanDistances(engine, model, (mustlink_points *)points, (int64_t *)pair, pairs,
	                                (mustlink_control *)control, out, message()));
}

int mustlink_distances(mustlink_engine engine, mustlink_model model, const mustlink_points *points, const int64_t *pair,
                       int64_t pairs, const mustlink_control *control, double *out)
{
	CALL(mustlinkDistances(engine, model, (mustlink_points *)points, (int64_t *)pair, pairs, (mustlink_control *)control,
	                       out, message()));
}

int mustlink_calibrate(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                       const mustlink_links *links, const mustlink_control *control, mustlink_model *calibrated)
{
	CALL(mustlinkCalibrate(engine, model, (char *)options, (mustlink_points *)points, (mustlink_links *)links,
	                       (mustlink_control *)control, calibrated, message()));
}

int mustlink_pairs_find(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                        const mustlink_control *control, mustlink_pairs *pairs)
{
	CALL(mustlinkPairsFind(engine, model, (char *)options, (mustlink_points *)points, (mustlink_control *)control, pairs, message()));
}

int mustlink_pairs_suggest(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                           const mustlink_links *links, const mustlink_control *control, mustlink_pairs *pairs)
{
	CALL(mustlinkPairsSuggest(engine, model, (char *)options, (mustlink_points *)points, (mustlink_links *)links,
	                          (mustlink_control *)control, pairs, message()));
}

int mustlink_pairs_info(mustlink_pairs pairs, char *buffer, int64_t capacity, int64_t *size)
{
	CALL(mustlinkPairsInfo(pairs, buffer, capacity, size, message()));
}

int mustlink_pairs_copy(mustlink_pairs pairs, int64_t *pair, double *distance, double *probability)
{
	CALL(mustlinkPairsCopy(pairs, pair, distance, probability, message()));
}

int mustlink_pairs_free(mustlink_pairs pairs) { CALL(mustlinkPairsFree(pairs, message())); }

int mustlink_groups_find(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                         const mustlink_links *links, const mustlink_distinct *columns, int64_t column_count,
                         const mustlink_control *control, mustlink_groups *groups)
{
	CALL(mustlinkGroupsFind(engine, model, (char *)options, (mustlink_points *)points, (mustlink_links *)links,
	                        (mustlink_distinct *)columns, column_count, (mustlink_control *)control, groups, message()));
}

int mustlink_groups_info(mustlink_groups groups, char *buffer, int64_t capacity, int64_t *size)
{
	CALL(mustlinkGroupsInfo(groups, buffer, capacity, size, message()));
}

int mustlink_groups_copy(mustlink_groups groups, int64_t *label, int64_t *child, double *height, int64_t *forbidden)
{
	CALL(mustlinkGroupsCopy(groups, label, child, height, forbidden, message()));
}

int mustlink_groups_free(mustlink_groups groups) { CALL(mustlinkGroupsFree(groups, message())); }

int mustlink_entities_find(mustlink_engine engine, mustlink_model model, const char *options, const mustlink_points *points,
                           const mustlink_points *texts, const mustlink_links *links, const mustlink_distinct *columns,
                           int64_t column_count, const mustlink_control *control, mustlink_pairs *doubtful, int64_t *label,
                           double *probability)
{
	CALL(mustlinkEntitiesFind(engine, model, (char *)options, (mustlink_points *)points, (mustlink_points *)texts,
	                          (mustlink_links *)links, (mustlink_distinct *)columns, column_count, (mustlink_control *)control,
	                          doubtful, label, probability, message()));
}

int mustlink_classify(mustlink_engine engine, mustlink_model model, const mustlink_points *known, const int64_t *label,
                      const mustlink_points *fresh, int64_t k, const mustlink_control *control, int64_t *found)
{
	CALL(mustlinkClassify(engine, model, (mustlink_points *)known, (int64_t *)label, (mustlink_points *)fresh, k,
	                      (mustlink_control *)control, found, message()));
}

int mustlink_model_info(mustlink_model model, char *buffer, int64_t capacity, int64_t *size)
{
	CALL(mustlinkModelInfo(model, buffer, capacity, size, message()));
}

int mustlink_remarks(mustlink_model model, const mustlink_points *points, char *buffer, int64_t capacity, int64_t *size)
{
	CALL(mustlinkRemarks(model, (mustlink_points *)points, buffer, capacity, size, message()));
}

int mustlink_save(mustlink_model model, const char *path) { CALL(mustlinkSave(model, (char *)path, message())); }

int mustlink_export(mustlink_engine engine, mustlink_model model, const char *file, const char *precision)
{
	CALL(mustlinkExport(engine, model, (char *)file, (char *)precision, message()));
}

int mustlink_load(mustlink_engine engine, const char *path, mustlink_model *model)
{
	CALL(mustlinkLoad(engine, (char *)path, model, message()));
}

int mustlink_save_bytes(mustlink_model model, void *buffer, int64_t capacity, int64_t *size)
{
	CALL(mustlinkSaveBytes(model, buffer, capacity, size, message()));
}

int mustlink_load_bytes(mustlink_engine engine, const void *bytes, int64_t size, mustlink_model *model)
{
	CALL(mustlinkLoadBytes(engine, (void *)bytes, size, model, message()));
}

int mustlink_model_free(mustlink_model model) { CALL(mustlinkModelFree(model, message())); }

int mustlink_index_new(mustlink_engine engine, const mustlink_points *points, int64_t neighbors, uint64_t seed,
                       const mustlink_control *control, mustlink_index *index)
{
	CALL(mustlinkIndexNew(engine, (mustlink_points *)points, neighbors, seed, (mustlink_control *)control, index, message()));
}

int mustlink_index_save(mustlink_index index, const char *index_path)
{
	CALL(mustlinkIndexSave(index, (char *)index_path, message()));
}

int mustlink_index_load(mustlink_engine engine, const char *index_path, mustlink_model model, const mustlink_points *points,
                        const mustlink_control *control, mustlink_index *index, int64_t *measured_neighbors)
{
	CALL(mustlinkIndexLoad(engine, (char *)index_path, model, (mustlink_points *)points, (mustlink_control *)control, index,
	                       measured_neighbors, message()));
}

int mustlink_index_search(mustlink_index index, const mustlink_points *points, int64_t k, double recall,
                          const mustlink_control *control, int64_t *neighbor, double *distance, double *measured)
{
	CALL(mustlinkIndexSearch(index, (mustlink_points *)points, k, recall, (mustlink_control *)control, neighbor, distance, measured, message()));
}

int mustlink_index_free(mustlink_index index) { CALL(mustlinkIndexFree(index, message())); }
