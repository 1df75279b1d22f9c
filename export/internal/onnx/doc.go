// Package onnx has the messages of ONNX files.
//
// onnx.proto is the official schema of ONNX 1.12.0 (https://github.com/onnx/onnx, file
// onnx/onnx.proto), unchanged, under the Apache License 2.0 in LICENSE. generate.sh makes
// onnx.pb.go of it with protoc and protoc-gen-go. It gives the messages a package name of their
// own, which files do not contain: a program that has ONNX's messages from elsewhere too would
// otherwise end at its start, since names of messages are registered once.
package onnx

//go:generate bash generate.sh .
