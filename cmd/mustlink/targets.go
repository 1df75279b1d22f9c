package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// targetFlags name a number for each row, to learn from in place of links.
type targetFlags struct{ from string }

// labelTargets as --targets takes the labels of the data.
const labelTargets = "labels"

func (t *targetFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.from, "targets", "", "targets to learn from without links: `FILE`, a CSV with a column target, a number for each row of DATA in their order; or labels, those of DATA read as numbers ("+strings.Join(targetMethods(), ", ")+")")
}

// targetMethods returns the names of the methods that learn from targets.
func targetMethods() []string {
	return methodsThat(func(m catalog.Method) bool { return m.UsesTargets })
}

// check reports targets that the method does not learn from, and a method without the targets that it learns from.
func (t *targetFlags) check(m catalog.Method) error {
	switch {
	case t.from != "" && !m.UsesTargets:
		return usage.Errorf("--targets is for methods that learn from them, %s is none: want -m %s", m.Name, strings.Join(targetMethods(), " or -m "))
	case t.from == "" && m.UsesTargets:
		return usage.Errorf("the targets are missing, which %s learns from: want --targets FILE or --targets %s", m.Name, labelTargets)
	}
	return nil
}

// file returns the file of targets, "" for none.
func (t *targetFlags) file() string {
	if t.from == labelTargets {
		return ""
	}
	return t.from
}

// readTargets reads the targets of the rows of d, nil without any.
func (a *app) readTargets(ctx context.Context, t *targetFlags, d *dataset.Data) ([]float64, error) {
	if t.from == "" {
		return nil, nil
	}
	return session.Await(ctx, func() ([]float64, error) {
		switch t.from {
		case labelTargets:
			return d.LabelTargets()
		case session.Stream:
			return d.DecodeTargets(a.Stdin, "standard input", false, int64(a.MemoryLimit))
		}
		return d.ReadTargets(t.from, int64(a.MemoryLimit))
	})
}
