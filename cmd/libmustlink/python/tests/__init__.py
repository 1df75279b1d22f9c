"""Tests of the package; `make test-python` runs them with the library and the command of one build."""

import signal

# A shell that starts a command in the background has it ignore Ctrl-C, and Python then leaves that as it is.
signal.signal(signal.SIGINT, signal.default_int_handler)
