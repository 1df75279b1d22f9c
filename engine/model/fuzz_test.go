package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
)

// FuzzHeader is [FuzzRead] with valid checksums: the input is the text of the header, the
// descriptions of the tensors, and the data, in a valid container. Reading takes memory in
// proportion to the file, whatever it claims, and the result can be written to the same content.
func FuzzHeader(f *testing.F) {
	f.Add(`{"format_version":1,"method":"krca"}`, `"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}`, make([]byte, 8))
	f.Add(`{"format_version":1,"params":{"eps":1},"features":["x"],"extra":{"krca":[1,2]}}`,
		`"a":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},"b":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"c":{"dtype":"U8","shape":[0,3],"data_offsets":[16,16]}`, make([]byte, 16))
	f.Add(`{"format_version":1}`, `"a":{"dtype":"F64","shape":[1000000000],"data_offsets":[0,8000000000]}`, []byte{})
	f.Add(`{"format_version":1}`, `"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}`, []byte{})
	f.Add(`{"format_version":2}`, "", []byte{})
	f.Add(`{"format_version":1,"status":null,"params":[[[[]]]]}`, `"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}`, []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, text, tensors string, data []byte) {
		meta, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		header := fmt.Sprintf(`{"__metadata__":{"mustlink":%s,"sha256":"%s"}`, meta, hex.EncodeToString(sum[:]))
		if tensors != "" {
			header += "," + tensors
		}
		b := pack(header+"}", data...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := read(b)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20+200*uint64(len(b)) {
			t.Fatalf("%d bytes allocated for a file of %d", used, len(b))
		}
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("error %v is not an input error", err)
			}
			return
		}
		for name, tensor := range got.Tensors {
			if n, err := elements(tensor.Shape); err != nil || n != tensor.Len() || tensor.DType() == "" {
				t.Fatalf("tensor %q of shape %v has %d values of type %q", name, tensor.Shape, tensor.Len(), tensor.DType())
			}
		}
		written := encodeFile(t, got)
		again, err := read(written)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written, encodeFile(t, again)) {
			t.Fatal("the content changed by writing and reading")
		}
	})
}
