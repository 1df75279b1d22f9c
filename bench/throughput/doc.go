// Package throughput measures fits, rows and bytes per second.
package throughput
