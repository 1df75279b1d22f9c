package mustlink_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/mustlink/mustlink"
)

// A service answers with the two nearest known customers of each in a request, which has a JSON
// object in each line. The model prepares both alike: dates become days, countries become columns,
// and an unknown age is filled in, while errors name the row and the column.
func Example_service() {
	type customer struct {
		Age     float64   `json:"age"`
		Country string    `json:"country"`
		Since   time.Time `json:"since"`
	}
	var list []customer
	for i := range 40 {
		since := time.Date(2010+i%2*10, 1, i+1, 0, 0, 0, 0, time.UTC)
		list = append(list, customer{20 + float64(i%2*30+i%7), []string{"Italy", "Peru"}[i%2], since})
	}
	known := try(mustlink.FromStructs(list))
	pairs := try(mustlink.NewLinks(len(list), [][2]int{{0, 2}, {1, 3}, {4, 6}}, [][2]int{{0, 1}, {3, 4}}))
	model := try(mustlink.Fit(context.Background(), known, pairs, mustlink.Method("itml")))
	fmt.Println(known, "-", model)

	answer := func(w http.ResponseWriter, r *http.Request) {
		fresh, err := mustlink.ReadTableFrom(http.MaxBytesReader(w, r.Body, 1<<20), "jsonl")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		near, err := model.Neighbors(r.Context(), known, fresh, 2)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		json.NewEncoder(w).Encode(near)
	}
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	for _, body := range []string{`{"age": null, "country": "Italy", "since": "2010-01-05T00:00:00Z"}`,
		`{"age": 27, "country": "Italy", "since": "yesterday"}`} {
		reply := try(http.Post(server.URL, "application/json", strings.NewReader(body)))
		fmt.Printf("%d %.20s\n", reply.StatusCode, try(io.ReadAll(reply.Body)))
	}
	// Output:
	// 40 rows of 3 columns - itml model of 3 columns in 3 dimensions, converged
	// 200 [[{"Row":34,"Distanc
	// 400 -, row 0, column "si
}
