// Package job runs the pipelines of this command on a runner of Apache Beam. It holds what all
// pipelines share: the model and the engine, one in each worker process; counters; the limit on bad
// rows; and errors whose messages reach the user unchanged.
package job
