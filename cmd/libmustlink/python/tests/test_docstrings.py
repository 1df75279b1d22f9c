"""The docstrings of the estimators say what their signatures say."""

from __future__ import annotations

import ast
import inspect
import re
import unittest

import mustlink
from mustlink import _estimators

ENTRY = re.compile(r"(\w+) : (.+), default=(.+)")
NUMBERS = {"int": int, "float": float, "bool": bool}


def parameters(kind: type) -> dict[str, tuple[str, str, str]]:
    """Return the type, the default and the description of each documented parameter."""
    text = inspect.getdoc(kind).split("Parameters\n----------\n")[1].split("\n\nAttributes\n")[0]
    out: dict[str, tuple[str, str, str]] = {}
    for line in text.splitlines():
        entry = ENTRY.fullmatch(line)
        if entry:
            name = entry[1]
            out[name] = entry[2], entry[3], ""
        else:
            out[name] = *out[name][:2], f"{out[name][2]} {line.strip()}".strip()
    return out


def takes(kind: str, value: object) -> bool:
    """Whether a type in words, such as 'int or {"auto"}', has a value."""
    choices = re.findall(r"\{(.+?)\}", kind)
    if any(value in ast.literal_eval(f"[{some}]") for some in choices):
        return True
    words = re.sub(r"\{.+?\}", "", kind).split(" or ")
    if value is None:
        return "None" in words or words == ["object"]
    return any(type(value) is NUMBERS.get(word.strip()) for word in words) or (isinstance(value, str) and "str" in words)


class Docstrings(unittest.TestCase):
    def each(self):
        kinds = [getattr(mustlink, name) for name in _estimators.__all__]
        return [(kind, parameter, entry) for kind in kinds for parameter, entry in parameters(kind).items()]

    def test_all_parameters(self):
        """The parameters of the signature are documented, in their order."""
        for name in _estimators.__all__:
            kind = getattr(mustlink, name)
            self.assertEqual(list(parameters(kind)), [p for p in inspect.signature(kind).parameters if p != "self"])

    def test_defaults(self):
        """Defaults are those of the signature, and values of the documented type."""
        for kind, name, (words, text, _) in self.each():
            default = inspect.signature(kind).parameters[name].default
            self.assertEqual(repr(ast.literal_eval(text)), repr(default), f"{kind.__name__}.{name}")
            self.assertTrue(takes(words, default), f"{kind.__name__}.{name}: {default!r} is no {words}")

    def test_types(self):
        """Documented types are those of the annotations."""
        for kind, name, (words, _, _) in self.each():
            hint = str(inspect.signature(kind).parameters[name].annotation)
            if hint == "Any":
                continue
            self.assertEqual(set(re.findall(r"\b(int|float|bool|None)\b", words)), set(re.findall(r"\b(int|float|bool|None)\b", hint)), f"{kind.__name__}.{name}")
            listed = {value for some in re.findall(r"\{(.+?)\}", words) for value in re.findall(r'"(.+?)"', some)}
            literals = {value for some in re.findall(r"Literal\[(.+?)\]", hint) for value in ast.literal_eval(f"[{some}]")}
            if "Literal" in hint or "str" not in words:  # a text may be one of some words, or another
                self.assertEqual(literals, listed, f"{kind.__name__}.{name}")

    def test_choices(self):
        """Choices of texts are in the description in quotes, with their exact spelling, and nowhere else."""
        for kind, name, (words, _, text) in self.each():
            choices = [value for some in re.findall(r"\{(.+?)\}", words) for value in re.findall(r'"(.+?)"', some)]
            bare = re.sub(r'"[^"]*"|\([^()]*\)', "", text)
            for choice in choices:
                if name in kind._defaults and not re.search(r"\b(int|float)\b", words):
                    self.assertIn(f'"{choice}"', text)
                self.assertNotRegex(bare, rf"(^|: |, | or ){re.escape(choice)}( or |, |\.|;|:|$)")

    def test_values(self):
        """Another parameter's value is quoted, and its name is one of the signature."""
        for kind, _, (_, _, text) in self.each():
            for other, value in re.findall(r'(?<![":])\b(\w+)=("?\w+)', re.sub(r'"\w+:[^"]*"', "", text)):
                self.assertIn(other, inspect.signature(kind).parameters)
                self.assertRegex(value, r'^"|^\d')

    def test_language(self):
        """Docstrings have American spelling, and no options of the command. Lines have 100 columns."""
        for name in _estimators.__all__:
            text = getattr(mustlink, name).__doc__
            self.assertNotRegex(text, r"--[a-z]|(\s|\()-[kp]\b|neighbour|colour|behaviour|isation\b|\bcentred")
            self.assertLessEqual(max(map(len, text.splitlines())), 100)


if __name__ == "__main__":
    unittest.main()
