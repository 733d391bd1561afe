"""Name the folder for numba's compile cache after the sources that are compiled.

numba looks only at the file that holds a kernel. A kernel that inlines functions of another module would keep running
their old code after an edit there, so every state of the compiled sources gets its own folder. What is compiled follows
from the sources: everything in ``kernels/``, the modules that use numba or ``kernels/compile.py``, and those from which
compiled functions take functions, classes and constants. A change anywhere else keeps the compiled kernels.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "numba-"
GRACE_SECONDS = 3600.0  # an older state of the sources may still be running in another process
COMPILERS = {"numba", "compile"}  # statements that use a name from these modules are compiled, or say what is
SHARED_KERNELS = "kernels"  # all of this folder is compiled, or describes what compiled functions take


class Module:
    """The statements of a source file by the names that they bind, and the names that it imports."""

    def __init__(self, path: Path, src: Path) -> None:
        self.path = path
        parts = path.relative_to(src).with_suffix("").parts
        self.package = parts[:-1]
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def source(self) -> bytes:
        """Return the text."""
        return self.path.read_bytes()

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Return the statements that run when the module is imported."""
        return list(_flat(ast.parse(self.source).body))

    @cached_property
    def imports(self) -> dict[str, tuple[str, str]]:
        """Return module and name behind each imported name; the name is empty for a module itself."""
        found = {}
        for statement in self.statements:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    found[alias.asname or alias.name.split(".")[0]] = (alias.name, "")
            elif isinstance(statement, ast.ImportFrom):
                base = self.package[: len(self.package) - statement.level + 1] if statement.level else ()
                module = ".".join([*base, *([statement.module] if statement.module else [])])
                for alias in statement.names:
                    found[alias.asname or alias.name] = (module, alias.name)
        return found

    @cached_property
    def bindings(self) -> dict[str, list[ast.stmt]]:
        """Return the statements that bind each name."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.statements:
            for name in _bound_by(statement):
                found.setdefault(name, []).append(statement)
        return found

    def compiled(self) -> list[ast.stmt]:
        """Return the statements that are compiled or say what is."""
        if SHARED_KERNELS in self.package:
            return self.statements
        if not any(name.encode() in self.source for name in COMPILERS):
            return []  # most modules; parsing them takes a while
        compilers = {name for name, (module, _) in self.imports.items() if COMPILERS & set(module.split("."))}
        return [statement for statement in self.statements if compilers & _names_in(statement)]


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and instead of ``if``, ``try`` and ``with`` those within them."""
    for statement in body:
        inner = [part for field in ("body", "orelse", "finalbody") for part in getattr(statement, field, [])]
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) or not inner:
            yield statement
        else:
            yield from _flat([*inner, *(s for handler in getattr(statement, "handlers", []) for s in handler.body)])


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    else:
        yield from (n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _names_in(statement: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def compiled_sources(src: Path) -> list[Path]:
    """Return the files below ``src`` that hold compiled functions or anything that those use."""
    modules = {module.name: module for module in (Module(path, src) for path in sorted(src.rglob("*.py")))}
    seen: set[tuple[str, int]] = set()
    left = [(module, statement) for module in modules.values() for statement in module.compiled()]
    while left:
        module, statement = left.pop()
        if (module.name, id(statement)) in seen:
            continue
        seen.add((module.name, id(statement)))
        for name in _names_in(statement):
            left += [(module, other) for other in module.bindings.get(name, [])]
            left += _imported(modules, *module.imports.get(name, ("", "")))
    return sorted({modules[name].path for name, _ in seen})


def _imported(modules: dict[str, Module], module: str, name: str) -> list[tuple[Module, ast.stmt]]:
    """Return the statements behind a name imported from a module; all of them if it is a module itself."""
    if not name or f"{module}.{name}" in modules:
        whole = modules.get(f"{module}.{name}".rstrip("."))
        return [(whole, statement) for statement in whole.statements] if whole else []
    if module not in modules:
        return []
    source = modules[module]
    if name in source.imports:
        return _imported(modules, *source.imports[name])
    return [(source, statement) for statement in source.bindings.get(name, [])]


def source_hash(root: Path = ROOT) -> str:
    """Return a short hash of the names and contents of the sources that are compiled."""
    digest = hashlib.sha256()
    src = root / "src"
    for path in compiled_sources(src):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(src).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def numba_cache_dir(root: Path = ROOT) -> Path:
    """Return the cache folder of the current sources, created if it is missing, and remove those of older ones."""
    current = root / ".cache" / f"{PREFIX}{source_hash(root)}"
    current.mkdir(parents=True, exist_ok=True)
    os.utime(current)
    for folder in current.parent.glob(f"{PREFIX}*"):
        if folder != current and time.time() - folder.stat().st_mtime > GRACE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    return current


if __name__ == "__main__":
    print(numba_cache_dir())
