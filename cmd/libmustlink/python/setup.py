"""Builds a wheel with the library of one platform, for every Python 3.

`make wheel` copies the library into the package. A source archive has the Go sources instead, in the folder go, which Go and a C compiler build.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:
    from setuptools.command.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and any version of Python 3."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithGo(build_py):
    """Builds the library where the package does not have one."""

    def run(self):
        here = Path(__file__).resolve().parent
        if (here / "go").is_dir() and not list((here / "mustlink").glob("libmustlink.*")):
            name = "libmustlink." + {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
            command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-buildmode=c-shared", "-o", str(here / "mustlink" / name)]
            try:
                subprocess.run([*command, "./cmd/libmustlink"], cwd=here / "go", env={**os.environ, "CGO_ENABLED": "1"}, check=True)
            except FileNotFoundError:
                sys.exit("mustlink: there is no go: want Go 1.26 or later (https://go.dev/dl) and a C compiler, or a wheel for this platform")
            (here / "mustlink" / name).with_suffix(".h").unlink()
        super().run()


class WithLibrary(Distribution):
    """A distribution with compiled code."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"bdist_wheel": PlatformWheel, "build_py": WithGo}, distclass=WithLibrary)
