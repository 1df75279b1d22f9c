package mustlink_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/fault"
)

// Models of FitMany are those of Fit, in the order of the jobs, and progress counts them.
func TestFitManyIsFit(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 40)
	other, more := problem(t, 60)
	var reports []mustlink.Progress
	jobs := []mustlink.Job{
		{Table: table, Links: pairs},
		{Table: other, Links: more, Options: []mustlink.Option{mustlink.Method("rca")}},
		{Table: table, Links: pairs, Options: []mustlink.Option{mustlink.Param("dims", "1")}},
	}
	models, err := mustlink.FitMany(ctx, jobs, mustlink.Method("krca"), mustlink.Workers(2),
		mustlink.OnProgress(func(p mustlink.Progress) { reports = append(reports, p) }))
	if err != nil {
		t.Fatal(err)
	}
	for i, job := range jobs {
		options := append([]mustlink.Option{mustlink.Method("krca"), mustlink.Workers(2)}, job.Options...)
		alone := try(mustlink.Fit(ctx, job.Table, job.Links, options...))
		equal(t, "coordinates", try(models[i].Embed(ctx, job.Table)),
			try(alone.Embed(ctx, job.Table)))
		if r := reports[i]; r.Done != i+1 || r.Total != 3 || r.Stage != "fits" {
			t.Errorf("report %d is %+v", i, r)
		}
	}
	if models, err := mustlink.FitMany(ctx, nil); len(models) != 0 || err != nil {
		t.Errorf("no jobs: %v, %v", models, err)
	}
}

// A job that fails, also by the memory limit, leaves the others alone, and the error names it.
func TestFitManyErrors(t *testing.T) {
	ctx := t.Context()
	table, pairs := problem(t, 40)
	large, more := problem(t, 400)
	krca := mustlink.Method("krca")
	jobs := []mustlink.Job{
		{Table: table, Links: pairs},
		{Table: large, Links: more},
		{Table: table, Links: pairs, Options: []mustlink.Option{mustlink.Param("dims", "-1")}},
		{},
		{Table: table, Links: pairs},
	}
	models, err := mustlink.FitMany(ctx, jobs, krca, mustlink.MemoryLimit(200<<10))
	if len(models) != 5 || models[0] == nil || models[4] == nil {
		t.Fatalf("good jobs have no models: %v", err)
	}
	joined, is := err.(interface{ Unwrap() []error })
	if !is || len(joined.Unwrap()) != 3 {
		t.Fatalf("error %v", err)
	}
	for i, err := range joined.Unwrap() {
		job, is := errors.AsType[*mustlink.JobError](err)
		if !is || job.Job != i+1 || models[i+1] != nil || !fault.IsInput(err) {
			t.Errorf("error %v", err)
		}
	}
	if _, is := errors.AsType[*fault.MemoryError](joined.Unwrap()[0]); !is {
		t.Errorf("a table that is too large: %v", err)
	}
	models, err = mustlink.FitMany(ctx, jobs[1:], krca, mustlink.MemoryLimit(200<<10), mustlink.FirstError())
	if job, is := err.(*mustlink.JobError); !is || job.Job != 0 || len(models) != 4 {
		t.Errorf("the first error is %v", err)
	}
	for name, c := range map[string]struct {
		common, own []mustlink.Option
	}{
		"the engine of a job":  {nil, []mustlink.Option{mustlink.Workers(1)}},
		"FirstError of a job":  {nil, []mustlink.Option{mustlink.FirstError()}},
		"an option of Cluster": {[]mustlink.Option{mustlink.Restarts(3)}, nil},
		"no option":            {[]mustlink.Option{{}}, nil},
		"workers of the whole": {[]mustlink.Option{mustlink.Workers(-1)}, nil},
	} {
		jobs := []mustlink.Job{{Table: table, Links: pairs, Options: c.own}}
		_, err := mustlink.FitMany(ctx, jobs, c.common...)
		if !fault.IsInput(err) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	var none context.Context
	if _, err := mustlink.FitMany(none, jobs); !fault.IsInput(err) {
		t.Errorf("no context: error %v", err)
	}
	if _, err := mustlink.Fit(ctx, table, pairs, mustlink.FirstError()); !fault.IsInput(err) {
		t.Errorf("FirstError of Fit: error %v", err)
	}
}

// A canceled context ends FitMany, which returns the models that were ready.
func TestFitManyCanceled(t *testing.T) {
	table, pairs := problem(t, 40)
	jobs := make([]mustlink.Job, 200)
	for i := range jobs {
		jobs[i] = mustlink.Job{Table: table, Links: pairs}
	}
	ctx, cancel := context.WithCancel(t.Context())
	models, err := mustlink.FitMany(ctx, jobs, mustlink.Method("krca"), mustlink.Workers(1),
		mustlink.OnProgress(func(p mustlink.Progress) {
			if p.Done == 3 {
				cancel()
			}
		}))
	if !errors.Is(err, context.Canceled) || len(models) != 200 {
		t.Fatalf("%d models, error %v", len(models), err)
	}
	if models[0] == nil || models[1] == nil || models[2] == nil || models[199] != nil {
		t.Error("not the models that were ready")
	}
	if models, err := mustlink.FitMany(ctx, jobs); !errors.Is(err, context.Canceled) || models[0] != nil {
		t.Errorf("canceled before: %v", err)
	}
}
