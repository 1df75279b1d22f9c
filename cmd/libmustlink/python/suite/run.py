"""Runs metric-learn's own tests against mustlink.compat.metric_learn, and writes the table of results.

    python suite/run.py CHECKOUT [REPORT]

CHECKOUT is a checkout of metric-learn, of which the tests are copied to a temporary folder, so that
its code cannot be imported. REPORT is the Markdown file to write. All tests run. It is an error if
a test fails that reasons.py does not list, or if one is listed and passes.
"""

from __future__ import annotations

import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from reasons import CLASSES, REASONS

HERE = pathlib.Path(__file__).resolve().parent


def main(arguments: list[str]) -> int:
    """Run the tests; return 0 if all results are as listed."""
    if not 1 <= len(arguments) <= 2 or not (pathlib.Path(arguments[0]) / "test").is_dir():
        print("want the path of a checkout of metric-learn, with the folder test, and perhaps a file for the report", file=sys.stderr)
        return 2
    results: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(pathlib.Path(arguments[0]) / "test", pathlib.Path(folder) / "test")
        for path in sorted((pathlib.Path(folder) / "test").glob("*test*.py")):
            results[path.name] = outcomes(folder, f"test/{path.name}")
            print(path.name, counts(results[path.name]), flush=True)
    failed = [name for of in results.values() for name, outcome in of.items() if outcome == "failed"]
    unlisted = [name for name in failed if reason(name) is None]
    stale = [pattern for pattern, _, _ in REASONS if not any(fnmatch.fnmatchcase(escaped(name), escaped(pattern)) for name in failed)]
    for name in unlisted:
        print(f"{name}: it fails, and reasons.py does not say why")
    for pattern in stale:
        print(f"{pattern}: reasons.py lists it, and it passes")
    if len(arguments) == 2:
        pathlib.Path(arguments[1]).write_text(report(results))
    return 1 if unlisted or stale else 0


def outcomes(folder: str, path: str) -> dict[str, str]:
    """Run a file of tests and return what became of each."""
    log = pathlib.Path(folder) / "outcomes.json"
    log.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent)]), "METRIC_LEARN_OUTCOMES": str(log), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "metric_learn_alias", "-W", "ignore::pytest.PytestUnknownMarkWarning", path]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if not log.exists():
        raise RuntimeError(f"{path}: pytest ended without results:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(log.read_text())


def escaped(name: str) -> str:
    """Return a name in which brackets mean nothing to fnmatch."""
    return name.replace("[", "(").replace("]", ")")


def reason(name: str) -> tuple[str, str] | None:
    """Return the class and the reason of a test."""
    return next(((kind, text) for pattern, kind, text in REASONS if fnmatch.fnmatchcase(escaped(name), escaped(pattern))), None)


def counts(of: dict[str, str]) -> str:
    """Return the numbers of outcomes in words."""
    return ", ".join(f"{sum(v == what for v in of.values())} {what}" for what in ("passed", "failed", "skipped"))


def report(results: dict[str, dict[str, str]]) -> str:
    """Return the page."""
    lines = [PAGE, "| file | passed | failed | skipped |", "| --- | ---: | ---: | ---: |"]
    everything = {name: v for of in results.values() for name, v in of.items()}
    clean = {k: v for k, v in results.items() if "failed" not in v.values()}
    rest = {f"{name}::{test}": v for name, of in clean.items() for test, v in of.items()}
    for title, of in [*((f"`{k}`", v) for k, v in results.items() if k not in clean), ("the other files", rest), ("all", everything)]:
        lines.append(f"| {title} | " + " | ".join(str(sum(v == what for v in of.values())) for what in ("passed", "failed", "skipped")) + " |")
    ran = [v for v in everything.values() if v != "skipped"]
    lines += ["", f"{100 * sum(v == 'passed' for v in ran) / len(ran):.1f} % of the tests that ran pass.", ""]
    lines += ["## Failures by reason", "", "| reason | tests |", "| --- | ---: |"]
    failed = [(name, *(reason(name) or ("", "not listed"))) for name, v in everything.items() if v == "failed"]
    lines += [f"| {text} | {sum(kind == k for _, k, _ in failed)} |" for kind, text in CLASSES.items()]
    return "\n".join(lines) + "\n"


PAGE = """# metric-learn's own tests

`make test-metric-learn METRIC_LEARN=CHECKOUT` runs the tests of a checkout of metric-learn (0.7,
commit dc7e449) against [mustlink.compat.metric_learn](../metric-learn.md), whose modules take the
place of theirs. The tests are unchanged, but for the module `sklearn_shims` and the name of a
private function, which raises. Skipped tests need the package skggm, and
[reasons.py](../../cmd/libmustlink/python/suite/reasons.py) explains every failure.
"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
