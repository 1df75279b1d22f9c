package mustlink

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/batch"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Job is one fit of [FitMany]: what [Fit] takes. Jobs may share tables and links.
type Job struct {
	Table   *Table
	Links   *Links
	Options []Option // in addition to those of FitMany, and after them
}

// JobError is the error of one job of [FitMany].
type JobError struct {
	Job int // its number, from 0
	Err error
}

func (e *JobError) Error() string { return fmt.Sprintf("job %d: %v", e.Job, e.Err) }

// Unwrap returns the error of the fit.
func (e *JobError) Unwrap() error { return e.Err }

// FirstError makes [FitMany] end at the first job, in their order, that fails.
func FirstError() Option {
	return Option{"FirstError", many, func(s *settings) { s.first = true }}
}

// FitMany fits many models at the same time, small ones each on one worker and large ones, from
// 4096 rows on, one after another on all workers. It returns the models in the order of the jobs,
// nil for those that failed. Each is bit-identical to that of [Fit] with the same options.
//
// The options are for all jobs. [Engine], [Workers] and [MemoryLimit] are for the whole, and an
// option of a single job cannot change them; the limit holds for each memory request of each job.
// [OnProgress] reports how many of the first jobs are done.
//
// The error joins those of all jobs that failed, each a *[JobError] with its number; the other jobs
// finish. With [FirstError] it is the first one, and the jobs that still run or wait end without a
// model. When ctx ends, running fits end, no further ones begin, the error wraps that of ctx, and
// the models that were ready are returned. Options that FitMany does not take, and a nil context,
// are errors before any fit.
func FitMany(ctx context.Context, jobs []Job, options ...Option) ([]*Model, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	s, err := read(fit|many, "FitMany", options)
	if err != nil {
		return nil, err
	}
	eng, err := s.engineOf()
	if err != nil {
		return nil, err
	}
	common := slices.DeleteFunc(slices.Clone(options), func(o Option) bool {
		return slices.Contains([]string{"Engine", "Workers", "MemoryLimit", "OnProgress", "FirstError"},
			o.name)
	})
	models := make([]*Model, len(jobs))
	results, err := batch.Fit(ctx, eng, func(yield func(batch.Job) bool) {
		none, _ := links.New(0, nil) // Fit checks the job's own
		for i, job := range jobs {
			of := batch.Job{Learner: &jobLearner{job, slices.Concat(common, job.Options), eng, &models[i]},
				Points: &points.Dense{}, Links: none}
			if job.Table != nil && job.Table.data != nil && job.Table.data.Points != nil {
				of.Points = job.Table.data.Points
			}
			if !yield(of) {
				return
			}
		}
	}, batch.Options{})
	if err != nil {
		return nil, err
	}
	done, failed := 0, []error(nil)
	for r := range results {
		if r.Err != nil && ctx.Err() == nil {
			failed = append(failed, &JobError{r.Index, r.Err})
			if s.first {
				return models, failed[0]
			}
		}
		done++
		algorithms.ProgressFunc(s.progress).Report(Progress{Stage: "fits", Done: done, Total: len(jobs)})
	}
	if err := ctx.Err(); err != nil && (done < len(jobs) || slices.Contains(models, nil)) {
		failed = append(failed, fmt.Errorf("FitMany: %w", err))
	}
	return models, errors.Join(failed...)
}

// jobLearner is a job as package batch runs it.
type jobLearner struct {
	Job
	options []Option
	whole   *engine.Engine
	model   **Model
}

// Method returns no name: the method is chosen in the fit.
func (l *jobLearner) Method() string { return "" }

// Fit fits the job on the workers of eng, with the whole memory limit, so that its model does not
// depend on the number of jobs at a time.
func (l *jobLearner) Fit(ctx context.Context, eng *engine.Engine, _ points.Points, _ *links.Set) (
	algorithms.Model, error) {
	mine, err := engine.New(engine.Options{Backend: eng.Backend(), Workers: eng.Workers(),
		MemoryLimit: l.whole.MemoryLimit(), Cache: eng.Cache()})
	if err != nil {
		return nil, err
	}
	m, err := Fit(ctx, l.Table, l.Links, append(l.options, Engine(mine))...)
	if err != nil {
		return nil, err
	}
	m.eng = l.whole
	*l.model = m
	return m.fitted.Model, nil
}
