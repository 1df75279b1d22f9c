"""Compares the cells of CSV files, as the library reads them, with what pandas reads.

    python3 compare.py CELLS FOLDER [CASES]

CELLS is the program of this folder. FOLDER gets files that this program writes, whose numbers are
known; CASES is a folder of CSV files of others, which pandas reads with the options below. Each
line of the table is a file: its cells are the same, or the library says in an error or a remark
what is different. Anything else is a silent difference, and the exit code is 1.
"""

import csv
import io
import json
import math
import os
import re
import subprocess
import sys

import pandas

# How pandas reads files of CASES that its defaults read in another way, by their names.
OPTIONS = {
    "thousand-comma": {"thousands": ","}, "big-thousands": {"thousands": ","},
    "thousand-apos": {"sep": ";", "thousands": "'"},
    "thousand-dot": {"sep": ";", "decimal": ","}, "deccomma": {"sep": ";", "decimal": ",", "thousands": "."},
    "big-thousand-dot": {"sep": ";", "decimal": ",", "thousands": "."},
    "big-mixedmark": {"sep": ";"}, "links-semi": {"sep": ";"}, "list-cells": {"sep": ";"},
    "big-deccomma-in-comma": {"decimal": ","}, "deccomma-quoted-comma": {"decimal": ","},
    "iris-noheader": {"header": None}, "noheader": {"header": None}, "big-noheader": {"header": None},
    "sep-semicolon": {"sep": ";", "skiprows": 1, "decimal": ","}, "sep-comma": {"skiprows": 1},
    "sep-comma-quoted": {"skiprows": 1}, "sep-tab": {"sep": "\t", "skiprows": 1},
    "utf16le": {"encoding": "utf-16", "sep": "\t"}, "spaces": {"sep": " "}, "big-spaces": {"sep": " "},
    "spaces-multi": {"sep": r"\s+"}, "caret": {"sep": "^"}, "comment-top": {"comment": "#"},
    "title-top": {"skiprows": 1}, "crcrlf": {"lineterminator": "\n"}, "quote-space": {"skipinitialspace": True},
}
CLEAN = re.compile(r"[$€£%\s\u00a0\u2009\u202f'’]|[^\W\d_]+$")


def number(text):
    """Returns the number that a person sees in a cell, None for none."""
    text = CLEAN.sub("", str(text).strip().replace("\u2212", "-"))
    bracket = re.fullmatch(r"\((.*)\)", text)
    if bracket:
        text = "-" + bracket[1]
    try:
        return float(text)
    except ValueError:
        return None


def same(name, ours, theirs):
    """Compares a cell with that of pandas, which may be a text with a number."""
    if ours is None:
        missing = isinstance(theirs, float) and math.isnan(theirs)
        return missing or str(theirs).strip().lower() in {
            "", "-", "?", "na", "n/a", "nan", "null", "none", "#n/a", "<na>", "-nan", "#na", "1.#ind", "."}
    if isinstance(ours, str):
        if isinstance(theirs, bool):
            return ours.lower() == str(theirs).lower()
        if isinstance(theirs, float) and math.isnan(theirs):
            return name in ("id", "label")  # where NA is a name
        theirs = str(theirs).replace("\r\n", "\n").strip()
        return ours == theirs or number(ours) is not None and number(ours) == number(theirs)
    if isinstance(theirs, str):
        theirs = number(theirs)
    return theirs is not None and (ours == theirs or math.isclose(ours, theirs, rel_tol=1e-15))


def verdict(ours, names, rows):
    """Returns "same", what the library says, or "SILENT" with the first difference."""
    if ours.get("error"):
        return "error: " + ours["error"].split(": ", 1)[-1][:100]
    count = max(map(len, ours["columns"].values()), default=0)
    difference = None
    if count != len(rows):
        difference = f"{count} rows for {len(rows)}"
    for name, cells in ours["columns"].items():
        if difference is None and name not in names:
            difference = f"another column {name!r}"
        if difference is None:
            theirs = [row[names.index(name)] for row in rows]
            difference = next((f"column {name!r}, row {i}: {a!r} for {b!r}" for i, (a, b) in
                               enumerate(zip(cells, theirs)) if not same(name, a, b)), None)
    if difference is None:
        return "same"
    if ours["remarks"]:
        return "remark: " + ours["remarks"][0][:100]
    return "SILENT: " + difference


def by_pandas(path):
    """Returns the names and the rows of a file as pandas reads it, None if it does not."""
    options = dict(OPTIONS.get(os.path.splitext(os.path.basename(path))[0], {}))
    if "sep" in options and len(options["sep"]) > 1:
        options["engine"] = "python"
    try:
        frame = pandas.read_csv(path, keep_default_na=True, **options)
    except (ValueError, pandas.errors.ParserError, UnicodeDecodeError, OSError) as error:
        return None, str(error)
    frame.columns = [str(c).strip() for c in frame.columns]
    return list(frame.columns), frame.values.tolist() if len(frame.columns) > 1 else [
        [v] for v in frame.iloc[:, 0].tolist()]


def families():
    """Yields names, contents and columns of files whose numbers are known."""
    values = [12.5, -1234567.5, 987654.25, 0.5, -7.0, 1200.5, 3.25, 88.0, 61.75, 45.5, 1e5, -0.25]

    def grouped(v, group, point):
        whole, rest = f"{abs(v):.2f}".split(".")
        parts = []
        while len(whole) > 3:
            whole, parts = whole[:-3], [whole[-3:], *parts]
        return ("-" if v < 0 else "") + group.join([whole, *parts]) + point + rest

    def table(write, sep=",", head="a{0}n", end="\n", before="", after="", numbers=None):
        numbers = numbers or values
        rows = [write(v) + sep + str(k) for k, v in enumerate(numbers)]
        return before + end.join([head.format(sep), *rows]) + end + after, {"a": numbers, "n": list(range(len(numbers)))}

    quoted = lambda text: '"' + text + '"'
    plain = lambda v: f"{v:.2f}"
    comma = lambda v: plain(v).replace(".", ",")
    ways = {
        "plain": table(plain), "semicolons": table(plain, ";"), "bars": table(plain, "|"), "tabs": table(plain, "\t"),
        "comma": table(comma, ";"), "comma-tab": table(comma, "\t"), "comma-quoted": table(lambda v: quoted(comma(v))),
        "us": table(lambda v: quoted(grouped(v, ",", "."))), "us-semicolon": table(lambda v: grouped(v, ",", "."), ";"),
        "eu": table(lambda v: grouped(v, ".", ","), ";"), "eu-quoted": table(lambda v: quoted(grouped(v, ".", ","))),
        "narrow": table(lambda v: grouped(v, "\u202f", ".")), "nbsp": table(lambda v: grouped(v, "\u00a0", ","), ";"),
        "space": table(lambda v: grouped(v, " ", ",") , ";"), "apostrophe": table(lambda v: grouped(v, "'", ".")),
        "swiss": table(lambda v: grouped(v, "’", ",") , ";"), "dollar": table(lambda v: "$" + plain(v)),
        "dollar-minus": table(lambda v: ("-" if v < 0 else "") + "$" + plain(abs(v))),
        "euro": table(lambda v: comma(v) + " €", ";"), "pound-us": table(lambda v: quoted("£" + grouped(v, ",", "."))),
        "percent": table(lambda v: plain(v) + "%"), "percent-space": table(lambda v: comma(v) + " %", ";"),
        "kg": table(lambda v: plain(v) + " kg"), "celsius": table(lambda v: plain(v) + "°C"),
        "speed": table(lambda v: plain(v) + " km/h"), "minus": table(lambda v: plain(v).replace("-", "\u2212")),
        "accounting": table(lambda v: f"({abs(v):.2f})" if v < 0 else plain(v)), "plus": table(lambda v: f"{v:+.2f}"),
        "exponent": table(lambda v: f"{v:.12e}"), "quoted": table(lambda v: quoted(plain(v))),
        "blanks": table(lambda v: " " + plain(v) + "  "), "bom": table(plain, before="\ufeff"),
        "crlf": table(plain, end="\r\n"), "sep-line": table(comma, ";", before="sep=;\n"),
        "trailing-lines": table(plain, after="\n\n"), "units-row": table(plain, head="a{0}n\nm{0}s"), "comment": table(plain, before="# made by X\n# in m\n"),
        "total-row": table(plain, after="Total,12\n"), "wide-sep": table(plain, "  "), "codes": table(
            lambda v: f"{int(abs(v)) % 1000:05d}", numbers=[float(int(abs(v)) % 1000) for v in values]),
        "fortran": table(lambda v: f"{v:.2f}D+00"), "underscore": table(lambda v: f"{v:_.2f}"),
        "two-units": table(lambda v: plain(v) + (" kg" if v > 10 else " g")),
        "censored": table(lambda v: ("<" if v < 1 else "") + plain(v)), "thousands-only": table(
            lambda v: quoted(f"{1000 + int(abs(v)) % 9000:,d}"), numbers=[float(1000 + int(abs(v)) % 9000) for v in values]),
    }
    for word in ["", "NA", "n/a", "NaN", "null", "-", "?", "#N/A", ".", "none"]:
        text, columns = table(plain)
        lines = text.split("\n")
        lines[3] = word + "," + lines[3].split(",")[1]
        yield "missing-" + re.sub(r"\W", "_", word or "empty"), "\n".join(lines), {
            "a": [*columns["a"][:2], math.nan, *columns["a"][3:]], "n": columns["n"]}
    for name, (text, columns) in ways.items():
        yield name, text, columns


def main():
    program, folder, *cases = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    wanted = {}
    for name, text, columns in families():
        path = os.path.join(folder, name + ".csv")
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)
        wanted[path] = list(columns), [list(row) for row in zip(*columns.values())]
    paths = list(wanted)
    for case in cases:
        paths += sorted(os.path.join(case, name) for name in os.listdir(case) if name.endswith(".csv"))
    silent = tally = 0
    print("file\tverdict")
    for line in io.StringIO(subprocess.run([program, *paths], check=True, capture_output=True, text=True).stdout):
        ours = json.loads(line)
        names, rows = wanted.get(ours["file"]) or by_pandas(ours["file"])
        if names is None:
            text = "error: " + ours["error"][:100] if ours.get("error") else (
                "read, and pandas does not: " + rows.split("\n")[0][:60])
        else:
            text = verdict(ours, names, rows)
        silent += text.startswith("SILENT")
        tally += 1
        print(os.path.basename(ours["file"]) + "\t" + text)
    print(f"{tally} files, {silent} silent differences")
    sys.exit(silent > 0)


if __name__ == "__main__":
    main()
