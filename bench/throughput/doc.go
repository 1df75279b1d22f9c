// Package throughput measures how many fits, rows and bytes go through in a second.
package throughput
