package mustlink

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/engine/score"
)

// Description describes a model.
type Description struct {
	Method      string        // "krca"
	Chosen      string        // why Fit chose the method; "" if it was named, and for a loaded model
	Kernel      string        // with its bandwidth as a number, "" for a method without kernels
	Columns     int           // number of features, -1 if the model accepts any number
	Features    []string      // names of the features, nil if there are none
	Preparation string        // "standardize", "tfidf", "columns" or "none"
	Prepared    []string      // for "columns": a line for each column, how it becomes numbers
	Dim         int           // columns of Embed
	Share       float64       // of the learned squared distance of rows that Embed holds; 0: unknown
	Converged   bool          // false if the fit stopped earlier
	Iterations  int           // 0 for a method without iterations
	Message     string        // how the fit ended, may be ""
	Elapsed     time.Duration // duration of the fit, without its verdict
	Updatable   bool          // [Model.Update] can learn more links
	Updating    string        // what it learns, and what this takes; "" if it cannot
	Notices     []string      // remarks of the fit about its input
	Objective   float64       // NaN for a method without one
	Statistics  []Statistic   // specific to the method
	Fingerprint string        // of the training rows, "" if it is not known
	Version     string        // of the library that fitted the model
	Build       string        // of the program that fitted the model
}

// Statistic is a named value of a model. Its fields are Name and Value.
type Statistic = algorithms.Statistic

// Describe returns a description of the model; that of an empty model is empty.
func (m *Model) Describe() Description {
	if m.empty() {
		return Description{}
	}
	f, s := m.fitted, m.fitted.Model.Status()
	d := Description{
		Method: f.Model.Method(), Chosen: m.chosen, Columns: f.InputDim(), Features: f.Features,
		Preparation: f.Preparation(), Dim: m.Dim(),
		Converged: s.Converged, Iterations: s.Iterations, Message: s.Message, Elapsed: s.Elapsed,
		Notices: s.Notices,
		Share:   1, Objective: math.NaN(), Fingerprint: f.Fingerprint, Version: f.LibraryVersion,
		Build: f.Build,
	}
	d.Prepared = prepare.ByColumn(f.Scaling).Describe()
	if k, ok := f.Model.(interface{ Kernel() kernel.Kernel }); ok {
		d.Kernel = k.Kernel().String()
	}
	d.Updating = f.Updating()
	d.Updatable = d.Updating != ""
	if p, ok := f.Model.(algorithms.Projection); ok && p.Projected() {
		d.Share = p.Share()
	}
	if o, ok := f.Model.(algorithms.Objective); ok {
		d.Objective = o.Objective()
	}
	if about, ok := f.Model.(algorithms.Describer); ok {
		d.Statistics = about.Describe()
	}
	return d
}

// String says what the model is: "krca model of 4 columns in 2 dimensions, converged".
func (m *Model) String() string {
	if m.empty() {
		return "empty model"
	}
	text := m.fitted.Model.Method() + " model"
	if columns := m.fitted.InputDim(); columns >= 0 {
		text += fmt.Sprintf(" of %s", fault.Count(columns, "column"))
	}
	text += fmt.Sprintf(" in %s", fault.Count(m.Dim(), "dimension"))
	if !m.fitted.Model.Status().Converged {
		return text + ", not converged"
	}
	return text + ", converged"
}

// String returns the description as text, with a line for each part that is not empty.
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
	if d.Share > 0 && d.Share < 1 {
		line("share", fmt.Sprintf("%.4g of the learned squared distance of the training rows", d.Share))
	}
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

// Score compares the labels of a table with other labels, such as the clusters of [Model.Cluster]
// or the answers of [Model.Classify]: the Rand index, plain, balanced and adjusted, normalized
// mutual information, accuracies; the plain accuracy only of labels that are texts, as the numbers
// of clusters name no class. It leaves out rows with the label "".
func Score[L int | string](t *Table, predicted []L) (*score.Report, error) {
	if err := t.labeled("table"); err != nil {
		return nil, err
	}
	if len(predicted) != t.Rows() {
		return nil, &fault.ShapeError{What: "number of predicted labels", Got: len(predicted),
			Want: fmt.Sprintf("%d, one for each row", t.Rows())}
	}
	text := make([]string, len(predicted))
	for i, p := range predicted {
		text[i] = fmt.Sprint(p)
	}
	_, clusters := any(predicted).([]int)
	r, err := score.All(score.Input{Truth: t.data.Labels, Predicted: text, Named: !clusters})
	if clusters && err == nil {
		r.OfClusters()
	}
	return r, err
}
