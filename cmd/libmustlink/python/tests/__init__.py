"""Tests of the package: `make test-lib` runs them with the library and the command of one build."""
