"""What is simulated together: shells, what they touch, what joins them, what drives them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from .colliders import Collider, Plane, Sphere
from .errors import ShellError, listed
from .forces import Force, Wind
from .pins import per_item
from .shell import Shell
from .types import Bools, Floats, Ints

INTERSECTIONS = ("error", "ignore", "untangle")
CONTACT = ("auto", "penalty", "exact")


class Attach:
    """Vertices of one shell tied to vertices of another (or of itself): seams, sewing, hanging parts.

    `stiffness` [N/m], a number or (p,); None ties as stiffly as the stiffer membrane. `release` [s]: when the tie
    opens, a number or (p,) per pair; None never.
    """

    def __init__(
        self,
        shell_a: Shell,
        vertices_a: Sequence[int] | Ints,
        shell_b: Shell,
        vertices_b: Sequence[int] | Ints,
        stiffness: float | Floats | None = None,
        release: float | Floats | None = None,
    ) -> None:
        self.shells = (shell_a, shell_b)
        self.vertices = (shell_a._vertices(vertices_a, "Attach"), shell_b._vertices(vertices_b, "Attach"))
        count = len(self.vertices[0])
        if len(self.vertices[1]) != count:
            raise ShellError(f"Attach needs as many vertices on both sides, not {count} and {len(self.vertices[1])}")
        loops = self.vertices[0][self.vertices[0] == self.vertices[1]] if shell_a is shell_b else []
        if len(loops):
            raise ShellError(f"Attach ties vertices {listed(loops)} to themselves", vertices=loops)
        if stiffness is None:
            # A tie as long as its neighbours' edges would have this stiffness: a membrane strip of width = length.
            stiffness = max(float(np.max(shell.material.stretch[0])) for shell in self.shells)
        self.stiffness = per_item(stiffness, count, "Attach stiffness")
        if not (np.isfinite(self.stiffness).all() and (self.stiffness > 0).all()):
            raise ShellError("Attach stiffness must be finite and positive")
        when = np.inf if release is None else release
        self.release = per_item(when, count, "Attach release times")
        if np.isnan(self.release).any():
            raise ShellError("Attach release times must be numbers")


class Scene:
    """Shells with colliders, attachments, gravity [m/s²], wind and further forces.

    `self_contact`: shells touch themselves (those whose own `self_contact` is on) and each other. So they do with None,
    with two exceptions (none if `contact` is "exact"): shells that may break do not touch themselves, since dust of
    hundreds of shards costs more than it shows, nor does any shell in `equilibrium`, since classical answers (a strip
    rolled up into a circle) lie in their own way.
    `contact`: "exact" lets nothing cross planes, spheres, mesh colliders or shells, with Coulomb's friction; "auto" is
    exact where there is anything to touch; "penalty" knows planes and spheres only, is cheaper, lets vertices sink in a
    little and friction slip, and shells pass through each other. `intersections` of a start under exact contact:
    "error" names the faces, "ignore" lets these pairs cross, "untangle" moves them apart before the first step.
    """

    def __init__(
        self,
        shells: Sequence[Shell],
        colliders: Sequence[Plane | Sphere | Collider] = (),
        attachments: Sequence[Attach] = (),
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        wind: Wind | None = None,
        forces: Sequence[Force] = (),
        self_contact: bool | None = None,
        contact_distance: float | None = None,
        intersections: str = "error",
        contact: str = "auto",
    ) -> None:
        self.shells = list(shells)
        if not self.shells:
            raise ShellError("a Scene needs at least one Shell")
        for shell in self.shells:
            if not isinstance(shell, Shell):
                raise ShellError(f"a Scene takes Shells, not {type(shell).__name__}")
        if len({id(shell) for shell in self.shells}) < len(self.shells):
            raise ShellError("a Shell appears twice in the Scene: build one for each")
        self.colliders = list(colliders)
        self.attachments = list(attachments)
        self.forces = list(forces)
        solids = Plane | Sphere | Collider
        for name, parts, kind in (("colliders", self.colliders, solids), ("attachments", self.attachments, Attach)):
            for part in parts:
                if not isinstance(part, kind):
                    raise ShellError(f"{name} of a Scene cannot be a {type(part).__name__}")
        if wind is not None and not isinstance(wind, Wind):
            raise ShellError(f"wind must be a Wind, not a {type(wind).__name__}")
        for source in self.forces:
            if not callable(getattr(source, "force", None)):
                raise ShellError(f"forces of a Scene have a method force(t, x, v, area_normals): {source!r} has none")
        for tie in self.attachments:
            if not all(any(shell is mine for mine in self.shells) for shell in tie.shells):
                raise ShellError("an Attach joins a Shell that is not in the Scene: add the Shell first")
        self.gravity = np.asarray(gravity, dtype=np.float64)
        if self.gravity.shape != (3,) or not np.isfinite(self.gravity).all():
            raise ShellError(f"gravity must be three finite numbers [m/s²], not {gravity!r}")
        self.wind = wind
        if contact_distance is not None and not (np.isfinite(contact_distance) and contact_distance > 0):
            raise ShellError(
                f"contact_distance must be positive [m] or None (the material's thickness), not {contact_distance}"
            )
        self.contact_distance = contact_distance
        if intersections not in INTERSECTIONS:
            raise ShellError(f"intersections={intersections!r} is not known: choose {', '.join(INTERSECTIONS)}")
        self.intersections = intersections
        if contact not in CONTACT:
            raise ShellError(f"contact={contact!r} is not known: choose {', '.join(CONTACT)}")
        meshes = any(isinstance(collider, Collider) for collider in self.colliders)
        if contact == "penalty" and meshes:
            raise ShellError(
                "contact='penalty' knows planes and spheres only: use 'auto' or 'exact' with a mesh Collider"
            )
        self.contact = contact
        # Who asks for exact contact asks for all of it.
        self.self_contact = True if self_contact is None and contact == "exact" else self_contact
        whole = [shell.fracture is None for shell in self.shells]
        self._decide(np.array(whole) if self.self_contact is None else np.full(len(whole), self.self_contact))

    def _decide(self, may: Bools) -> None:
        """Which shells touch themselves, of those that `may` (shells,), and whether contact is exact."""
        self.touch_themselves: Bools = may & np.array([shell.self_contact for shell in self.shells])
        """Which shells touch themselves, (shells,)."""
        among = self.self_contact is not False and len(self.shells) > 1
        self.together = among or bool(self.touch_themselves.any())
        """Whether shells may touch themselves or each other."""
        self.exact_contact = self.contact == "exact" or (
            self.contact == "auto" and (bool(self.colliders) or self.together)
        )

    def at_rest(self) -> Scene:
        """The same scene for `equilibrium`."""
        if self.self_contact is not None:
            return self
        other = copy(self)
        other._decide(np.zeros(len(self.shells), dtype=bool))
        return other

    def called(self, collider: int) -> str:
        """What messages call one of the colliders."""
        return self.colliders[collider].name or f"collider {collider}"

    def hidden_offsets(self) -> Ints:
        """Where each shell's hidden unknowns start, after all vertices, and the total, (shells + 1,)."""
        return int(self.offsets()[-1]) + np.concatenate([[0], np.cumsum([s.hidden_count for s in self.shells])])

    def offsets(self) -> Ints:
        """Where each shell's vertices start in the stacked arrays, and the total, (shells + 1,)."""
        return np.concatenate([[0], np.cumsum([len(shell.rest_positions) for shell in self.shells])])


def as_scene(scene: Any) -> Scene:
    """A Scene, also from a bare Shell."""
    if isinstance(scene, Shell):
        return Scene([scene])
    if not isinstance(scene, Scene):
        raise ShellError(f"expected a Scene or a Shell, not {type(scene).__name__}")
    return scene
