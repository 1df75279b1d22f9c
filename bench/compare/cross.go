package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Options are the settings of a comparison. The zero value compares all systems on all sets that
// are in the folder.
type Options struct {
	Sets        []string // names of sets; nil: all whose files are in the folder
	Systems     []string // names of systems; nil: all
	Repetitions int      // 0: 20 for a cross table, 10 for curves
	Links       Links    // of the cross table
	Seed        uint64
	Data        string // folder of the data sets
	State       string // path of the state file, "" for none
	Progress    algorithms.ProgressFunc

	more   []Set    // that need no files, in addition
	rivals []string // systems that are known in addition
}

// Cross is the cross table of systems and data sets.
type Cross struct {
	Systems  []string `json:"systems"`
	Measures []string `json:"measures"`
	// one for each data set: a row for each system, a column for each measure
	Results  []*paper.Result `json:"results"`
	Missing  []string        `json:"missing,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Build    paper.Build     `json:"build"`
	Seconds  float64         `json:"seconds"`
}

// Failure is a system that failed in one repetition.
type Failure struct {
	Set        string `json:"set"`
	System     string `json:"system"`
	Repetition int    `json:"repetition"`
	Error      string `json:"error"`
}

const crossRepetitions = 20

// QuickRepetitions is the number of repetitions of a first look.
const QuickRepetitions = 3

// Links says which links are drawn. Half of them are must-links, half cannot-links.
type Links struct {
	PerRow float64 // number of links, divided by the number of training rows; 0: 1.2
	Wrong  float64 // share of the links that have the other sign
}

// linksPerRow times the number of training rows is the number of links by default.
const linksPerRow = 1.2

// perRow returns the number of links, divided by the number of training rows.
func (l Links) perRow() float64 {
	if l.PerRow == 0 {
		return linksPerRow
	}
	return l.PerRow
}

// Run computes the cross table. It fails for unknown sets and systems, if the folder has no set,
// and where [paper.Run] fails.
func Run(ctx context.Context, eng *engine.Engine, o Options) (*Cross, error) {
	var failed failures
	results, missing, err := o.run(ctx, eng, crossRepetitions, func(s Set, systems []string) paper.Table {
		return crossTable(s, systems, o.Links, &failed)
	})
	if err != nil {
		return nil, err
	}
	c := &Cross{Systems: o.systems(), Measures: Measures(), Results: results, Missing: missing,
		Failures: failed.list, Build: results[0].Build}
	for _, r := range results {
		c.Seconds += r.Seconds
	}
	return c, nil
}

// run runs the tables of all sets, one after the other.
func (o Options) run(ctx context.Context, eng *engine.Engine, repetitions int,
	table func(Set, []string) paper.Table) (results []*paper.Result, missing []string, err error) {
	sets, missing, err := o.sets()
	if err != nil {
		return nil, nil, err
	}
	systems := o.systems()
	for _, name := range systems {
		if slices.Contains(o.rivals, name) {
			continue
		}
		if err := known(name); err != nil {
			return nil, nil, err
		}
	}
	if o.Repetitions > 0 {
		repetitions = o.Repetitions
	}
	done, total := 0, 0
	var tables []paper.Table
	for _, s := range sets {
		t := table(s, systems)
		tables = append(tables, t)
		total += repetitions * t.Steps
	}
	for k, t := range tables {
		r, err := paper.Run(ctx, eng, t, paper.Options{
			Seed: o.Seed, State: o.State, Repetitions: repetitions, Data: o.Data,
			Progress: func(p algorithms.Progress) {
				p.Stage, p.Done, p.Total = sets[k].Name, done+p.Done, total
				o.Progress.Report(p)
			},
		})
		if err != nil {
			return nil, nil, err
		}
		done += repetitions * t.Steps
		results = append(results, r)
	}
	return results, missing, nil
}

// sets returns the sets that o names, or all that are in the folder.
func (o Options) sets() (sets []Set, missing []string, err error) {
	if o.Sets != nil {
		for _, name := range o.Sets {
			s, err := LookupSet(name)
			if err != nil {
				return nil, nil, err
			}
			sets = append(sets, s)
		}
		return sets, nil, nil
	}
	for _, s := range Sets() {
		switch there, err := s.there(o.Data); {
		case err != nil:
			return nil, nil, err
		case there:
			sets = append(sets, s)
		default:
			missing = append(missing, s.Name)
		}
	}
	if len(sets) == 0 {
		return nil, nil, &fault.ParamError{Param: "folder of data sets", Value: o.Data,
			Want: "the folder that holds " + Sets()[0].Files[0] + " and others"}
	}
	return append(sets, o.more...), missing, nil
}

// there reports whether all files of the set are in the folder.
func (s Set) there(folder string) (bool, error) {
	for _, name := range s.Files {
		_, err := os.Stat(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fault.Data(filepath.Join(folder, name), "%w", err)
		}
	}
	return true, nil
}

func (o Options) systems() []string {
	if o.Systems == nil {
		return Systems()
	}
	return o.Systems
}

// known returns an error if there is no such system.
func known(system string) error {
	if system == Raw {
		return nil
	}
	_, err := learner(system, 0, 2)
	return err
}

// failures collects failures from several trials.
type failures struct {
	mu   sync.Mutex
	list []Failure
}

func (f *failures) add(set, system string, repetition int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, Failure{set, system, repetition, err.Error()})
}

// crossTable returns the part of the cross table for one set.
func crossTable(s Set, systems []string, l Links, failed *failures) paper.Table {
	t := paper.Table{
		Name: "cross-" + s.Name, Label: "Cross table", Caption: "all systems on " + s.Name,
		Columns: Measures(),
		Data:    s.Files, Steps: len(systems), Decimals: 3, Gaps: true, Repetitions: crossRepetitions,
		Setup: setup(systems, l), Revision: 2,
		Prepare: func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) {
			return s.read(t.Path)
		},
		Trial: func(ctx context.Context, eng *engine.Engine, t paper.Trial) ([][]float64, error) {
			p, err := drawn(ctx, eng, t, l)
			if err != nil {
				return nil, err
			}
			var values [][]float64
			for _, system := range systems {
				v, err := p.measured(ctx, eng, system, s.Name, t.Number, failed)
				if err != nil {
					return nil, err
				}
				values = append(values, v)
				t.Step()
			}
			return values, nil
		},
	}
	for _, name := range systems {
		t.Rows = append(t.Rows, paper.Row{Name: name, Printed: paper.Unprinted(measures)})
	}
	return t
}

// wrongly says how many links are wrong, if any.
func wrongly(share float64) string {
	if share == 0 {
		return ""
	}
	return fmt.Sprintf(" %g %% of each kind have the other sign.", 100*share)
}

// setup describes how the values are computed, including the defaults of every method.
func setup(systems []string, l Links) []string {
	lines := []string{
		fmt.Sprintf("Rows: at most %d of a set, drawn again in every repetition, in proportion to the "+
			"classes. Half of them are training rows; the others are held-out rows, which are only embedded.",
			maxRows),
		fmt.Sprintf("Features: with fewer than %d features, a set is standardized by its training rows. "+
			"Words are weighted by inverse document frequency, and rows have unit length. Sets with more "+
			"features, and "+
			"protein sequences (cosine of the counts of words of three letters, superfamilies of at least "+
			"%d), are "+
			"replaced by the %d leading principal coordinates of the training rows, for all systems.",
			fewFeatures,
			familyRows, fewFeatures),
		fmt.Sprintf("Links: %g times the number of training rows, half must-links and half cannot-links, "+
			"drawn from all pairs of training rows; the same for all systems.%s", l.perRow(),
			wrongly(l.Wrong)),
		fmt.Sprintf("k-means runs on each half separately, with as many clusters as classes, the best of "+
			"%d k-means++ starts and the same seed for all systems. The %d nearest neighbors are training "+
			"rows; a "+
			"training row is not its own neighbor.", restarts, votes),
		"Every method runs with its defaults, on one thread:",
	}
	for _, name := range systems {
		m, err := catalog.Lookup(name)
		if err != nil { // raw points
			continue
		}
		var parts []string
		if m.DefaultKernel != "" {
			parts = append(parts, "kernel "+m.DefaultKernel)
		}
		for _, p := range m.Parameters {
			if p.Default != "" {
				parts = append(parts, p.Name+" "+p.Default)
			}
		}
		lines = append(lines, name+": "+strings.Join(parts, ", ")+".")
	}
	return lines
}
