"""The package runs on CPython 3.9."""

from __future__ import annotations

import ast
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).parent.parent


class Python39(unittest.TestCase):
    FILES = sorted(path for part in ("mustlink", "tests", "suite", "examples", "notebooks", "bench") for path in (HERE / part).rglob("*.py"))

    def test_grammar(self):
        """Every file is one of 3.9: no match statements, no groups of exceptions."""
        self.assertGreater(len(self.FILES), 30)
        for path in self.FILES:
            with self.subTest(str(path.relative_to(HERE))):
                ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))

    def test_annotations(self):
        """Types such as int | None are in annotations only, which are not evaluated there."""
        for path in self.FILES:
            with self.subTest(str(path.relative_to(HERE))):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                lazy = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" and any(a.name == "annotations" for a in node.names) for node in tree.body)
                for line in unions(tree, lazy):
                    self.fail(f"line {line}: a union of types with | is evaluated: want Union, or an annotation in a file with from __future__ import annotations")

    def test_newer_functions(self):
        """No argument that zip, dataclass or bisect got later."""
        for path in self.FILES:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    late = LATER.get(node.func.id, set()) & {keyword.arg for keyword in node.keywords}
                    self.assertFalse(late, f"{path.name}, line {node.lineno}: {node.func.id} takes {late} from 3.10 on")

    def test_finds(self):
        """The search finds what it looks for."""
        self.assertEqual(unions(ast.parse("x = int | None\ndef f(a: int | str = 1 | 2) -> None | str: pass"), True), [1])
        self.assertEqual(unions(ast.parse("x = int | None\ndef f(a: int | str = 1 | 2) -> None | str: pass"), False), [1, 2, 2])
        self.assertEqual(unions(ast.parse("isinstance(v, int | float)\ny = mask | other"), True), [1])
        with self.assertRaises(SyntaxError):
            ast.parse("match x:\n  case 1: pass", feature_version=(3, 9))

    @unittest.skipIf(sys.version_info < (3, 9), "older than 3.9")
    def test_imports(self):
        """The version that runs can import all modules."""
        import importlib

        for path in sorted((HERE / "mustlink").glob("*.py")):
            importlib.import_module("mustlink" if path.stem == "__init__" else f"mustlink.{path.stem}")

    def test_imports_on_39(self):
        """3.9 itself imports the package. NumPy is a stub if it has none."""
        code = "import sys; from unittest.mock import MagicMock; sys.modules.setdefault('numpy', MagicMock()); import mustlink; print(len(mustlink.__all__))"
        if shutil.which("python3.9") is None or subprocess.run(["python3.9", "-c", "pass"], capture_output=True).returncode:
            self.skipTest("no python3.9")
        done = subprocess.run(["python3.9", "-c", code], cwd=HERE, capture_output=True, text=True)
        self.assertGreater(int(done.stdout or 0), 40, done.stderr)


# Arguments that came after 3.9.
LATER = {"zip": {"strict"}, "dataclass": {"slots", "kw_only"}, "bisect_left": {"key"}, "bisect_right": {"key"}, "insort": {"key"}}

TYPES = {"int", "float", "str", "bytes", "bool", "list", "dict", "tuple", "set", "type", "object", "Any", "Callable"}


def unions(tree: ast.AST, lazy: bool) -> list[int]:
    """Return the lines of unions of types that are evaluated. If lazy, annotations are not."""
    skipped: set[int] = set()
    if lazy:
        for node in ast.walk(tree):
            for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                if annotation is not None:
                    skipped.update(id(part) for part in ast.walk(annotation))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and id(node) not in skipped and any(is_type(side) for side in (node.left, node.right)):
            found.append(node.lineno)
    return found


def is_type(node: ast.AST) -> bool:
    """Whether an operand is None or a type by its name."""
    return (isinstance(node, ast.Constant) and node.value is None) or (isinstance(node, ast.Name) and node.id in TYPES)


if __name__ == "__main__":
    unittest.main()
