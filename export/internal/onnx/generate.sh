#!/usr/bin/env bash
# Writes onnx.pb.go, made of onnx.proto, into a folder. It requires protoc (Debian:
# protobuf-compiler); the version of protoc-gen-go is that of the module's protobuf.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
out="$(cd "$1" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
(cd "$here" && "${GO:-go}" build -o "$work/protoc-gen-go" google.golang.org/protobuf/cmd/protoc-gen-go)
mkdir "$work/mustlink"
sed 's/^package onnx;/package mustlink.onnx;/' "$here/onnx.proto" >"$work/mustlink/onnx.proto"
name=github.com/mustlink/mustlink/export/internal/onnx
protoc --plugin="$work/protoc-gen-go" -I "$work" --go_out="$work" --go_opt=module="$name" \
	--go_opt=Mmustlink/onnx.proto="$name" mustlink/onnx.proto
# The version of protoc changes nothing else.
sed '/^\/\/ \tprotoc  /d' "$work/onnx.pb.go" >"$out/onnx.pb.go"
