package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
)

type updateFlags struct {
	data   dataFlags
	links  linkFlags
	extend bool
	drop   int
	kernel string
	out    string
}

func newUpdate(a *app) *cobra.Command {
	var u updateFlags
	cmd := &cobra.Command{
		Use:   "update MODEL (-i DATA -c LINKS [--extend] | --drop-last N) -o MODEL",
		Short: "teach a model more chunklets or links, or take the latest back, without a new fit",
		Long: `Teach a model more, and write the new model.

Models of npkl, kbeta, gml and itml learn more links between the points that they were fitted
on: DATA are these, and LINKS the new ones alone. The computation starts from what the model
knows and ends where a fit of all links does; bounds of distances stay those of the fit, and
so do the landmarks of kbeta, between which its links must be, and the prior that gml has
learned. Points that are new need no update: embed and the other commands place them.

A model of krca, in its Cholesky form, learns more chunklets without being fitted again.
The learned kernel is the one that a fit of all chunklets gives with the model's n eps held
fixed (fixed_s). Row numbers in LINKS refer to the DATA of this command, and each row named
there is a new point. LINKS is a CSV with the columns i, chunklet, or one of links (i, j,
link). Its chunklets are new ones; with --extend, a number names an existing chunklet of the model,
counted from 0 in order of creation (those of the fit by their smallest rows), and any
other name a new one. Chunklets that share a row are merged.

--drop-last N takes the latest N updates back.`,
		Example: `  mustlink update model.mlk -i new.csv -c chunklets.csv -o larger.mlk
  mustlink update larger.mlk --drop-last 1 -o smaller.mlk
  mustlink update gml.mlk -i data.csv -c more-links.csv -o better.mlk`,
		Args: positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runUpdate(cmd, args[0], &u) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	u.data.add(cmd)
	u.links.add(cmd)
	f.BoolVar(&u.extend, "extend", false, "chunklets named 0, 1, … are those of the model")
	f.IntVar(&u.drop, "drop-last", 0, "take the latest `N` updates back")
	f.StringVarP(&u.kernel, "kernel", "k", "", "refuse a model whose `KERNEL` is another one")
	f.StringVarP(&u.out, "output", "o", "", "the `MODEL` file to write; - for standard output")
	return cmd
}

// updateReport is what `mustlink update` prints.
type updateReport struct {
	Method   string              `json:"method"`
	Added    int                 `json:"points_added"`
	Links    int                 `json:"links_added"`
	Dropped  int                 `json:"updates_dropped"`
	Figures  []algorithms.Figure `json:"figures"`
	Seconds  float64             `json:"seconds"`
	Model    string              `json:"model"`
	Warnings []string            `json:"warnings"`
}

func (a *app) runUpdate(cmd *cobra.Command, path string, u *updateFlags) error {
	if err := a.checkUpdate(cmd, path, u); err != nil {
		return err
	}
	eng, err := a.engine()
	if err != nil {
		return err
	}
	fitted, err := a.loadModel(cmd.Context(), path)
	if err != nil {
		return err
	}
	if err := fitted.CheckUpdate(); err != nil {
		return inFile(path, err)
	}
	if err := u.checkKernel(path, fitted.Model); err != nil {
		return err
	}
	begin := time.Now()
	r := &updateReport{Method: fitted.Model.Method(), Dropped: u.drop, Figures: []algorithms.Figure{}, Model: u.out}
	fitted.Model, r.Added, err = a.update(cmd.Context(), eng, path, fitted, u)
	if _, ok := fitted.Model.(algorithms.Linker); ok {
		r.Added, r.Links = 0, r.Added
	}
	if err != nil {
		return err
	}
	r.Seconds = time.Since(begin).Seconds()
	for _, notice := range fitted.Model.Status().Notices {
		a.warn("%s", notice)
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	fitted.LibraryVersion, fitted.Build = "", buildText(eng)
	if err := a.saveModel(u.out, fitted); err != nil {
		return err
	}
	if d, ok := fitted.Model.(algorithms.Describer); ok {
		r.Figures = d.Describe()
	}
	r.Warnings = a.allWarnings()
	return a.summarise(u.out, r, r.text)
}

// checkUpdate finds every mistake that shows before anything is read.
func (a *app) checkUpdate(cmd *cobra.Command, path string, u *updateFlags) error {
	if err := required(cmd, "output"); err != nil {
		return err
	}
	if err := a.useModel(path); err != nil {
		return err
	}
	if cmd.Flags().Changed("drop-last") {
		for _, other := range []string{"input", "links", "extend"} {
			if err := exclusive(cmd, "drop-last", other); err != nil {
				return err
			}
		}
		if u.drop < 1 {
			return usagef("--drop-last is %d: want a number >= 1", u.drop)
		}
	} else if err := a.checkUpdateInput(cmd, u); err != nil {
		return err
	}
	if u.out == stream && isTerminal(a.stdout) {
		return usagef("-o, --output is \"-\", but a model is binary and standard output is a terminal: want a file or a pipe")
	}
	return a.checkOutput("-o, --output", u.out)
}

func (a *app) checkUpdateInput(cmd *cobra.Command, u *updateFlags) error {
	if err := required(cmd, "input", "links"); err != nil {
		return err
	}
	if err := u.links.check(); err != nil {
		return err
	}
	if err := a.useData(&u.data); err != nil {
		return err
	}
	return a.useInput("-c, --links", u.links.path)
}

// checkKernel compares the model's kernel with the one asked for.
func (u *updateFlags) checkKernel(path string, m algorithms.Model) error {
	if u.kernel == "" {
		return nil
	}
	spec, err := kernel.Parse(u.kernel)
	if err != nil {
		return renameParams(err, "kernel", "-k, --kernel")
	}
	if has := kernelOf(m); spec.String() != has {
		return &fault.ParamError{Param: "-k, --kernel", Value: u.kernel, Want: fmt.Sprintf("%s, the kernel of %s: an update cannot change it", has, path)}
	}
	return nil
}

// updatable are the methods whose models can be.
const updatable = "krca, npkl, kbeta, gml or itml"

// update returns the new model and the number of points that it learned.
func (a *app) update(ctx context.Context, eng *engine.Engine, path string, fitted *catalog.Fitted, u *updateFlags) (algorithms.Model, int, error) {
	if model, ok := fitted.Model.(algorithms.Linker); ok {
		return a.addLinks(ctx, eng, path, fitted, model, u)
	}
	model, ok := fitted.Model.(algorithms.Updater)
	if !ok {
		return nil, 0, fault.Data(path, "a model of method %s cannot be updated: want one of %s", fitted.Model.Method(), updatable)
	}
	if u.drop > 0 {
		m, err := model.DropLast(ctx, eng, u.drop)
		return m, 0, inFile(path, renameParams(err, "number of updates to drop", "--drop-last"))
	}
	data, x, err := a.readFor(ctx, fitted, &u.data)
	if err != nil {
		return nil, 0, err
	}
	chunklets, err := a.readUpdate(ctx, u, data)
	if err != nil {
		return nil, 0, err
	}
	rows := map[int]bool{}
	for _, c := range chunklets {
		for _, i := range c.Rows {
			rows[i] = true
		}
	}
	m, err := model.Update(ctx, eng, x, chunklets)
	if _, ok := errors.AsType[*fault.ParamError](err); ok {
		return nil, 0, inFile(path, err) // what is wrong is the model
	}
	return m, len(rows), inFile(u.links.path, err)
}

// addLinks teaches a model more links between the points that it was fitted on.
func (a *app) addLinks(ctx context.Context, eng *engine.Engine, path string, fitted *catalog.Fitted, model algorithms.Linker, u *updateFlags) (algorithms.Model, int, error) {
	switch {
	case u.drop > 0:
		return nil, 0, fault.Data(path, "a model of method %s does not take links back: want no --drop-last", fitted.Model.Method())
	case u.extend:
		return nil, 0, fault.Data(path, "a model of method %s has no chunklets: want no --extend", fitted.Model.Method())
	}
	data, x, err := a.readFor(ctx, fitted, &u.data)
	if err != nil {
		return nil, 0, err
	}
	set, err := a.readLinks(ctx, &u.links, data)
	if err != nil {
		return nil, 0, err
	}
	for _, w := range set.Warnings() {
		a.warn("%s: %s", u.links.path, w)
	}
	m, err := model.AddLinks(ctx, eng, x, set)
	if fitted.Fingerprint == dataset.Fingerprint(data.Points) {
		return m, set.Len(), inFile(u.links.path, err)
	}
	if err != nil { // more likely than not for that
		return nil, 0, inFile(data.Name, err)
	}
	a.warn("%s: not the points that %s was fitted on", data.Name, path)
	return m, set.Len(), nil
}

// readUpdate reads the chunklets of an update.
func (a *app) readUpdate(ctx context.Context, u *updateFlags, d *dataset.Data) ([]algorithms.Chunklet, error) {
	var out []algorithms.Chunklet
	if u.extend {
		named, err := a.readChunklets(ctx, &u.links, d)
		for _, c := range named {
			out = append(out, algorithms.Chunklet{ID: chunkletID(c.Name), Rows: c.Rows})
		}
		return out, err
	}
	set, err := a.readLinks(ctx, &u.links, d)
	if err != nil {
		return nil, err
	}
	for _, w := range set.Warnings() {
		a.warn("%s: %s", u.links.path, w)
	}
	if _, cannot := set.Count(); cannot > 0 {
		a.warn("%s: %s not used: an update takes must-links", u.links.path, plural(cannot, "cannot-link"))
	}
	for _, rows := range set.Chunklets() {
		out = append(out, algorithms.Chunklet{ID: algorithms.NewChunklet, Rows: rows})
	}
	return out, nil
}

// chunkletID returns the number that a name is, or NewChunklet for a name that is none.
func chunkletID(name string) int {
	if id, err := strconv.Atoi(name); err == nil && id >= 0 {
		return id
	}
	return algorithms.NewChunklet
}

func (a *app) readChunklets(ctx context.Context, l *linkFlags, d *dataset.Data) ([]dataset.Chunklet, error) {
	if err := l.needIDs(d); err != nil {
		return nil, err
	}
	c := dataset.LinkContext{N: d.Points.Len(), IDs: d.IDs, By: l.by, MemoryLimit: int64(a.memoryLimit)}
	return await(ctx, func() ([]dataset.Chunklet, error) {
		if l.path == stream {
			return dataset.DecodeChunklets(a.stdin, "standard input", false, c)
		}
		return dataset.ReadChunklets(l.path, c)
	})
}

func (r *updateReport) text(w io.Writer) {
	if r.Dropped > 0 {
		fmt.Fprintf(w, "dropped\t%s\n", plural(r.Dropped, "update"))
	} else if r.Links > 0 {
		fmt.Fprintf(w, "added\t%s\n", plural(r.Links, "link"))
	} else {
		fmt.Fprintf(w, "added\t%s\n", plural(r.Added, "point"))
	}
	for _, f := range r.Figures {
		fmt.Fprintf(w, "%s\t%v\n", f.Name, f.Value)
	}
	fmt.Fprintf(w, "time\t%s\n", shortTime(r.Seconds))
	fmt.Fprintf(w, "model\t%s\n", r.Model)
}
