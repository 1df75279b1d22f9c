"""Checks ONNX files with the checker and the shape inference of package onnx."""
import sys

import onnx

for path in sys.argv[1:]:
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    shape = [d.dim_param or d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]
    if shape[0] != "rows" or not isinstance(shape[1], int) or not {"method", "version", "features"} <= {p.key for p in model.metadata_props}:
        sys.exit(f"{path}: output {shape}, metadata {model.metadata_props}")
