// Package job runs the pipelines of this command on a runner of Apache Beam, and holds what the
// pipelines share: the model and the engine, which are there once in each worker process; counters;
// rows that are left out and the limit on their number; errors that keep their words on the way
// from a worker.
package job
