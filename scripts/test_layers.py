"""Tests of scripts/layers."""

import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

PLACE = Path(__file__).resolve().parent / "layers"
loader = importlib.machinery.SourceFileLoader("layers", str(PLACE))
layers = importlib.util.module_from_spec(importlib.util.spec_from_loader("layers", loader))
loader.exec_module(layers)


def crate(**files: str):
    src = Path("/crate/src")
    named = {src / f"{name.replace('__', '/')}.rs": text for name, text in files.items()}
    return layers.Crate("crate", src, named)


def edges(**files: str) -> set[str]:
    return {" -> ".join(edge) for edge in crate(**files).edges}


class Imports(unittest.TestCase):
    def test_leaves_of_a_tree(self):
        self.assertEqual(layers.leaves("crate::{a::{self, B as C}, d}"),
                         [["crate", "a", "self"], ["crate", "a", "B"], ["crate", "d"]])

    def test_every_way_to_name_a_module(self):
        found = edges(lib="mod a;\nmod b;\nmod c;\nmod d;", a="use crate::{b::X, c};", b="fn f() { crate::c::g() }",
                      c__inner="use super::super::d;", d="mod own { use super::super::a; }")
        self.assertEqual(found, {"a -> b", "a -> c", "b -> c", "c -> d", "d -> a"})

    def test_names_of_the_root_are_those_of_their_modules(self):
        self.assertEqual(edges(lib="pub use b::X;\nfn own() {}", a="use crate::X;\nuse crate::own;", b=""),
                         {"a -> b", "a -> (root)"})

    def test_tests_comments_and_strings_are_not_code(self):
        text = '// use crate::b;\nconst A: &str = "crate::b::c";\n#[cfg(test)]\nmod tests { use crate::b; }\n'
        self.assertEqual(edges(a=text, b="#[cfg(test)]\nmod tests;", b__tests="use crate::a;"), set())

    def test_lifetimes_are_not_strings(self):
        self.assertEqual(edges(a="fn f<'a, 'b>(x: &'a str) { ('\"', '\\'', crate::b::g()) }", b=""), {"a -> b"})

    def test_other_crates_are_counted(self):
        found = crate(a="use backstory_model::{A, B};\nfn f() { backstory_store::g() }").crates
        self.assertEqual(dict(found), {"backstory-model": 2, "backstory-store": 1})


class Cycles(unittest.TestCase):
    files = {"a": "use crate::b::X;", "b": "use crate::a::Y;", "c": "use crate::a::Y;"}

    def test_a_cycle_is_a_fault(self):
        faults = layers.check_modules(crate(**self.files), [])
        self.assertIn("a cycle of modules: a, b", faults[0])

    def test_what_the_baseline_names_is_none(self):
        self.assertEqual(layers.check_modules(crate(**self.files), ["a -> b"]), [])

    def test_what_closes_no_cycle_leaves_the_baseline(self):
        self.assertEqual(len(layers.check_modules(crate(**self.files), ["a -> b", "c -> a"])), 1)
        self.assertEqual(len(layers.check_modules(crate(**self.files), ["a -> b", "b -> c"])), 1)


class Crates(unittest.TestCase):
    def faults(self, name: str, other: str, kind: str | None, imports: int = 1) -> list[str]:
        packages = [{"name": one, "dependencies": []} for names in layers.LAYERS for one in names]
        own = next(package for package in packages if package["name"] == name)
        own["dependencies"] = [{"name": other, "kind": kind}, {"name": "serde", "kind": None}]
        return layers.check_crates(packages, {package["name"]: {other: imports} for package in packages})

    def test_down_is_allowed(self):
        self.assertEqual(self.faults("backstory-claude", "backstory-model", None), [])

    def test_up_and_aside_are_not(self):
        self.assertEqual(len(self.faults("backstory-model", "backstory-claude", None)), 1)
        self.assertEqual(len(self.faults("backstory-store", "backstory-redact", None)), 1)
        self.assertEqual(len(self.faults("backstory-session", "backstory-export", "dev")), 1)

    def test_fixtures_are_for_tests(self):
        self.assertEqual(self.faults("backstory-claude", "backstory-testkit", "dev"), [])
        self.assertEqual(len(self.faults("backstory-claude", "backstory-testkit", None)), 1)

    def test_what_nothing_imports_is_a_fault(self):
        self.assertEqual(len(self.faults("backstory-claude", "backstory-model", None, 0)), 1)


if __name__ == "__main__":
    unittest.main()
