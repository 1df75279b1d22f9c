package label_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/label"
)

// A session is a handler for a server of one's own. Its page is at /KEY/.
func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	table, err := mustlink.FromRows([][]float64{{0}, {1}, {9}, {10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	const key = "a key that nobody can guess"
	s, err := label.New(context.Background(), label.Options{
		Table:       table,
		Coordinates: blas.MatrixOf(4, 1, []float64{0, 1, 9, 10}),
		Columns:     label.ColumnsOf(table.Data()),
		File:        filepath.Join(folder, "links.csv"),
		People:      []label.Person{{Name: "ann", Key: key}},
		Engine:      eng,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	// In a program: http.ListenAndServe("127.0.0.1:8000", s).
	answer := httptest.NewRequest("POST", "http://127.0.0.1/"+strings.ReplaceAll(key, " ", "%20")+"/answer",
		strings.NewReader(`{"i":0,"j":1,"answer":"must"}`))
	answer.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, answer)
	links, err := s.Answers()
	fmt.Println(w.Code, links.Must()[0].I, links.Must()[0].J, err)
	// Output: 200 0 1 <nil>
}
