"""Random scenes: every model, force, collider and option drawn, and what must never happen counted.

    python benchmarks/fuzz.py --seed 0 --count 60     # trials with the seeds 0 to 59
    python benchmarks/fuzz.py --seed 17 --count 1     # one of them again, told in full

A trial builds a scene of 20 to 2,000 vertices, and steps it, looks for its rest or moves it in its modes. It may end
well, be refused (ShellError) or fail (StepFailed); a Python fault, a number that is not finite in what is handed out, a
warning that is not a ShellWarning, a crossing in exact contact or more than 20 s is ours to mend. Writes out/fuzz.json.
"""

from __future__ import annotations

import argparse
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import common
import meshes
import shellcore as sc
from shellcore.contact.intersections import intersections

FEWEST, MOST = 20, 2_000
# Seconds that a trial may take, and frames that it steps at most.
PATIENCE, FRAMES = 20.0, 5
BAD = ("fault", "not finite", "warning", "crossing", "slow")


@dataclass
class Trial:
    """One random scene: what is done with it, and its options."""

    scene: sc.Scene
    action: str
    options: dict[str, Any]
    frames: int
    told: list[str] = field(default_factory=list)


@dataclass
class Outcome:
    """How a trial ended: "well", "refused", "failed" (StepFailed), or one of BAD; `said` in words."""

    seed: int
    kind: str
    said: str
    seconds: float
    vertices: int
    told: str


def brief(options: dict[str, Any]) -> str:
    """Options in a line: objects by their kind."""
    plain = (str, int, float, bool, type(None))
    said = {k: v if isinstance(v, plain) else "f(t)" if callable(v) else type(v).__name__ for k, v in options.items()}
    return ", ".join(f"{name}={value}" for name, value in said.items())


class Drawer:
    """Draws parts of scenes."""

    def __init__(self, seed: int, most: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.most = most
        self.told: list[str] = []

    def chance(self, share: float) -> bool:
        return bool(self.rng.uniform() < share)

    def one(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def between(self, low: float, high: float) -> float:
        """A number, evenly in its logarithm."""
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))

    def over_time(self, value: float) -> Any:
        """A number, or now and then a function of time to one."""
        if self.chance(0.8):
            return value
        rate = self.between(1.0, 20.0)
        return lambda t: value * (0.5 + 0.5 * np.cos(rate * t))

    def vector(self, size: float) -> np.ndarray:
        return self.rng.normal(size=3) * size

    def mesh(self, size: float) -> tuple[meshes.Mesh, bool]:
        """A mesh about `size` [m] large, and whether it is flat."""
        count = self.between(FEWEST, self.most)
        side = max(2, round(np.sqrt(count)) - 1)
        kind = self.one("grid", "grid", "scattered", "equilateral", "cylinder", "hemisphere", "sphere")
        self.told.append(f"{kind} of {count:.0f}, {size:.3g} m")
        if kind == "grid":
            pattern = self.one("alternating", "one")
            return meshes.grid(side, side, size, size * self.between(0.3, 1.0), pattern), True
        if kind == "scattered":
            return meshes.unstructured(max(int(count), 12), size, size, seed=int(self.rng.integers(1000))), True
        if kind == "equilateral":
            return meshes.equilateral(side, side, size / side), True
        if kind == "cylinder":
            around = max(6, round(np.sqrt(2 * count)))
            return meshes.cylinder(around, max(2, round(count / around)), 0.2 * size, size), False
        if kind == "hemisphere":
            return meshes.hemisphere(max(2, round(np.sqrt(count / 3))), 0.5 * size), False
        return meshes.icosphere(1 if count < 100 else 2 if count < 400 else 3, 0.5 * size), False

    def shell(self, number: int) -> sc.Shell:
        size = self.between(0.05, 2.0)
        (points, faces), flat = self.mesh(size)
        points = points + (np.array([0.0, 0.0, 1.2 * number * size]) if self.chance(0.7) else self.vector(size))
        bending = self.one("hinge", "quadratic", "cubic", "cubic", "subdivision")
        options: dict[str, Any] = {"bending": bending, "friction": self.over_time(self.one(0.0, 0.3, 1.0))}
        if (bending == "quadratic" and not flat) or self.chance(0.15):
            options["rest_angles"] = "flat"
        if bending == "subdivision":
            options |= {"ghosts": self.one("free", "tied"), "quadrature": self.one(1, 3)}
        else:
            options["membrane"] = self.one("fem", "fem", "springs")
            options["hinge_fit"] = self.chance(0.2)
        if bending == "hinge":
            options |= {
                "hinge_energy": self.one("sine", "angle", "simplified"),
                "hinge_area": self.one("barycentric", "circumcentric"),
            }
        if bending == "quadratic":
            options["quadratic_form"] = self.one("crouzeix_raviart", "vertex")
        if self.chance(0.4):
            rates = {"mass": self.between(0.1, 10.0), "stiffness": self.between(1e-4, 0.1)}
            if bending != "subdivision":
                rates["hinge"] = self.between(1e-7, 1e-3)
            name = self.one(*rates)
            options["damping"] = sc.Damping(**{name: rates[name]})
        if self.chance(0.2):
            options["pressure"] = self.over_time(float(self.rng.normal() * self.between(0.1, 500.0)))
        if self.chance(0.15) and bending in ("hinge", "cubic"):
            dents = None if options["membrane"] == "springs" else self.one(None, self.between(1e-3, 0.1))
            options["plasticity"] = sc.Plasticity(self.between(1.0, 100.0), yield_stretch=dents)
        if self.chance(0.15) and bending != "subdivision":
            options["fracture"] = sc.Fracture(self.between(1.0, 200.0), self.one(None, self.between(0.005, 0.5)))
        if self.chance(0.3):
            options["velocities"] = np.tile(self.vector(self.between(0.1, 5.0)), (len(points), 1))
        options["self_contact"] = self.chance(0.7)
        name = self.one(*sc.Material.presets())
        self.told.append(f"{name}, {brief(options)}")
        shell = sc.Shell(points, faces, sc.Material.preset(name), **options)
        self.hold(shell)
        return shell

    def hold(self, shell: sc.Shell) -> None:
        """Pins, clamps, loads and folds."""
        x = shell.rest_positions
        size = float(np.ptp(x, axis=0).max())
        along = x @ self.vector(1.0)
        edge = np.flatnonzero(along > along.max() - 0.1 * np.ptp(along))
        kind = self.one("free", "pin", "pin", "soft", "clamp", "moved", "axes", "all")
        self.told.append(kind)
        if kind == "pin":
            shell.pin(edge)
        elif kind == "soft":
            shell.pin(edge, stiffness=self.over_time(self.between(0.1, 1e4)))
        elif kind == "clamp":
            shell.clamp(edge)
        elif kind == "axes":
            shell.pin(edge, axes=[self.chance(0.5) for _ in range(3)])
        elif kind == "all" and self.chance(0.3):
            shell.pin(np.arange(len(x)))
        elif kind == "moved":
            start, way = shell.limit(shell.start)[edge], self.vector(size)
            shell.pin(edge, lambda t: start + way * np.sin(3.0 * t))
        if self.chance(0.15):
            shell.load(edge[:3], self.vector(self.between(1e-3, 10.0)))
        if self.chance(0.15) and shell.bending in ("hinge", "cubic") and len(shell.hinges):
            some = shell.hinges[self.rng.permutation(len(shell.hinges))[:5], :2]
            shell.crease(some, float(self.rng.uniform(-2.5, 2.5)), 0.0, self.one(None, 0.1))
        if self.chance(0.1) and shell.loop is None and len(shell.hinges):
            some = shell.hinges[self.rng.permutation(len(shell.hinges))[:5], :2]
            shell.seam(some, float(self.rng.uniform(0.0, 0.2)))

    def collider(self, shells: list[sc.Shell]) -> Any:
        """A plane, ball or mesh below the shells, at rest or moving, mostly out of them."""
        x = np.concatenate([shell.start for shell in shells])
        size = float(np.ptp(x, axis=0).max())
        middle = x.mean(axis=0)
        gap = self.one(1e-3, 0.05, 0.3) * size
        base = np.array([middle[0], middle[1], x[:, 2].min() - gap])
        way = self.vector(size) if self.chance(0.3) else np.zeros(3)
        friction = self.over_time(self.one(0.0, 0.3, 1.5))
        kind = self.one("plane", "plane", "sphere", "mesh")
        self.told.append(f"{kind}, gap {gap:.3g}")
        if kind == "plane":
            normal = np.array([0.0, 0.0, 1.0]) + (0.3 * self.rng.normal(size=3) if self.chance(0.3) else 0.0)
            low = base + normal * float(min((x - base) @ normal) - gap) / float(normal @ normal)
            return sc.Plane(lambda t: low + way * np.sin(2.0 * t), normal, friction=friction)
        radius = size * self.between(0.1, 1.0)
        centre = base - [0.0, 0.0, radius]
        if kind == "sphere":
            return sc.Sphere(lambda t: centre + way * np.sin(2.0 * t), radius, friction=friction)
        points, faces = meshes.icosphere(2, radius)
        return sc.Collider(
            points + centre,
            faces,
            friction=friction,
            thickness=self.one(0.0, 1e-3),
            motion=(lambda t: points + centre + way * np.sin(2.0 * t)) if way.any() else None,
        )


def drawn(seed: int, most: int = MOST) -> Trial:
    """The trial of a seed; raises ShellError where what was drawn does not go together."""
    draw = Drawer(seed, most)
    shells = [draw.shell(number) for number in range(draw.one(1, 1, 2, 3))]
    colliders = [draw.collider(shells) for _ in range(draw.one(0, 1, 1, 2))]
    ties = []
    if draw.chance(0.15):
        a, b = draw.one(*shells), draw.one(*shells)
        first, second = (int(draw.rng.integers(len(s.rest_positions))) for s in (a, b))
        if a is not b or first != second:
            ties.append(sc.Attach(a, [first], b, [second], stiffness=draw.one(None, draw.over_time(10.0))))
    pull = draw.one((0.0, 0.0, -9.81), (0.0, 0.0, -9.81), (0.0, 0.0, 0.0), tuple(draw.vector(20.0)))
    gravity: Any = pull if draw.chance(0.85) else lambda t: np.array(pull) * np.cos(5.0 * t)
    wind = None
    if draw.chance(0.25):
        blow = draw.vector(draw.between(0.5, 20.0))
        wind = sc.Wind(draw.one(blow, lambda t, x: blow * np.sin(9.0 * t)), lift=draw.one(0.0, 1.0))
    solid = any(isinstance(collider, sc.Collider) for collider in colliders)
    setting = {
        "self_contact": draw.one(None, True, False),
        "contact": draw.one("auto", "auto", "exact", "auto" if solid else "penalty"),
        "contact_distance": draw.one(None, None, draw.between(1e-4, 2e-2)),
        "intersections": draw.one("error", "ignore", "untangle", "untangle"),
    }
    scene = sc.Scene(shells, colliders, ties, gravity, wind, **setting)
    integrator = draw.one(
        "implicit_euler", "implicit_euler", None, "newmark", "explicit", "imex_bending", "imex_membrane"
    )
    options: dict[str, Any] = {
        "fps": draw.one(24.0, 30.0, 60.0, 240.0),
        "substeps": draw.one(1, 1, 2, 5) * (40 if integrator == "explicit" else 1),
        "jacobian": draw.one("constant", "constant", "cubic", "exact"),
        "solver": draw.one("auto", "auto", "auto", "newton", "quasi_newton", "newton_cg"),
        "iterations": draw.one(None, None, None, 1, 5),
        "tolerance": draw.one(None, None, None, 1e-5, 1e-8),
        "strain_limit": draw.one(None, None, 0.0, 1e-2),
    }
    if integrator is not None:
        options["integrator"] = integrator
    if integrator == "newmark":
        options |= draw.one({}, {"beta": 0.0}, {"beta": 0.3025, "gamma": 0.6})
    action = draw.one(*["simulate"] * 8, "equilibrium", "modal")
    told = [*draw.told, brief(setting), brief(options)]
    return Trial(scene, action, options, int(draw.rng.integers(2, FRAMES + 1)), told)


class TooSlow(Exception):
    """A trial has had its time."""


def outcome(seed: int, most: int = MOST) -> Outcome:
    """Run the trial of a seed and say how it ended."""
    began, vertices, told, seen = time.perf_counter(), 0, "", []
    kind, said = "well", ""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            trial = drawn(seed, most)
            vertices, told = int(trial.scene.offsets()[-1]), f"{trial.action}: " + "; ".join(trial.told)
            seen = list(_done(trial, began))
        except sc.ShellError as error:
            kind, said = "refused", str(error)
        except sc.StepFailed as error:
            kind, said = "failed", str(error)
        except TooSlow:
            kind, said = "slow", f"more than {PATIENCE:g} s"
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind, said = "fault", f"{type(error).__name__}: {error} ({last.filename.rsplit('/', 1)[-1]}:{last.lineno})"
    own = [str(w.message) for w in warned if not issubclass(w.category, sc.ShellWarning)]
    if kind in ("well", "refused", "failed"):
        if own:
            kind, said = "warning", own[0]
        elif seen:
            kind, said = seen[0]
    return Outcome(seed, kind, said, time.perf_counter() - began, vertices, told)


def _done(trial: Trial, began: float) -> Iterator[tuple[str, str]]:
    """Do what the trial does; what is wrong with what it hands out, by kind."""
    if trial.action == "equilibrium":
        stats: dict[str, Any] = {}
        try:
            x = sc.equilibrium(trial.scene, stats=stats, budget=PATIENCE)
        except sc.StepFailed as error:
            if "budget" in str(error):
                raise TooSlow from None
            raise
        yield from _not_finite({"equilibrium": x, **{k: v for k, v in stats.items() if k != "hidden"}})
        return
    if trial.action == "modal":
        modal = sc.ModalShell(trial.scene.shells[0], 8, gravity=trial.scene.gravity, wind=trial.scene.wind)
        modal.position_handle(0, modal.positions[0] + 0.01)
        for _ in range(5):
            yield from _not_finite({"modal positions": modal.step(1 / 30)})
        return
    for step in sc.progress(trial.scene, trial.frames, **trial.options):
        if step.frame is not None:
            frame = step.frame
            yield from _not_finite({"positions": frame.positions, "velocities": frame.velocities, **frame.state})
            fields = ("strain", "stress", "contact", "speed")
            yield from _not_finite({name: frame.fields[name] for name in fields if name in frame.fields})
            yield from _crossings(trial.scene, frame)
        if time.perf_counter() - began > PATIENCE:
            raise TooSlow


def _not_finite(arrays: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in arrays.items():
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            continue
        # A vertex that was there from the start was born at −∞.
        fine = ~np.isnan(array) if "birth" in name else np.isfinite(array)
        if not np.all(fine):
            yield "not finite", name


def _crossings(scene: sc.Scene, frame: sc.Frame) -> Iterator[tuple[str, str]]:
    """Pairs of faces that cross, and vertices behind planes, where contact promises that there are none."""
    broken = any(shell.fracture is not None or shell.seams for shell in scene.shells)
    limits = any(shell.loop is not None for shell in scene.shells)
    tangled = frame.stats.get("intersections", 0) or frame.stats.get("ignored_pairs", 0)
    if not scene.exact_contact or broken or limits or tangled or frame.stats.get("pins_yielded", 0):
        return
    which = intersections(frame.positions, frame.faces)
    owner = np.repeat(np.arange(len(scene.shells)), [len(shell.faces) for shell in scene.shells])
    a, b = owner[which[:, 0]], owner[which[:, 1]]
    may = np.where(a == b, scene.touch_themselves[a], scene.together)
    if may.any():
        yield "crossing", f"{int(may.sum())} pairs of faces at {frame.time:.3g} s"
    for collider in scene.colliders:
        if isinstance(collider, sc.Plane):
            depth = -collider.distance(frame.positions, collider.place(frame.time))[0]
            held = np.concatenate([_held(shell) for shell in scene.shells])
            if float(np.where(held, 0.0, depth).max()) > 1e-9:
                yield "crossing", f"{float(depth.max()):.3g} m behind a plane at {frame.time:.3g} s"


def _held(shell: sc.Shell) -> np.ndarray:
    """Vertices that a pin holds, (n,): where it and a collider want different things, either may win."""
    held = np.zeros(len(shell.rest_positions), dtype=bool)
    for pin in shell.pins:
        held[pin.vertices] = True
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the first trial")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--most", type=int, default=MOST, help="vertices of a shell at most")
    given = parser.parse_args()
    found = []
    for seed in range(given.seed, given.seed + given.count):
        result = outcome(seed, given.most)
        found.append(result)
        if result.kind != "well" or given.count == 1:
            print(f"{seed}: {result.kind} after {result.seconds:.1f} s, {result.vertices} vertices: {result.said}")
        if result.kind in BAD or given.count == 1:
            print(f"    {result.told}", flush=True)
    counts = Counter(result.kind for result in found)
    print(", ".join(f"{kind} {counts[kind]}" for kind in ("well", "refused", "failed", *BAD)))
    common.write("fuzz", [vars(result) for result in found])


if __name__ == "__main__":
    main()
