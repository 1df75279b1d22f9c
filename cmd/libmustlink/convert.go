//go:build cgo

package main

/*
#include <stdlib.h>

#include "mustlink.h"

int mustlinkCallProgress(mustlink_progress progress, void *user, const mustlink_report *report);
*/
import "C"

import (
	"strings"
	"time"
	"unsafe"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/cmd/libmustlink/internal/abi"
)

// messageBytes is MESSAGE_BYTES of abi.c.
const messageBytes = 4096

// finish returns the code of an error, and writes its message to the thread's buffer.
func finish(err error, message *C.char) C.int {
	if err == nil {
		return C.MUSTLINK_OK
	}
	text := strings.ReplaceAll(err.Error(), "\x00", "?")
	if len(text) >= messageBytes {
		text = strings.ToValidUTF8(text[:messageBytes-4], "") + "..."
	}
	to := unsafe.Slice((*byte)(unsafe.Pointer(message)), messageBytes)
	to[copy(to, text)] = 0
	return C.int(abi.CodeOf(err))
}

// text returns a string of the caller, "" for NULL.
func text(s *C.char) string {
	if s == nil {
		return ""
	}
	return C.GoString(s)
}

// checkText returns an error when a text that a function requires is NULL.
func checkText(s *C.char, what string) error {
	if s == nil {
		return &abi.Error{Code: abi.BadArgument, Text: what + " is NULL: want text"}
	}
	return nil
}

func pointsOf(p *C.mustlink_points) *abi.Points {
	if p == nil {
		return nil
	}
	return &abi.Points{
		Kind: int32(p.kind),
		Array: abi.Array{
			Type: int32(p._type), Rows: int64(p.rows), Cols: int64(p.columns), Data: p.data,
			RowStride: int64(p.row_stride), ColStride: int64(p.column_stride),
		},
		RowStart: unsafe.Pointer(p.row_start), Column: unsafe.Pointer(p.column),
		Diagonal: unsafe.Pointer(p.diagonal),
	}
}

// arrayOf and linksOf see structs of C as those of Go with the same layout, of which the compiler
// checks the sizes.
func arrayOf(m *C.mustlink_matrix) (*abi.Array, error) {
	if m == nil {
		return nil, &abi.Error{Code: abi.BadArgument, Text: "the output is NULL: want a matrix"}
	}
	return (*abi.Array)(unsafe.Pointer(m)), nil
}

func linksOf(l *C.mustlink_links) *abi.Links { return (*abi.Links)(unsafe.Pointer(l)) }

// distinctOf returns columns of distinct rows.
func distinctOf(columns *C.mustlink_distinct, count C.int64_t) ([]abi.Distinct, error) {
	if count < 0 || count > 1<<16 || columns == nil && count > 0 {
		return nil, &abi.Error{Code: abi.BadArgument, Text: "distinct columns: want a pointer, and at most " +
			"65536 of them"}
	}
	return unsafe.Slice((*abi.Distinct)(unsafe.Pointer(columns)), int(count)), nil
}

var (
	_ [unsafe.Sizeof(abi.Distinct{})]byte = [unsafe.Sizeof(C.mustlink_distinct{})]byte{}
	_ [unsafe.Sizeof(abi.Array{})]byte    = [unsafe.Sizeof(C.mustlink_matrix{})]byte{}
	_ [unsafe.Sizeof(abi.Links{})]byte    = [unsafe.Sizeof(C.mustlink_links{})]byte{}
)

func controlOf(c *C.mustlink_control) *abi.Control {
	if c == nil {
		return nil
	}
	out := &abi.Control{Cancel: (*int32)(unsafe.Pointer(c.cancel))}
	if c.interval > 0 && c.interval < 1e6 {
		out.Interval = time.Duration(float64(c.interval) * float64(time.Second))
	}
	if c.progress != nil {
		out.Report = reporter(c.progress, c.user)
	}
	return out
}

// reporter returns a function that calls the caller's progress function.
func reporter(progress C.mustlink_progress, user unsafe.Pointer) func(*algorithms.Progress) bool {
	return func(p *algorithms.Progress) bool {
		var r C.mustlink_report
		if p != nil {
			stage := C.CString(p.Stage)
			defer C.free(unsafe.Pointer(stage))
			r = C.mustlink_report{
				stage: stage, done: C.int64_t(p.Done), total: C.int64_t(p.Total),
				objective: C.double(p.Objective), residual: C.double(p.Residual),
				seconds: C.double(p.Elapsed.Seconds()),
			}
		}
		return C.mustlinkCallProgress(progress, user, &r) == 0
	}
}

func bufferOf(data unsafe.Pointer, capacity C.int64_t, size *C.int64_t) *abi.Buffer {
	return &abi.Buffer{Data: data, Capacity: int64(capacity), Size: (*int64)(unsafe.Pointer(size))}
}
