"""Settings of the documentation site: `make site` builds it from the pages in docs.

The pages stay plain Markdown that GitHub shows. Three things are done to them here: the lists of
index.md and results/README.md become the navigation, links to files outside of docs lead to the
repository, and addresses that pages once had (redirects.txt) lead to the new ones.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import sys

docs = pathlib.Path(__file__).parent.parent.resolve()
root = docs.parent
sys.path.insert(0, str(root / "cmd/libmustlink/python"))

project = "mustlink"
copyright = "the authors of mustlink, BSD-3-Clause"
repository = "https://github.com/mustlink/mustlink/blob/main/"
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc"]
exclude_patterns = ["site", "redirects.txt"]
# Long awk programs in console blocks have quotes that the highlighter does not follow.
suppress_warnings = ["misc.highlighting_failure"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
numpydoc_show_class_members = False
autodoc_member_order = "groupwise"
autodoc_typehints = "none"
autodoc_mock_imports = [] if importlib.util.find_spec("numpy") else ["numpy"]

html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 2, "collapse_navigation": True}
html_title = "mustlink"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_context = {"display_github": True, "github_user": "mustlink", "github_repo": "mustlink", "github_version": "main", "conf_py_path": "/docs/"}

# MathJax 2 of Debian (libjs-mathjax); copy_mathjax puts the parts that the pages load into the site.
mathjax_source = pathlib.Path(os.environ.get("MATHJAX", "/usr/share/javascript/mathjax"))
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_CHTML"
mathjax_parts = ["MathJax.js", "config/TeX-AMS_CHTML.js", "extensions", "jax/element", "jax/input/TeX", "jax/output/CommonHTML", "fonts/HTML-CSS/TeX/woff"]
mathjax2_config = {
    "tex2jax": {"inlineMath": [["\\(", "\\)"]], "processEscapes": True, "processClass": "tex2jax_process|mathjax_process|math"},
    "CommonHTML": {"linebreaks": {"automatic": True}},
    "messageStyle": "none",
    "showMathMenu": False,
}
myst_update_mathjax = False


def toctrees(text):
    """Return one hidden toctree for each section of a page of lists, with the links of its items."""
    trees, caption = [], None
    for line in text.splitlines():
        if line.startswith("## "):
            caption = line[3:].strip()
            trees.append((caption, []))
        if line.startswith(("- [", "| ")) and trees:
            for title, target in re.findall(r"\[([^\]]+)\]\(([^)#\s]+)\)", line if line.startswith("|") else line.split(":", 1)[0]):
                trees[-1][1].append((title.replace("`", ""), address(target, "")))
    blocks = []
    for caption, entries in trees:
        listed = "\n".join(f"{title} <{target.removesuffix('.md').removesuffix('.rst')}>" for title, target in entries)
        blocks.append(f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n")
    return "\n".join(blocks)


def address(target, docname):
    """Return where a link of a page leads: files outside of docs, and files that are no pages, are in the repository."""
    if re.match(r"[a-z]+:|#", target):
        return target
    path, hash, anchor = target.partition("#")
    file = (docs / docname).parent.joinpath(path).resolve() if docname else (docs / path).resolve()
    if docs in file.parents and file.suffix in (".md", ".rst", ".svg", ".png", ".csv", ".json"):
        return target
    return repository + file.relative_to(root).as_posix() + hash + anchor


def prepare_page(app, docname, source):
    if docname.endswith("python-api"):
        return
    parts = re.split(r"(^```.*?^```[ ]*$)", source[0], flags=re.S | re.M)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"\]\(([^)\s]+)\)", lambda m: f"]({address(m[1], docname)})", parts[i])
    source[0] = "".join(parts)
    if docname == "index":
        source[0] += "\n" + toctrees((docs / "index.md").read_text())
    if docname == "results/README":
        pages = sorted(p.stem for p in (docs / "results").glob("*.md") if p.stem != "README")
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def quote_attributes(app, what, name, obj, options, lines):
    """Names with a trailing underscore, such as verdict_, are no links of reStructuredText."""
    lines[:] = [re.sub(r"(?<![`\w.])([a-z]\w*)_(?![\w`])", r"\1\\_", line) for line in lines]


def finish(app, error):
    if error or app.builder.name != "html":
        return
    out = pathlib.Path(app.outdir)
    for part in mathjax_parts:
        source, target = mathjax_source / part, out / "_static/mathjax" / part
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for line in (docs / "redirects.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            old, new = line.split()
            page, new = out / old, os.path.relpath(new, os.path.dirname(old) or ".")
            if page.exists():
                raise RuntimeError(f"redirects.txt: {old} is a page")
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f'<!doctype html><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url={new}">'
                            f'<link rel="canonical" href="{new}"><a href="{new}">This page has moved.</a>\n')


def setup(app):
    app.connect("source-read", prepare_page)
    app.connect("autodoc-process-docstring", quote_attributes, priority=900)
    app.connect("build-finished", finish)
