package learn

import (
	"fmt"
	"io"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/suspicious"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// fitReport is what `mustlink fit` prints.
type fitReport struct {
	Method      string `json:"method"`
	Kernel      string `json:"kernel,omitempty"`
	N           int    `json:"n"`
	D           int    `json:"d"`
	MustLinks   int    `json:"must_links"`
	Cannot      int    `json:"cannot_links"`
	Triplets    int    `json:"triplets,omitempty"`
	Quadruplets int    `json:"quadruplets,omitempty"`
	Targets     int    `json:"targets,omitempty"`
	Chunklets   int    `json:"chunklets"`
	// Dropped are the links that were left out as suspicious.
	Dropped    []suspicious.Link `json:"dropped,omitempty"`
	Dim        int               `json:"dim"`
	Converged  bool              `json:"converged"`
	Iterations int               `json:"iterations"`
	Message    string            `json:"message,omitempty"`
	Seconds    float64           `json:"seconds"`
	Model      string            `json:"model"`
	Warnings   []string          `json:"warnings"`
	shape      string
}

// reportOf says what a fit learned, and from what.
func reportOf(m *mustlink.Model, x points.Points, set *mustlink.Links, lesson catalog.Lesson, took time.Duration) *fitReport {
	about := m.Describe()
	r := &fitReport{
		Method:      about.Method,
		Kernel:      about.Kernel,
		N:           x.Len(),
		D:           x.Dim(),
		Triplets:    len(lesson.Triplets),
		Quadruplets: len(lesson.Quadruplets),
		Targets:     len(lesson.Targets),
		Chunklets:   len(set.Chunklets()),
		Dim:         about.Dim,
		Converged:   about.Converged,
		Iterations:  about.Iterations,
		Message:     about.Message,
		Seconds:     took.Seconds(),
		shape:       source.Shape(x),
	}
	r.MustLinks, r.Cannot = set.Count()
	return r
}

func (r *fitReport) text(w io.Writer) {
	fmt.Fprintf(w, "method\t%s\n", r.Method)
	if r.Kernel != "" {
		fmt.Fprintf(w, "kernel\t%s\n", r.Kernel)
	}
	fmt.Fprintf(w, "points\t%s\n", r.shape)
	fmt.Fprintf(w, "links\t%d must, %d cannot; %s\n", r.MustLinks, r.Cannot, session.Plural(r.Chunklets, "chunklet"))
	if len(r.Dropped) > 0 {
		fmt.Fprintf(w, "left out\t%s, the first: %s-link %s\n", session.Plural(len(r.Dropped), "suspicious link"), r.Dropped[0].Link, r.Dropped[0].Rows())
	}
	for _, other := range []struct {
		name  string
		count int
	}{{"triplets", r.Triplets}, {"quadruplets", r.Quadruplets}, {"targets", r.Targets}} {
		if other.count > 0 {
			fmt.Fprintf(w, "%s\t%d\n", other.name, other.count)
		}
	}
	fmt.Fprintf(w, "embedding\t%s\n", session.Plural(r.Dim, "dimension"))
	fmt.Fprintf(w, "status\t%s\n", metric.Status(r.Converged, r.Iterations, r.Message))
	fmt.Fprintf(w, "time\t%s\n", session.ShortTime(r.Seconds))
	fmt.Fprintf(w, "model\t%s\n", r.Model)
}
