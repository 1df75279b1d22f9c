package compare

import (
	"context"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// selects is the system that chooses its method for every set.
const selects = "select"

// chooser is a learner that selects a candidate before it fits.
type chooser struct{ options selection.Options }

func newChooser(params map[string]string, seed uint64, classes int) (algorithms.Learner, error) {
	c := chooser{selection.DefaultOptions()}
	c.options.Criterion = selection.DefaultCriterion(classes)
	c.options.Seed, c.options.Clusters = seed, classes
	var methods []string
	for name, value := range params {
		switch name {
		case "criterion":
			c.options.Criterion = selection.Criterion(value)
		case "methods":
			methods = strings.Split(value, "+")
		case "halving":
			on, err := strconv.ParseBool(value)
			if err != nil {
				return nil, &fault.ParamError{Param: name, Value: value, Want: "true or false"}
			}
			c.options.Halving = on
		case "incumbent": // a method with its defaults
			c.options.Incumbent = &selection.Candidate{Method: value}
		case "margin":
			margin, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, &fault.ParamError{Param: name, Value: value, Want: "a number of standard errors"}
			}
			c.options.Margin = margin
		default:
			return nil, fault.Unknown("parameter of select", name,
				[]string{"criterion", "halving", "incumbent", "margin", "methods"})
		}
	}
	list, err := selection.Defaults(methods)
	if err != nil {
		return nil, err
	}
	if first := c.options.Incumbent; first == nil {
		c.options.Incumbent = selection.FirstChoice(list)
	} else if _, err := first.Learner(catalog.Config{Seed: seed}); err != nil {
		return nil, err
	} else {
		list = selection.Including(list, *first)
	}
	c.options.Candidates = list
	return c, nil
}

// Method returns "select".
func (chooser) Method() string { return selects }

// Fit selects a candidate and fits it with all links.
func (c chooser) Fit(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	r, err := selection.Select(ctx, eng, x, set, c.options)
	if err != nil {
		return nil, err
	}
	l, err := r.Best.Learner(catalog.Config{Seed: c.options.Seed})
	if err != nil {
		return nil, err
	}
	return l.Fit(ctx, eng, x, set)
}
