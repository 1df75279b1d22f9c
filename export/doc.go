// Package export (may change) writes models for programs without mustlink: ONNX graphs for ONNX's
// runtimes, and linear maps as JSON and SQL.
//
// It is a package of its own since it brings the runtime of Protocol Buffers, 2.4 MB of a program.
package export
