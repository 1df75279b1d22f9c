package main

import (
	"context"
	"fmt"
	"io"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

// loadModel reads the model at path.
func (a *app) loadModel(ctx context.Context, path string) (*catalog.Fitted, error) {
	return await(ctx, func() (*catalog.Fitted, error) { return catalog.Load(path) })
}

// useModel notes that the model at path is read.
func (a *app) useModel(path string) error {
	if path == stream {
		return usagef("MODEL is \"-\": want a file, as a model is read at random places")
	}
	return a.useInput("MODEL", path)
}

// readFor reads the points that d describes and makes them ready for the model.
func (a *app) readFor(ctx context.Context, fitted *catalog.Fitted, d *dataFlags) (*dataset.Data, points.Points, error) {
	data, err := a.readData(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	x, err := fitted.Prepare(data)
	return data, x, err
}

// matrixReport is what commands print that write a matrix.
type matrixReport struct {
	Method   string   `json:"method"`
	Rows     int      `json:"rows"`
	Cols     int      `json:"cols"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r matrixReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %d x %d (%s)\n", r.Output, r.Rows, r.Cols, r.Method)
}
