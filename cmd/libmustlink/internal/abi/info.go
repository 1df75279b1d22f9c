package abi

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/kernel"
)

// methodInfo is one method in what mustlink_methods tells.
type methodInfo struct {
	Name            string          `json:"name"`
	Summary         string          `json:"summary"`
	Paper           string          `json:"paper"`
	DefaultKernel   string          `json:"default_kernel"`
	Baseline        bool            `json:"baseline"`
	UsesCannotLinks bool            `json:"uses_cannot_links"`
	UsesTriplets    bool            `json:"uses_triplets"`
	Pairwise        bool            `json:"pairwise"`
	Parameters      []parameterInfo `json:"parameters"`
}

type parameterInfo struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Help    string `json:"help"`
	// Type is int, float, bool or text; Range holds bounds such as ">= 0, < 1".
	Type  string `json:"type"`
	Range string `json:"range,omitempty"`
	// Choices are the values of a text, or the words that may stand for a number.
	Choices []string `json:"choices,omitempty"`
}

// Methods is mustlink_methods.
func Methods() any {
	var out []methodInfo
	for _, m := range catalog.Methods() {
		info := methodInfo{m.Name, m.Summary, m.Paper, m.DefaultKernel, m.Baseline, m.UsesCannotLinks, m.UsesTriplets, m.Pairwise, nil}
		for _, p := range m.Parameters {
			one := parameterInfo{Name: p.Name, Default: p.Default, Help: p.Help, Type: string(p.Type), Range: p.Range}
			for _, c := range slices.Concat(p.Choices, p.Words) {
				one.Choices = append(one.Choices, c.Name)
			}
			info.Parameters = append(info.Parameters, one)
		}
		out = append(out, info)
	}
	return out
}

// modelInfo is what mustlink_model_info tells.
type modelInfo struct {
	Method         string         `json:"method"`
	Kernel         string         `json:"kernel"`
	Dim            int            `json:"dim"`
	InputDim       int            `json:"input_dim"` // -1 when any will do
	Features       []string       `json:"features"`
	Scaling        string         `json:"scaling"`
	Converged      bool           `json:"converged"`
	Iterations     int            `json:"iterations"`
	Message        string         `json:"message"`
	Seconds        float64        `json:"seconds"`
	Notices        []string       `json:"notices"`
	Objective      *float64       `json:"objective"`
	Figures        map[string]any `json:"figures"`
	Fingerprint    string         `json:"fingerprint"`
	LibraryVersion string         `json:"library_version"`
	Build          string         `json:"build"`
}

// ModelInfo is mustlink_model_info.
func ModelInfo(f *catalog.Fitted) any {
	s := f.Model.Status()
	info := modelInfo{
		Method: f.Model.Method(), Dim: f.Model.Dim(), InputDim: InputDim(f), Features: f.Features, Scaling: scalingName(f.Scaling),
		Converged: s.Converged, Iterations: s.Iterations, Message: s.Message, Seconds: s.Elapsed.Seconds(), Notices: s.Notices,
		Figures: map[string]any{}, Fingerprint: f.Fingerprint, LibraryVersion: f.LibraryVersion, Build: f.Build,
	}
	if k, ok := f.Model.(interface{ Kernel() kernel.Kernel }); ok {
		info.Kernel = k.Kernel().String()
	}
	if o, ok := f.Model.(algorithms.Objective); ok && !math.IsNaN(o.Objective()) && !math.IsInf(o.Objective(), 0) {
		v := o.Objective()
		info.Objective = &v
	}
	if d, ok := f.Model.(algorithms.Describer); ok {
		for _, figure := range d.Describe() {
			info.Figures[figure.Name] = printable(figure.Value)
		}
	}
	return info
}

// printable keeps JSON from failing over a value that it cannot hold.
func printable(v any) any {
	if _, err := json.Marshal(v); err != nil {
		return fmt.Sprint(v)
	}
	return v
}

// InputDim returns the number of features that a model takes, -1 when any will do.
func InputDim(f *catalog.Fitted) int {
	if in, ok := f.Model.(algorithms.Inputs); ok {
		return in.InputDim()
	}
	if f.Features != nil {
		return len(f.Features)
	}
	return -1
}

// scalingName returns the word for how a model changes features.
func scalingName(t dataset.Transform) string {
	switch t.(type) {
	case *dataset.Scaling:
		return "standardize"
	case *dataset.TFIDF:
		return "tfidf"
	}
	return "none"
}
