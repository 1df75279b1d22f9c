package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// Staging is a hidden folder next to an output. A job writes its files there, and they replace
// those of an earlier job when all are complete. A job that fails leaves the earlier files as they
// were.
//
// The files of an output cannot be replaced all at once. While they are being replaced there is a
// hidden file, the mark, which lists the new ones. [Files] refuses an output that has a mark. If
// the process is killed meanwhile, the next job with this output first replaces the rest.
type Staging struct {
	output Output
	single bool // the output is one file, named by the path itself
}

// StageFiles makes the folder of an output that has a file for each element. Two jobs must not
// write the same output at a time.
func StageFiles(path string) (*Staging, error) { return stage(path, false) }

// StageFile makes the folder of an output that is one file.
func StageFile(path string) (*Staging, error) { return stage(path, true) }

func stage(path string, single bool) (*Staging, error) {
	s := &Staging{Output{path}, single}
	if err := CheckWritable(path); err != nil {
		return nil, err
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	if err := s.remove(); err != nil { // what a killed job left
		return nil, err
	}
	return s, os.Mkdir(s.folder(), 0o777)
}

func (s *Staging) folder() string { return hidden(s.output.Path, "new") }

// mark returns the path of the mark of an output.
func mark(output string) string { return hidden(output, "replacing") }

// hidden returns the path of a hidden file next to an output.
func hidden(output, ending string) string {
	dir, base := filepath.Split(output)
	return filepath.Join(dir, "."+base+"."+ending)
}

// Output returns where the job writes.
func (s *Staging) Output() Output {
	return Output{filepath.Join(s.folder(), filepath.Base(s.output.Path))}
}

// Discard removes the folder and what is in it, unless an error has ended Publish: the next job
// then goes on with it.
func (s *Staging) Discard() error {
	if _, err := os.Stat(mark(s.output.Path)); err == nil {
		return nil
	}
	return s.remove()
}

func (s *Staging) remove() error {
	if err := os.RemoveAll(s.folder()); err != nil {
		return fmt.Errorf("removing the files of an unfinished job: %w", err)
	}
	return nil
}

// Publish replaces the files of an earlier job by those in the folder, and removes the folder.
// Files of an earlier job that have no successor are removed, as the pattern would match them too.
func (s *Staging) Publish() error {
	if s.single {
		if err := os.Rename(s.Output().Path, s.output.Path); err != nil {
			return fmt.Errorf("the job ended, but its output cannot be moved to its name: %w", err)
		}
		return s.Discard()
	}
	names, err := s.output.among(s.folder())
	if err != nil {
		return err
	}
	err = dataset.Atomic(mark(s.output.Path), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(names)
	})
	if err != nil {
		return err
	}
	return s.finish()
}

// finish replaces the files that a mark lists, if there is one, and removes it. Some of them may
// have been replaced already.
func (s *Staging) finish() error {
	text, err := os.ReadFile(mark(s.output.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var names []string
	if err == nil {
		err = json.Unmarshal(text, &names)
	}
	if err != nil {
		return fmt.Errorf("reading the list of files of an earlier job: %w", err)
	}
	if err := s.replace(names); err != nil {
		return fmt.Errorf("replacing the files of an earlier job: %w", err)
	}
	if err := s.remove(); err != nil {
		return err
	}
	return os.Remove(mark(s.output.Path))
}

// replace removes the files of an earlier job that are not among the names, and moves those of the
// names that are still in the folder.
func (s *Staging) replace(names []string) error {
	dir := filepath.Dir(s.output.Path)
	earlier, err := s.output.among(dir)
	if err != nil {
		return err
	}
	later := map[string]bool{}
	for _, name := range names {
		later[name] = true
	}
	for _, name := range earlier {
		if !later[name] {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		err := os.Rename(filepath.Join(s.folder(), name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// among returns the names of the output's files in a folder.
func (o Output) among(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, entry := range entries {
		if outputOf(entry.Name()) == filepath.Base(o.Path) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// numbered matches the name of a file of an output: see [Output.Name].
var numbered = regexp.MustCompile(`^(.*)-[0-9]+-of-[0-9]+((?:\.[^.]*){0,2})$`)

// outputOf returns the path whose output has the file, "" for a file without a number.
func outputOf(file string) string {
	dir, base := filepath.Split(file)
	parts := numbered.FindStringSubmatch(base)
	if parts == nil {
		return ""
	}
	return filepath.Join(dir, parts[1]+parts[2])
}

// whole returns an error if files are being replaced, or were when a job was killed.
func whole(files []string) error {
	last := ""
	for _, file := range files { // they are sorted
		output := outputOf(file)
		if output == "" || output == last {
			continue
		}
		if _, err := os.Stat(mark(output)); err == nil {
			return fault.Data(file,
				"it may belong to another job than the files next to it: a job is replacing them, or was "+
					"killed meanwhile; wait, or run the job again")
		}
		last = output
	}
	return nil
}
