"""Tests of the package; `make test-python` runs them with the library and the command of one build."""

import signal

# A shell makes a command in the background ignore Ctrl-C, and Python does not change that.
signal.signal(signal.SIGINT, signal.default_int_handler)
