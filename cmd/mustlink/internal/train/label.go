package train

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/topics"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/label"
)

type labelCommand struct {
	*session.Session
	cmd       *cobra.Command
	data      source.Data
	links     source.Links
	first     string
	preparing source.Preparing
	images    string
	text      string
	words     bool // fits learn from those of text
	show      []string
	classes   int
	method    string
	noFit     bool
	port      int
	share     string
	people    []string
	noBrowser bool
	seed      uint64
	out       string
}

func newLabel(s *session.Session) *cobra.Command {
	c := &labelCommand{Session: s}
	cmd := &cobra.Command{
		Use:        "label [MODEL] -i DATA [-c LINKS] [--images COLUMN|DIR] [--text COLUMN] [--show A,B,C] -o LINKS",
		SuggestFor: []string{"annotate"},
		Short:      "ask people on a page in the browser which rows belong together, and watch the metric learn",
		Long: `Start a page on this machine where people answer which rows belong together, and append the answers to the
links of -o. The command prints the address of the page, with a key that is valid until it ends.

The page shows two rows side by side: pictures, texts and values, with their differences marked. Keys: s
(same), d (different), c (cannot say), u (undo), g (group mode: one row against the twelve nearest). The
questions are those of 'mustlink suggest'. With a MODEL that 'mustlink calibrate' made, answers that look
wrong are asked again first, once, and then near pairs that match about as likely as not. Every answer is on
disk before the next question, so a crash loses nothing, and the same command resumes. An answer that
contradicts earlier ones is shown with these, and settled on the page.

Meanwhile fits in the background learn a metric from the answers, by the method that 'mustlink fit' would choose.
The page shows their verdict on held-out links in the words of 'mustlink fit' and as a curve, and a map of all rows;
a click on a row asks about its neighbors. The links of -c are known, too, and do not change. Columns who and
when are added to the file of -o. LINKS.open.csv, next to it, has pairs that somebody could not answer, and answers
that others overruled. --first PAIRS are asked before other questions, in their order, such as the doubtful
pairs of 'mustlink entities'; answers then name rows as they do.

--images names a column with the paths of pictures below the folder of DATA, or a folder with a picture for each
row, named by its id or number (7.png, .jpg, .gif, .webp or .bmp). SVG is not shown. Without --show, the page
shows the columns in which two rows differ, but no columns of numbers next to pictures. Metrics are learned from
all columns except that of --images; --type COLUMN=drop leaves out a column that is only shown.

--share ADDRESS serves the page to other machines, over HTTP without encryption: use it in a network that you
trust. Every name of --people has a key of its own, and is in the column who.

Ctrl-C, or the button of the page, ends the session.`,
		Example: `  mustlink label -i data.csv -o links.csv
  mustlink label calibrated.mlk -i data.csv -o links.csv
  mustlink label -i embeddings.csv --images pictures -o links.csv
  mustlink label -i offers.csv --text title --show price,shop --share 192.168.1.5:8000 --people ann,ben -o links.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: s.Checked(c.check, c.run),
	}
	c.cmd = cmd
	f := usage.FlagsOf(cmd)
	c.data.Flags(cmd)
	c.links.Flags(cmd)
	f.String(&c.first, "first", "", "the file of `PAIRS` to ask about before others, in their order")
	f.String(&c.images, "images", "", "the pictures of rows: a `COLUMN` with their paths, or a folder")
	f.String(&c.text, "text", "", "the `COLUMN` that is shown as a text, with different words marked, and of whose words fits learn")
	f.Strings(&c.show, "show", "`COLUMNS` to show (default those that differ)")
	f.Int(&c.classes, "classes", 0, "number of classes, if it is known", usage.Range(">= 2"))
	f.String(&c.method, "method,m", "",
		"`METHOD` of the fits: "+strings.Join(topics.MethodNames(), ", ")+" (default that of mustlink fit)")
	f.Bool(&c.noFit, "no-fit", false, "only ask: no fits in the background")
	f.Int(&c.port, "port", 0, "the port of the page; 0 for any that is free",
		usage.Range(">= 0, <= 65535", "a number from 0 to 65535"))
	f.String(&c.share, "share", "",
		"serve other machines too, on this `ADDRESS` of this machine, as HOST:PORT", usage.Excludes("port"))
	f.Strings(&c.people, "people", "`NAMES` of those who answer, each with a key")
	f.Bool(&c.noBrowser, "no-browser", false, "print the address alone")
	c.preparing.FlagsWithoutText(cmd, "")
	f.Seed(&c.seed)
	f.String(&c.out, "output,o", "",
		"the .csv of `LINKS` to append answers to, which is made if it does not exist")
	usage.CompleteWith(cmd, "method", topics.MethodNames()...)
	f.Required("input", "output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (c *labelCommand) check(check *session.Checks, args []string) {
	check.Refuse(c.out == session.Stream || !session.HasEnding(c.out, "csv"),
		"-o, --output is %q: want a .csv file, answers are appended to it", c.out)
	check.Refuse(c.noFit && check.Cmd.Flags().Changed("method"),
		"--no-fit and -m are both given: want one of them")
	check.Do(c.checkShare)
	if c.method != "" {
		check.Do(func() error {
			_, err := catalog.Lookup(c.method)
			return usage.RenameParams(err, "method", "-m, --method")
		})
	}
	check.Refuse(len(args) > 0 && c.data.Path == session.Stream,
		"-i, --input is \"-\" with MODEL: want a file, which is read twice")
	check.Models(args)
	c.preparing.Check(check, false, &c.data)
	c.words = c.text != "" && c.preparing.CountWords(c.text)
	c.data.Check(check)
	if c.links.Path != "" && !session.SameFile(c.links.Path, c.out) {
		c.links.Check(check)
	}
	check.File("--first", c.first, "")
	check.Output("-o, --output", c.out)
}

// checkShare refuses an address that is not explicit, and shared keys.
func (c *labelCommand) checkShare() error {
	for k, name := range c.people {
		if name = strings.TrimSpace(name); name == "" || slices.Contains(c.people[:k], name) {
			return usage.Errorf("--people is %q: want different names", strings.Join(c.people, ","))
		}
	}
	if c.share == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(c.share)
	if ip, _ := netip.ParseAddr(host); err != nil || host == "" || port == "" ||
		ip.WithZone("").Unmap().IsUnspecified() {
		return usage.Errorf(
			"--share is %q: want an address of this machine that others reach, with a port: 192.168.1.5:8000",
			c.share)
	}
	if len(c.people) == 0 {
		return usage.Errorf(
			"--share is given without --people: want the names of those who answer, each gets a key")
	}
	return nil
}

func (c *labelCommand) run(ctx context.Context, args []string) error {
	data, err := c.data.ReadAtLeastTwo(ctx, c.Session)
	if err != nil {
		return err
	}
	o := label.Options{Title: filepath.Base(data.Name), Names: data.IDs, Classes: c.classes, File: c.out,
		Fit: !c.noFit, Method: c.method, Seed: c.seed, Guard: c.Files.Guard, All: c.show != nil}
	if err := c.look(data, &o); err != nil {
		return err
	}
	if err := c.learnFrom(ctx, data, &o, args); err != nil {
		return err
	}
	c.links.Follow(c.Session, c.out, data)
	if c.first != "" { // which also says how new answers name rows
		if o.First, err = source.ReadRows(ctx, c.Session, &c.links, c.first, data,
			dataset.ReadPairs); err != nil {
			return err
		}
	}
	if o.ByID = c.links.Names(data) != nil; !o.ByID {
		if err := c.links.NeedIDs(data); err != nil {
			return err
		}
	}
	if c.links.Path != "" && !session.SameFile(c.links.Path, c.out) {
		c.links.Begun = true
		if o.Given, err = c.links.ReadWarning(ctx, c.Session, data); err != nil {
			return err
		}
		if _, err := c.links.Leaks(c.Session, data, o.Table, o.Given); err != nil {
			return err
		}
	}
	o.Next = c.next(&o)
	server, err := c.listen(&o)
	if err != nil {
		return err
	}
	defer server.Close()
	page, err := label.New(ctx, o)
	if err != nil {
		return err
	}
	defer page.Close()
	if line := page.Dropped(); line != "" {
		c.Warnf("%s: the unfinished last line %q is removed", c.out, line)
	}
	return c.serve(ctx, server, page, o)
}

// listen takes the port, and makes the keys.
func (c *labelCommand) listen(o *label.Options) (net.Listener, error) {
	address := fmt.Sprintf("127.0.0.1:%d", c.port)
	if c.share != "" {
		address = c.share
	}
	server, err := net.Listen("tcp", address)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		if call, ok := errors.AsType[*os.SyscallError](err); ok {
			err = call.Err
		}
		if c.share != "" {
			return nil, usage.Errorf("--share %s: %v: want an address of this machine and a free port",
				c.share, err)
		}
		return nil, usage.Errorf("--port %d: %v: want a free port, or no --port", c.port, err)
	}
	if c.share != "" {
		_, port, _ := net.SplitHostPort(server.Addr().String())
		host, _, _ := net.SplitHostPort(c.share)
		o.Hosts = []string{net.JoinHostPort(host, port)}
		if port == "80" { // which browsers leave out
			o.Hosts = append(o.Hosts, strings.TrimSuffix(o.Hosts[0], ":80"))
		}
	}
	for _, name := range c.people {
		o.People = append(o.People, label.Person{Name: strings.TrimSpace(name), Key: rand.Text()})
	}
	if len(o.People) == 0 {
		o.People = []label.Person{{Key: rand.Text()}}
	}
	return server, nil
}

// next returns the command that learns from the answers, with the flags that say how data are read
// and prepared.
func (c *labelCommand) next(o *label.Options) string {
	words := []string{"mustlink", "fit", "-c", c.out, "-o", "model.mlk"}
	if o.ByID {
		words = append(words, "--links-by", "id")
	}
	if c.images != "" && !dataset.IsFolder(c.images) {
		words = append(words, "--drop", c.images)
	}
	if c.words {
		words = append(words, "--text", "words")
	}
	return usage.WithFlags(words, c.cmd, "links", "links-by", "first", "images", "text", "show", "classes",
		"port", "share", "people", "no-browser", "no-fit", "output")
}

// labelReport is the result of `mustlink label`.
type labelReport struct {
	Must     int      `json:"must_links"`
	Cannot   int      `json:"cannot_links"`
	Output   string   `json:"output"`
	Next     string   `json:"next"` // the command that learns from the answers
	Warnings []string `json:"warnings"`
}

func (r *labelReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %d must, %d cannot\n", r.Output, r.Must, r.Cannot)
	if r.Must+r.Cannot > 0 {
		fmt.Fprintf(w, "next: %s\n", r.Next)
	}
}

// serve serves the page until the session ends.
func (c *labelCommand) serve(ctx context.Context, listener net.Listener, page *label.Session,
	o label.Options) error {
	host := listener.Addr().String()
	if len(o.Hosts) > 0 {
		host = o.Hosts[0]
	}
	w := c.Stdout
	if c.JSON || c.Quiet {
		w = c.Stderr
	}
	for _, p := range o.People {
		fmt.Fprintf(w, "%shttp://%s/%s/\n", strings.TrimLeft(p.Name+": ", ": "), host, p.Key)
	}
	server := newServer(page)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	if !c.noBrowser && c.share == "" {
		defer c.open("http://" + host + "/" + o.People[0].Key + "/")()
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	case <-page.Done():
		err = page.Err()
	}
	soon, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if server.Shutdown(soon) != nil {
		server.Close() // requests that do not end
	}
	page.Close()
	if err != nil {
		return err
	}
	set, err := page.Answers()
	if err != nil {
		return err
	}
	r := &labelReport{Output: c.out, Next: o.Next, Warnings: c.Warnings()}
	r.Must, r.Cannot = set.Count()
	return errors.Join(c.Summarize(c.out, r, r.text), ctx.Err())
}

// connections is how many a server has at a time: many people, each with several.
const connections = 128

// newServer returns a server that waits no longer than a browser takes, and that keeps the
// connections that were used last.
func newServer(page http.Handler) *http.Server {
	var mu sync.Mutex
	var open []net.Conn // in the order of use
	keep := func(conn net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		open = slices.DeleteFunc(open, func(c net.Conn) bool { return c == conn })
		if state != http.StateClosed {
			open = append(open, conn)
		}
		if len(open) > connections {
			open[0].Close()
			open = open[1:]
		}
	}
	return &http.Server{Handler: page, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ConnState: keep,
		ErrorLog: log.New(io.Discard, "", 0)}
}

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
		pixel := o.Images != nil && column.Number != nil
		if c.show != nil || name != c.text && name != c.images && !pixel {
			o.Columns = append(o.Columns, column)
		}
	}
	return nil
}

// pictures finds the pictures of rows: in a folder, or by the paths of a column.
func (c *labelCommand) pictures(d *dataset.Data, o *label.Options,
	find func(flag, name string) (label.Column, error)) (err error) {
	if c.images == "" && dataset.IsFolder(c.data.Path) {
		o.Images, err = label.NewImages(c.data.Path, func(i int) string { return d.IDs[i] })
		return err
	}
	if c.images == "" {
		return nil
	}
	if dataset.IsFolder(c.images) {
		return c.folder(d, o)
	}
	column, err := find("--images", c.images)
	if err != nil {
		return err
	}
	if column.Number != nil {
		return usage.Errorf(
			"--images is %q, a column of numbers: want a column with the paths of pictures, or a folder",
			c.images)
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
		if slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"},
			strings.ToLower(ending)) {
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
func (c *labelCommand) learnFrom(ctx context.Context, d *dataset.Data, o *label.Options,
	args []string) (err error) {
	if o.Engine, err = c.Engine(); err != nil {
		return err
	}
	if o.Table, err = c.preparing.Apply(ctx, c.Session, d); err != nil {
		return err
	}
	if len(args) > 0 {
		return c.measureBy(ctx, args[0], o)
	}
	switch x := o.Table.Data().Points.(type) {
	case *points.Dense, *points.CSR:
		o.Coordinates, err = metric.Raw(ctx, o.Engine, d.Name, x)
		return err
	}
	// Sequences, and rows by their inner products, have principal coordinates.
	m, err := mustlink.Fit(ctx, o.Table, nil, mustlink.Method("kpca"), mustlink.Unprepared(),
		mustlink.Seed(c.seed), mustlink.Engine(o.Engine))
	if err != nil {
		return err
	}
	o.Coordinates, err = m.Record().Model.Embed(ctx, o.Engine, o.Table.Data().Points)
	return fault.InFile(err, d.Name)
}

// measureBy takes the coordinates of rows, and the calibration of their distances, from a model.
func (c *labelCommand) measureBy(ctx context.Context, model string, o *label.Options) error {
	m, err := metric.Open(ctx, c.Session, model)
	if err != nil {
		return err
	}
	data := c.data
	d, err := m.Read(ctx, &data)
	if err != nil {
		return err
	}
	o.Calibration = m.Model.Calibration()
	o.Coordinates, err = m.Coordinates(ctx, d)
	return err
}

// open opens a browser, if there is one, by a file that leads to the address: the arguments of
// programs, and so the key, are visible to other users of the machine. done removes the file.
func (c *labelCommand) open(address string) (done func()) {
	program := map[string][]string{"darwin": {"open"},
		"windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
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
	_, err = fmt.Fprintf(f,
		"<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=%s\">",
		html.EscapeString(address))
	if f.Close() == nil && err == nil {
		cmd := exec.Command(program[0], append(program[1:], f.Name())...)
		if cmd.Start() == nil {
			go cmd.Wait() // the browser may stay
		}
	}
	return func() { os.Remove(f.Name()) }
}
