package train

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/label"
)

// look chooses what people see of rows, and takes the column of pictures out of the data.
func (c *labelCommand) look(d *dataset.Data, o *label.Options) error {
	all := label.ColumnsOf(d)
	named := make([]string, len(all))
	for k := range all {
		named[k] = all[k].Name
	}
	find := func(flag, name string) (label.Column, error) {
		if k := slices.Index(named, name); k >= 0 {
			return all[k], nil
		}
		return label.Column{}, fault.InFile(fault.Unknown(flag, name, named), d.Name)
	}
	if err := c.pictures(d, o, find); err != nil {
		return err
	}
	if c.text != "" {
		text, err := find("--text", c.text)
		if err != nil {
			return err
		}
		text.Kind = label.Text
		o.Columns = append(o.Columns, text)
	}
	show := c.show
	if show == nil {
		show = named
	}
	for _, name := range show {
		column, err := find("--show", name)
		if err != nil {
			return err
		}
		if c.show != nil || name != c.text && name != c.images {
			o.Columns = append(o.Columns, column)
		}
	}
	return nil
}

// pictures finds the pictures of rows: in a folder, or by the paths of a column.
func (c *labelCommand) pictures(d *dataset.Data, o *label.Options, find func(flag, name string) (label.Column, error)) (err error) {
	if c.images == "" {
		return nil
	}
	if info, err := os.Stat(c.images); err == nil && info.IsDir() {
		return c.folder(d, o)
	}
	column, err := find("--images", c.images)
	if err != nil {
		return err
	}
	if column.Number != nil {
		return usage.Errorf("--images is %q, a column of numbers: want a column with the paths of pictures, or a folder", c.images)
	}
	if o.Images, err = label.NewImages(filepath.Dir(c.data.Path), column.Text); err != nil {
		return fault.Data(filepath.Dir(c.data.Path), "%w", err)
	}
	return withoutColumn(d, c.images)
}

// folder takes the pictures of a folder, whose names are those of the rows.
func (c *labelCommand) folder(d *dataset.Data, o *label.Options) error {
	byName := map[string]string{}
	entries, err := os.ReadDir(c.images)
	if err != nil {
		return fault.Data(c.images, "%w", err)
	}
	for _, e := range entries {
		name := e.Name()
		ending := filepath.Ext(name)
		byName[name] = name
		if slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"}, strings.ToLower(ending)) {
			byName[name[:len(name)-len(ending)]] = name
		}
	}
	o.Images, err = label.NewImages(c.images, func(i int) string {
		if d.IDs != nil {
			return byName[d.IDs[i]]
		}
		return byName[strconv.Itoa(i)]
	})
	return err
}

// withoutColumn takes a column out of the points.
func withoutColumn(d *dataset.Data, name string) error {
	x, ok := d.Points.(*points.Mixed)
	if !ok || len(x.Columns) < 2 {
		return fault.Data(d.Name, "there is no column besides %q: want columns to learn from", name)
	}
	kept := points.Mixed{N: x.N}
	numbers := true
	for _, column := range x.Columns {
		if column.Name != name {
			kept.Columns = append(kept.Columns, column)
			numbers = numbers && !column.IsText()
		}
	}
	d.Points, d.Features = &kept, kept.Names()
	if numbers {
		if dense, err := kept.Dense(); err == nil { // otherwise some are missing
			d.Points = dense
		}
	}
	return nil
}

// learnFrom prepares the points, and finds coordinates for the choice of questions.
func (c *labelCommand) learnFrom(ctx context.Context, d *dataset.Data, o *label.Options) (err error) {
	if o.Engine, err = c.Engine(); err != nil {
		return err
	}
	if o.Table, err = c.preparing.Apply(ctx, c.Session, d); err != nil {
		return err
	}
	switch x := o.Table.Data().Points.(type) {
	case *points.Dense, *points.CSR:
		o.Coordinates, err = metric.Raw(ctx, o.Engine, d.Name, x)
		return err
	}
	// Sequences, and rows by their inner products, have principal coordinates.
	learner, err := catalog.New("kpca", catalog.Config{Seed: c.seed})
	if err != nil {
		return err
	}
	x := o.Table.Data().Points
	m, err := learner.Fit(ctx, o.Engine, x, empty(x.Len()))
	if err != nil {
		return fault.InFile(err, d.Name)
	}
	o.Coordinates, err = m.Embed(ctx, o.Engine, x)
	return fault.InFile(err, d.Name)
}

// open opens a browser, if there is one, by a file that leads to the address: the arguments of
// programs, and so the key, are visible to other users of the machine. done removes the file.
func (c *labelCommand) open(address string) (done func()) {
	program := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		if c.Getenv("DISPLAY") == "" && c.Getenv("WAYLAND_DISPLAY") == "" {
			return func() {}
		}
		program = []string{"xdg-open"}
	}
	f, err := os.CreateTemp("", "mustlink-label-*.html")
	if err != nil {
		return func() {}
	}
	_, err = fmt.Fprintf(f, "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=%s\">", html.EscapeString(address))
	if f.Close() == nil && err == nil {
		cmd := exec.Command(program[0], append(program[1:], f.Name())...)
		if cmd.Start() == nil {
			go cmd.Wait() // the browser may stay
		}
	}
	return func() { os.Remove(f.Name()) }
}
