package metamorphic

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// npyHeader returns the header of a file of NumPy, version 1.0, for float32.
func npyHeader(rows, columns int) string {
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns)
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(text)), byte(len(text) >> 8)}) + text
}

func writeText(path string, rows [][]float64) error {
	var b strings.Builder
	for i, row := range append([][]float64{row0(len(rows[0]))}, rows...) {
		for j, v := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			if i == 0 {
				b.WriteString("x" + strconv.Itoa(j))
			} else {
				b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

func row0(n int) []float64 { return make([]float64, n) }
