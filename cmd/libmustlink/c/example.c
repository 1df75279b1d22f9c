/*
 * Two rings, one around the other, and links between a few of their points: the learned
 * coordinates separate the rings. Build with
 *
 *     cc example.c $(pkg-config --cflags --libs mustlink) -lm
 */
#include <math.h>
#include <mustlink.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 200, LINKS = 120, COLUMNS = 2 };

/* check ends the program when a call has failed. */
static void check(int code)
{
	if (code == MUSTLINK_OK)
		return;
	fprintf(stderr, "mustlink: code %d: %s\n", code, mustlink_message());
	exit(1);
}

static int report(void *user, const mustlink_report *r)
{
	(void)user;
	if (r->stage)
		fprintf(stderr, "%s %lld/%lld\n", r->stage, (long long)r->done, (long long)r->total);
	return 0;
}

/* rings fills in the points, row by row, and the ring of each. */
static void rings(double *x, int64_t *ring)
{
	for (int i = 0; i < POINTS; i++) {
		double angle = 2.39996 * i, radius = 1 + i % 2 + 0.05 * sin(7.0 * i);
		ring[i] = i % 2;
		x[COLUMNS * i] = radius * cos(angle);
		x[COLUMNS * i + 1] = radius * sin(angle);
	}
}

/* mean_distance returns the mean learned distance from point 0 to the other points of a ring. */
static double mean_distance(const double *distance, const int64_t *ring, int64_t which)
{
	double sum = 0;
	int count = 0;
	for (int i = 1; i < POINTS; i++)
		if (ring[i] == which) {
			sum += distance[i - 1];
			count++;
		}
	return sum / count;
}

int main(void)
{
	static double x[POINTS * COLUMNS], distance[POINTS - 1];
	static int64_t ring[POINTS], pair[2 * 2 * LINKS], from[2 * (POINTS - 1)];
	static int8_t sign[2 * LINKS];
	mustlink_engine engine;
	mustlink_model model;

	rings(x, ring);
	check(mustlink_sample_links(ring, POINTS, LINKS, LINKS, 1, pair));
	for (int k = 0; k < 2 * LINKS; k++)
		sign[k] = k < LINKS ? 1 : -1;
	for (int i = 1; i < POINTS; i++) {
		from[2 * (i - 1)] = 0;
		from[2 * (i - 1) + 1] = i;
	}
	mustlink_points points = {.kind = MUSTLINK_DENSE, .type = MUSTLINK_FLOAT64, .rows = POINTS, .columns = COLUMNS,
	                          .data = x, .row_stride = COLUMNS, .column_stride = 1};
	mustlink_links links = {.pairs = 2 * LINKS, .pair = pair, .sign = sign};
	mustlink_control control = {.progress = report};

	check(mustlink_engine_new(MUSTLINK_ABI, NULL, &engine));
	check(mustlink_fit(engine, "krca", "{\"kernel\": \"rbf:sigma=0.3msq\", \"params\": {\"dims\": 5}}", &points, &links, &control, &model));
	check(mustlink_euclidean_distances(engine, model, &points, from, POINTS - 1, NULL, distance));
	double same = mean_distance(distance, ring, 0), other = mean_distance(distance, ring, 1);
	printf("mean learned distance within a ring %.3f, to the other ring %.3f\n", same, other);
	check(mustlink_model_free(model));
	check(mustlink_engine_free(engine));
	return same < other ? 0 : 1;
}
