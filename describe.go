package mustlink

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/score"
)

// Description is what there is to know of a model.
type Description struct {
	Method      string        // "krca"
	Kernel      string        // with its bandwidth as a number, "" for a method without kernels
	Columns     int           // features that it takes, -1 when any number fits
	Features    []string      // their names, nil when they have none
	Preparation string        // "standardize", "tfidf" or "none"
	Dim         int           // columns of Embed
	Converged   bool          // false when the fit stopped before
	Iterations  int           // 0 for a method without iterations
	Message     string        // how the fit ended, "" when there is nothing to say
	Elapsed     time.Duration // time of the fit
	Notices     []string      // remarks of the fit on its input
	Objective   float64       // NaN for a method without one
	Statistics  []Statistic   // the method's own
	Fingerprint string        // of the training rows, "" when it is not known
	Version     string        // of the library that fitted the model
	Build       string        // of the program that fitted the model
}

// Statistic is a named value of a model.
type Statistic = algorithms.Statistic

// Describe returns what there is to know of the model, nothing of one that nobody made.
func (m *Model) Describe() Description {
	if m.empty() {
		return Description{}
	}
	f, s := m.fitted, m.fitted.Model.Status()
	d := Description{
		Method: f.Model.Method(), Columns: f.InputDim(), Features: f.Features, Preparation: f.Preparation(), Dim: m.Dim(),
		Converged: s.Converged, Iterations: s.Iterations, Message: s.Message, Elapsed: s.Elapsed, Notices: s.Notices,
		Objective: math.NaN(), Fingerprint: f.Fingerprint, Version: f.LibraryVersion, Build: f.Build,
	}
	if k, ok := f.Model.(interface{ Kernel() kernel.Kernel }); ok {
		d.Kernel = k.Kernel().String()
	}
	if o, ok := f.Model.(algorithms.Objective); ok {
		d.Objective = o.Objective()
	}
	if about, ok := f.Model.(algorithms.Describer); ok {
		d.Statistics = about.Describe()
	}
	return d
}

// String returns the description for people: a line for each part that there is.
func (d Description) String() string {
	var out strings.Builder
	line := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" {
			fmt.Fprintf(&out, "%-12s %s\n", name, text)
		}
	}
	line("method", d.Method)
	line("kernel", d.Kernel)
	line("preparation", d.Preparation)
	line("dimensions", d.Dim)
	status := "converged"
	if !d.Converged {
		status = "not converged"
	}
	if d.Message != "" {
		status += "; " + d.Message
	}
	line("status", status)
	for _, notice := range d.Notices {
		line("notice", notice)
	}
	return out.String()
}

// Score compares the labels of a table with others, such as the clusters of [Model.Cluster] or the
// answers of
// [Model.Classify]: the Rand index, plain, balanced and adjusted, normalized mutual information, accuracies. Rows with the
// label "" are left out.
func Score[L int | string](t *Table, predicted []L) (*score.Report, error) {
	if err := t.labeled("table"); err != nil {
		return nil, err
	}
	if len(predicted) != t.Rows() {
		return nil, &fault.ShapeError{What: "number of predicted labels", Got: len(predicted), Want: fmt.Sprintf("%d, one for each row", t.Rows())}
	}
	text := make([]string, len(predicted))
	for i, p := range predicted {
		text[i] = fmt.Sprint(p)
	}
	return score.All(score.Input{Truth: t.data.Labels, Predicted: text})
}
