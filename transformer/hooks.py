"""Named points in the model that can be read and edited while it runs.

Hook points are permanent parts of the modules and hold nothing but their name. The hooks are in a
`ContextVar`, so that concurrent users of one model do not affect each other. PyTorch's own hooks on
modules (`register_forward_hook`) are not called in a search, which mostly goes without the modules.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

import torch
from torch import Tensor, nn

from transformer.errors import HookError, quoted

Hook: TypeAlias = Callable[[Tensor, str], Tensor | None]
"""Called with the value and the name of the point; what it returns, if anything, replaces it."""

_active: ContextVar[Mapping["HookPoint", tuple[Hook, ...]]] = ContextVar("hooks")


@dataclass(frozen=True)
class Silence:
    """A hook for `hook_z`, `[batch, head, query, d_v]`, that sets the output of some heads to 0.

    What it does is known without a call: a search leaves these heads out on its fast path.

    Args:
        heads: counted from 0.

    Raises:
        HookError: if one is not a whole number, or if this is one head by itself.
    """

    heads: tuple[int, ...]

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "heads", tuple(self.heads))  # an iterator is read once
        except TypeError as error:
            raise HookError(
                f"The silenced heads are {quoted(self.heads)}: give a list of whole numbers."
            ) from error
        for head in self.heads:
            if not isinstance(head, Integral) or isinstance(head, bool):
                raise HookError(
                    f"A head is a whole number, counted from 0, and not {quoted(head)}."
                )

    def __call__(self, z: Tensor, name: str) -> Tensor:
        """Return z with zeros for the silenced heads."""
        self.require_heads(z.size(1), name)
        z = z.clone()
        z[:, self.heads] = 0
        return z

    def require_heads(self, count: int, name: str) -> None:
        """Raise HookError unless the point is a `hook_z` that has each of the heads."""
        if not name.endswith("hook_z"):
            raise HookError(f"Heads are silenced at a hook_z, and '{name}' is none.")
        for head in self.heads:
            if not 0 <= head < count:
                raise HookError(f"'{name}' has {count} heads, counted from 0: there is no {head}.")


class HookPoint(nn.Module):
    """An identity in the model at which a value can be read or edited."""

    def __init__(self) -> None:
        super().__init__()
        self.name = ""  # the dotted path, given once by `name_hook_points`

    @property
    def watched(self) -> bool:
        """True if the current context has a hook on this point."""
        # a compiled graph has no hooks: it is traced once, for all contexts
        return not torch.compiler.is_compiling() and self in _active.get({})

    def forward(self, value: Tensor) -> Tensor:
        """Pass the value through the hooks of the current context, in the order of registration."""
        if not self.watched:
            return value
        for hook in _active.get()[self]:
            edited = hook(value, self.name)
            if edited is not None:
                if _form(edited) != _form(value):
                    raise HookError(
                        f"The hook on '{self.name}' returned {_form(edited)} instead of "
                        f"{_form(value)}: return such a tensor, or None, which changes nothing."
                    )
                value = edited
        return value


def _form(value: object) -> str:
    """Describe what a hook must leave as it is: shape, type and device."""
    if not isinstance(value, Tensor):
        return f"a {type(value).__name__}"
    return f"a tensor of shape {[*value.shape]}, {value.dtype} on {value.device}"


class Hooked(nn.Module):
    """A model with named hook points: `hooks` to edit, `run_with_cache` to read."""

    _points: dict[str, HookPoint]

    def name_hook_points(self) -> None:
        """Give each point its name: once the model is complete, and again if modules are added."""
        # remembered, for a walk over all modules takes longer than a hook on a short sentence
        self._points = {name: m for name, m in self.named_modules() if isinstance(m, HookPoint)}
        for name, point in self._points.items():
            point.name = name

    def hook_points(self) -> Mapping[str, HookPoint]:
        """Return all hook points by name, in the order of the modules."""
        return self._points

    def silenced(self) -> Mapping[str, tuple[Silence, ...]] | None:
        """Return the `Silence` hooks of the context by point; None where another hook is on any."""
        active = _active.get({})
        if not active:
            return {}
        hooks = {name: active[point] for name, point in self._points.items() if point in active}
        silencing = {
            name: tuple(h for h in point_hooks if isinstance(h, Silence))
            for name, point_hooks in hooks.items()
        }
        only = all(name.endswith(".hook_z") and silencing[name] == hooks[name] for name in hooks)
        return silencing if only else None

    @contextmanager
    def hooks(self, hooks: Mapping[str, Hook]) -> Iterator[None]:
        """Call these hooks inside the block, after those of outer blocks, in this context alone."""
        if not isinstance(hooks, Mapping):
            raise HookError(
                f"The hooks are {quoted(hooks)}: give a dictionary of functions by the names of "
                f"their points."
            )
        points = self.hook_points()
        active = dict(_active.get({}))
        for name, hook in hooks.items():
            if name not in points:
                raise HookError(
                    f"The model has no hook point '{name}'; "
                    f"a name looks like '{next(iter(points))}'."
                )
            if not callable(hook):
                raise HookError(
                    f"The hook on '{name}' is {quoted(hook)}: give a function that takes the value "
                    f"and the name of the point."
                )
            active[points[name]] = (*active.get(points[name], ()), hook)
        token = _active.set(active)
        try:
            yield
        finally:
            _active.reset(token)

    def run_with_cache(
        self, *inputs: Tensor, names: Callable[[str], bool] | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Run the model; return the output, and by name the value at each hook point in `names`."""
        if names is not None and not callable(names):
            raise HookError(
                f"The names are {quoted(names)}: give a function that says which to keep."
            )
        cache: dict[str, Tensor] = {}

        def keep(value: Tensor, name: str) -> None:
            cache[name] = value

        with self.hooks(
            {name: keep for name in self.hook_points() if names is None or names(name)}
        ):
            output: Tensor = self(*inputs)
        return output, cache


def silence(head: int) -> Silence:
    """Make a hook for `hook_z` that sets the output of one head, counted from 0, to 0."""
    return Silence((head,))
