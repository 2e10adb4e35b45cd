"""The lines that the server logs, read from its source: level, event and fields of each call."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from explanations import Undocumented

LEVELS = ("debug", "info", "warning", "error", "critical")
EXCEPTION = "exception"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class LogEvent:
    """One event: what the line says in `event`, and which fields it has beside those of every line."""

    event: str
    levels: tuple[str, ...]
    fields: tuple[str, ...]
    module: str


class _Module:
    """A file, and what the names in it stand for."""

    def __init__(self, path: Path, root: Path) -> None:
        self.name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.constants = {
            target.id: node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }


class LogCalls:
    """Every log call below a folder of sources."""

    def __init__(self, root: Path) -> None:
        self._modules = [_Module(path, root) for path in sorted(root.rglob("*.py"))]

    def events(self) -> list[LogEvent]:
        found = [
            event
            for module in self._modules
            for function in ast.walk(module.tree)
            if isinstance(function, Function)
            for event in self._events_of(module, function)
        ]
        return sorted(set(found))

    def _events_of(self, module: _Module, function: Function) -> Iterator[LogEvent]:
        for call in _own_calls(function):
            if not _is_log_call(call):
                continue
            assert isinstance(call.func, ast.Attribute)
            method, given = call.func.attr, list(call.args)
            levels = self._levels(module, function, given.pop(0)) if method == "log" else [method]
            names = set(self._fields(module, function, call))
            if method == EXCEPTION:
                levels = ["error"]
            if method == EXCEPTION or any(keyword.arg == "exc_info" for keyword in call.keywords):
                names.add(EXCEPTION)
            for event in self._texts(module, function, given[0]):
                yield LogEvent(event, tuple(sorted(levels, key=LEVELS.index)), tuple(sorted(names)), module.name)

    def _levels(self, module: _Module, function: Function, node: ast.expr) -> list[str]:
        values = [value for value in self._values(module, function, node) if isinstance(value, ast.Attribute)]
        return [value.attr.lower() for value in values]

    def _texts(self, module: _Module, function: Function, node: ast.expr) -> list[str]:
        values = list(self._values(module, function, node))
        texts = [value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]
        if len(texts) < len(values) or not texts:
            raise Undocumented(f"{module.name}, line {node.lineno}: write the event of this log call as a string.")
        return texts

    def _values(self, module: _Module, function: Function, node: ast.expr) -> Iterator[ast.expr]:
        """What an expression can be: a name is what is assigned to it, or what callers give."""
        if isinstance(node, ast.IfExp):
            yield from self._values(module, function, node.body)
            yield from self._values(module, function, node.orelse)
        elif isinstance(node, ast.Name):
            constant = [module.constants[node.id]] if node.id in module.constants else []
            for value in _assigned(function, node.id) or constant or self._given(function, node.id):
                yield from self._values(module, function, value)
        else:
            yield node

    def _given(self, function: Function, name: str) -> Iterator[ast.expr]:
        """What callers in all modules give as one argument of a function."""
        names = [argument.arg for argument in function.args.args]
        position = names.index(name) - ("self" in names) if name in names else -1
        for _, _, call in self._calls_of(function):
            if 0 <= position < len(call.args):
                yield call.args[position]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == name)

    def _calls_of(self, function: Function) -> Iterator[tuple[_Module, Function, ast.Call]]:
        for module in self._modules:
            for caller in ast.walk(module.tree):
                if isinstance(caller, Function):
                    yield from (
                        (module, caller, call) for call in _own_calls(caller) if _called_name(call) == function.name
                    )

    def _fields(self, module: _Module, function: Function, call: ast.Call) -> Iterator[str]:
        for keyword in call.keywords:
            if keyword.arg == "extra":
                for value in self._values(module, function, keyword.value):
                    yield from self._names(module, function, value)

    def _names(self, module: _Module, function: Function, node: ast.expr) -> Iterator[str]:
        """Keywords of a call of `fields`, keys of a dictionary; `**` is followed to where it comes from."""
        if isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant))
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg:
                    yield keyword.arg
                else:
                    yield from self._spread(module, function, keyword.value)
        else:
            raise Undocumented(f"{module.name}, line {node.lineno}: write the fields of this log call as keywords.")

    def _spread(self, module: _Module, function: Function, node: ast.expr) -> Iterator[str]:
        assert isinstance(node, ast.Name)
        if not (function.args.kwarg and function.args.kwarg.arg == node.id):
            for value in self._values(module, function, node):
                yield from self._names(module, function, value)
            return
        declared = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
        for place, caller, call in self._calls_of(function):
            yield from (name for name in self._names(place, caller, call) if name not in declared)


def _own_calls(function: Function) -> Iterator[ast.Call]:
    """Calls in a function, but not in functions within it."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, Function):
            waiting += ast.iter_child_nodes(node)


def _is_log_call(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in (*LEVELS, EXCEPTION, "log"):
        return False
    logger = call.func.value
    return getattr(logger, "id", getattr(logger, "attr", "")) == "log"


def _called_name(call: ast.Call) -> str:
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


def _assigned(function: Function, name: str) -> list[ast.expr]:
    """Values that are assigned to a name in a function; of pairs of names and values, the one of this name."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            found += [value for one, value in pairs if isinstance(one, ast.Name) and one.id == name]
    return found
