"""What is simulated together: shells, what they touch, what joins them, what drives them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from .checks import choice, instance, listing, positive, vector
from .colliders import Collider, Plane, Sphere
from .errors import ShellError, listed
from .forces import Force, Wind
from .pins import OfTime, per_item, strengths
from .shell import Shell
from .types import Bools, Floats, Ints

INTERSECTIONS = ("error", "ignore", "untangle")
CONTACT = ("auto", "penalty", "exact")


class Attach:
    """Vertices of one shell tied to vertices of another (or of itself): seams, sewing, hanging parts.

    `stiffness` [N/m], a number, (p,) or a function of time [s] to either; None ties as stiffly as the stiffer membrane.
    `release` [s]: when the tie opens, a number or (p,) per pair; None never.
    `rest_length` [m]: an elastic band of this length, one number or (p,), that pulls with stiffness × what it is longer
    and is slack where it is shorter; 0 joins the vertices.
    """

    def __init__(
        self,
        shell_a: Shell,
        vertices_a: Sequence[int] | Ints,
        shell_b: Shell,
        vertices_b: Sequence[int] | Ints,
        stiffness: float | Floats | OfTime | None = None,
        release: float | Floats | None = None,
        rest_length: float | Floats = 0.0,
    ) -> None:
        for shell in (shell_a, shell_b):
            instance(shell, Shell, "a shell of an Attach", "Attach(first, [0, 1], second, [4, 5])")
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
        begun = strengths(stiffness, 0.0, count, "Attach stiffness")
        if not callable(stiffness) and not (begun > 0).all():
            raise ShellError("Attach stiffness must be finite and positive")
        self.stiffness: Floats | OfTime = stiffness if callable(stiffness) else begun
        when = np.inf if release is None else release
        self.release = per_item(when, count, "Attach release times")
        if np.isnan(self.release).any():
            raise ShellError("Attach release times must be numbers")
        self.rest_length = per_item(rest_length, count, "Attach rest_length [m]")
        if not (np.isfinite(self.rest_length) & (self.rest_length >= 0.0)).all():
            raise ShellError("Attach rest_length must be finite and not negative [m]")

    def stiffness_at(self, t: float) -> Floats:
        """Stiffness of each tie [N/m], (p,), at time t [s]."""
        return strengths(self.stiffness, t, len(self.vertices[0]), "Attach stiffness")


class Scene:
    """Shells with colliders, attachments, gravity [m/s²] (or a function of time [s] to it), wind and further forces.

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
        gravity: Sequence[float] | Floats | OfTime = (0.0, 0.0, -9.81),
        wind: Wind | None = None,
        forces: Sequence[Force] = (),
        self_contact: bool | None = None,
        contact_distance: float | None = None,
        intersections: str = "error",
        contact: str = "auto",
    ) -> None:
        self.shells: list[Shell] = listing(shells, "shells of a Scene", "Scene([shell])")
        if not self.shells:
            raise ShellError("a Scene needs at least one Shell")
        for shell in self.shells:
            if not isinstance(shell, Shell):
                raise ShellError(f"a Scene takes Shells, not {type(shell).__name__}")
        if len({id(shell) for shell in self.shells}) < len(self.shells):
            raise ShellError("a Shell appears twice in the Scene: build one for each")
        self.colliders: list[Plane | Sphere | Collider] = listing(
            colliders, "colliders of a Scene", "colliders=[Plane(...)]"
        )
        self.attachments: list[Attach] = listing(attachments, "attachments of a Scene", "attachments=[Attach(...)]")
        self.forces: list[Force] = listing(forces, "forces of a Scene", "forces=[force]")
        solids = Plane | Sphere | Collider
        for name, parts, kind in (("colliders", self.colliders, solids), ("attachments", self.attachments, Attach)):
            for part in parts:
                if not isinstance(part, kind):
                    raise ShellError(f"{name} of a Scene cannot be a {type(part).__name__}")
        if wind is not None:
            instance(wind, Wind, "wind", "Wind((3.0, 0.0, 0.0))")
        for source in self.forces:
            if not callable(getattr(source, "force", None)):
                raise ShellError(f"forces of a Scene have a method force(t, x, v, area_normals): {source!r} has none")
        for tie in self.attachments:
            if not all(any(shell is mine for mine in self.shells) for shell in tie.shells):
                raise ShellError("an Attach joins a Shell that is not in the Scene: add the Shell first")
        self.gravity: Floats | OfTime = gravity if callable(gravity) else vector(gravity, "gravity", " [m/s²]")
        """As an array (3,), or the function that was given."""
        self.gravity_at(0.0)
        self.wind = wind
        if contact_distance is not None:
            contact_distance = positive(contact_distance, "contact_distance", " [m] or None (the material's thickness)")
        self.contact_distance = contact_distance
        self.intersections = choice(intersections, "intersections", INTERSECTIONS)
        contact = choice(contact, "contact", CONTACT)
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

    def gravity_at(self, t: float) -> Floats:
        """Gravity [m/s²], (3,), at time t [s]."""
        if isinstance(self.gravity, np.ndarray):
            return self.gravity
        return vector(self.gravity(t), f"gravity at time {t:g} s", " [m/s²]")

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
