"""Empty stand-ins for packages that a trainer imports but that turning rows into prompts never uses.

Trainers import PyTorch, Ray and the like at the top of every file, gigabytes that the code under test
does not call: converting a row and rendering its messages is plain Python. What is missing is replaced by
modules in which every name exists and does nothing. A value of one that reached a result would fail the
checks, which compare results with rows.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any


class _Names(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        return iter(())

    def __lt__(cls, other: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__


class Nothing(metaclass=_Names):
    """Any class, function or value."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        # As a decorator it changes nothing.
        if cls is Nothing and len(given) == 1 and not named and callable(given[0]):
            return given[0]
        return super().__new__(cls)

    def __init__(self, *given: Any, **named: Any) -> None:
        pass

    def __call__(self, *given: Any, **named: Any) -> Any:
        return given[0] if len(given) == 1 and callable(given[0]) else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *given: Any) -> None:
        pass

    def __mro_entries__(self, bases: Any) -> Any:
        return (Nothing,)


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return "0.0"
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, roots: set[str]) -> None:
        self.roots = roots
        self.used: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in self.roots:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        self.used.add(spec.name.partition(".")[0])
        return _Module(spec.name)

    def exec_module(self, module: Any) -> None:
        module.__path__ = []


def stand_in_for(roots: list[str]) -> set[str]:
    """Lets these packages be imported where they are not installed; returns those in use, a set that grows."""
    missing = {root for root in roots if importlib.util.find_spec(root) is None}
    finder = _Finder(missing)
    sys.meta_path.append(finder)
    return finder.used
