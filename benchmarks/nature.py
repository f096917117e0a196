"""How near runs come to nature: seeded random trials, each beside an exact law or its own fine run.

    make bench-nature                                  # everything, 20 trials a kind
    make bench-nature ARGS="--kind swing,fall --count 5"
    make bench-nature ARGS="--options substeps=4 --json out/four.json"

Trials are drawn over presets, bending models, sizes, frame rates and meshes (`nature_trials.py`). What judges them:

- "energy", "path": the fine run, sixteen times the most steps a frame that the run took (16 at least, rounded up to a
  power of two), of the true stretch. A trial counts if half of those steps agree to a quarter of the bar; others are
  drawn again. Energy is all of it above its lowest after T = 2π √(2L/3g), path the largest distance of centres of mass
  over the size L,
  to 0.6 T (0.4 T of what lands on something).
- "way", "slope", "free": exact laws of friction, of momentum and of free flight.
- "solve": the centre of mass against the same steps solved to 1e-7 L, over its departure from free flight.

Fine runs are kept in out/nature/, by what they are of. Costs are CPU time, set-up included.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import common
import shellcore as sc
from nature_trials import GRAVITY, Built, Facts, build, drawn

# How fine runs are made; their steps and their tolerance, a share of the size, come on top.
FINE: dict[str, Any] = {"integrator": "newmark", "strain_limit": 0.0}
FINE_TOLERANCE = 1e-6
TIGHT_TOLERANCE = 1e-7
# Changes whenever the same facts are to mean another scene: kept fine runs of before are then left alone.
EDITION = 2
MOST_DRAWS = 12


@dataclass(frozen=True)
class Kind:
    """Trials that are drawn, judged and counted together."""

    scene: str
    judge: str
    bar: float


KINDS = {
    "swing": Kind("swing", "energy", 0.10),
    "fall": Kind("fall", "path", 0.02),
    "flag": Kind("flag", "path", 0.02),
    "swung": Kind("swung", "path", 0.02),
    "drop": Kind("drop", "path", 0.02),
    "drape": Kind("drape", "path", 0.02),
    "tube": Kind("tube", "path", 0.02),
    "thrown": Kind("thrown", "way", 0.05),
    "thrown deep": Kind("thrown deep", "way", 0.05),
    "incline": Kind("incline", "slope", 0.05),
    "spin": Kind("spin", "free", 0.05),
    "pendulum solved": Kind("swing", "solve", 0.05),
    "drop solved": Kind("drop", "solve", 0.05),
    "drape solved": Kind("drape", "solve", 0.05),
}
FINE_JUDGES = ("energy", "path")


# Running


@dataclass
class Run:
    """What a run left of its start and frames: centres of mass [m] and their velocities [m/s], (frames + 1, 3);
    mechanical energies [J], (frames + 1,), where they were asked for."""

    centres: np.ndarray
    speeds: np.ndarray
    energies: np.ndarray
    last: sc.Frame | None = None
    seconds: float = 0.0
    factors: int = 0
    steps: int = 0
    most: int = 1
    """Steps in the frame that took most."""
    why: str = ""
    """Why it failed, if it did."""

    @property
    def frames(self) -> int:
        return len(self.centres) - 1


def membrane_energy(shell: sc.Shell, frame: sc.Frame) -> float:
    """Of a sheet that is flat in z = 0 at rest, its warp along x [J]: Green strain, constant on each triangle.

    With the stiffness that the run gave it. Subdivision shells are refined twice: the limit surface is what stretches.
    """
    (rest, faces), (now, _) = (shell.surface(x, 2) for x in (shell.rest_positions, frame.control(0)))
    flat, edges = (np.stack([x[faces[:, k]] - x[faces[:, 0]] for k in (1, 2)], -1) for x in (rest, now))
    gradient = edges @ np.linalg.inv(flat[:, :2])
    strain = 0.5 * (np.swapaxes(gradient, 1, 2) @ gradient - np.eye(2))
    areas = 0.5 * np.abs(np.linalg.det(flat[:, :2]))
    e1, e2, e12 = strain[:, 0, 0], strain[:, 1, 1], strain[:, 0, 1]
    a11, a22, a12, a66 = (moduli[0] for moduli in shell.material.membrane_moduli(len(shell.faces)))
    density = 0.5 * (a11 * e1**2 + 2 * a12 * e1 * e2 + a22 * e2**2) + 2 * a66 * e12**2
    return float(areas @ density) * float(frame.stats.get("stretch_scales", [1.0])[0])


def mechanical_energy(shell: sc.Shell, frame: sc.Frame) -> float:
    """Kinetic, of height, of stretch and of bending [J]."""
    mass = shell.mass
    kinetic = 0.5 * float(mass @ (frame.velocities**2).sum(axis=1))
    bending = float(shell.areas @ frame.fields["bending"])
    return kinetic + GRAVITY * float(mass @ frame.positions[:, 2]) + membrane_energy(shell, frame) + bending


def run(facts: Facts, energies: bool = False, patience: float = np.inf, **options: Any) -> Run:
    """A run of these facts; failed if it takes more than `patience` CPU seconds."""
    began = time.process_time()
    built = build(facts)
    shell = built.shell
    weight = shell.mass / shell.mass.sum()
    centres, speeds, values = [weight @ shell.start], [weight @ shell.velocities], [np.nan]
    result = Run(*(np.zeros(0) for _ in range(3)))
    spent = 0.0
    try:
        for frame in sc.simulate(built.scene, built.frames, fps=facts["fps"], **options):
            spent += time.process_time() - began
            centres.append(weight @ frame.positions)
            speeds.append(weight @ frame.velocities)
            values.append(mechanical_energy(shell, frame) if energies else np.nan)
            stats = frame.stats
            result.factors += stats["factorisations"]
            result.steps += stats["steps"]
            result.most = max(result.most, stats["steps"])
            result.last = frame
            if spent > patience:
                result.why = f"took more than {patience:g} s"
                break
            began = time.process_time()
    except sc.StepFailed as failed:
        spent += time.process_time() - began
        result.why = str(failed)
    result.centres, result.speeds, result.energies = np.array(centres), np.array(speeds), np.array(values)
    result.seconds = spent
    return result


def fine(facts: Facts, energies: bool, steps: int, folder: Path, patience: float) -> Run:
    """The run of these facts with so many steps a frame, from the folder if it is there."""
    options = FINE | {"substeps": steps, "tolerance": FINE_TOLERANCE * facts["size"]}
    key = json.dumps([EDITION, facts, options], sort_keys=True)
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"
    if path.is_file():
        kept = json.loads(path.read_text())
        if kept["why"] == "" or kept["patience"] >= patience:
            arrays = (np.array(kept[name], dtype=float) for name in ("centres", "speeds", "energies"))
            return Run(*arrays, seconds=kept["seconds"], why=kept["why"])
    result = run(facts, energies, patience, **options)
    folder.mkdir(parents=True, exist_ok=True)
    kept = {
        "of": json.loads(key), "why": result.why, "patience": patience, "seconds": result.seconds,
        "centres": result.centres.tolist(), "speeds": result.speeds.tolist(), "energies": result.energies.tolist(),
    }  # fmt: skip
    path.write_text(json.dumps(kept))
    return result


# Judging


def energy_error(known: dict[str, Any], one: Run, other: Run) -> float:
    """Of the last mechanical energy above its lowest, over the other run's."""
    return abs((one.energies[-1] - known["lowest"]) / (other.energies[-1] - known["lowest"]) - 1.0)


def path_error(size: float, one: Run, other: Run) -> float:
    """Largest distance of centres of mass over the size."""
    return float(np.linalg.norm(one.centres - other.centres, axis=1).max()) / size


def way_error(known: dict[str, Any], one: Run, fps: float) -> float:
    """Of how far a sheet slid before it came to rest; what it goes in half a step is allowed."""
    way = float((one.centres[-1] - one.centres[0]) @ known["down"])
    return max(0.0, abs(way - known["way"]) - 0.5 * known["speed"] / (fps * one.most)) / known["way"]


def slope_error(known: dict[str, Any], one: Run, fps: float) -> float:
    """Of the acceleration down a slope in the second half of a run, over what gravity alone would give."""
    half = one.frames // 2
    gained = float((one.speeds[-1] - one.speeds[half]) @ known["down"])
    return abs(gained * fps / (one.frames - half) - known["law"]) / known["pull"]


def free_error(one: Run, shell: sc.Shell) -> float:
    """The larger of the errors of a free part: of its angular momentum, and of its fall over how far it fell."""
    last = one.last
    assert last is not None
    mass = shell.mass[:, None]

    def angular(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        x = x - (mass * x).sum(axis=0) / mass.sum()
        return (mass * np.cross(x, v)).sum(axis=0)

    before = angular(shell.start, shell.velocities)
    spun = np.linalg.norm(angular(last.positions, last.velocities) - before) / np.linalg.norm(before)
    fall = _free_flight(one, shell, last.time)[-1] - one.centres[0]
    return float(max(spun, np.linalg.norm(one.centres[-1] - one.centres[0] - fall) / np.linalg.norm(fall)))


def solve_error(one: Run, tight: Run, shell: sc.Shell, seconds: float) -> float:
    """Largest distance of centres of mass from the tight solve's, over how far that departs from free flight."""
    departed = np.linalg.norm(tight.centres - _free_flight(tight, shell, seconds), axis=1).max()
    return float(np.linalg.norm(one.centres - tight.centres, axis=1).max() / departed)


def _free_flight(one: Run, shell: sc.Shell, seconds: float) -> np.ndarray:
    """Centres of mass in free flight, (frames + 1, 3)."""
    times = np.linspace(0.0, seconds, one.frames + 1)[:, None]
    velocity = shell.mass @ shell.velocities / shell.mass.sum()
    return one.centres[0] + times * velocity - 0.5 * times**2 * [0.0, 0.0, GRAVITY]


class NoTruth(Exception):
    """There is nothing to judge a trial by."""


@dataclass
class Verdict:
    """A trial judged."""

    facts: Facts
    error: float
    seconds: float
    vertices: int
    frames: int
    factors: int
    steps: int
    again: list[str]
    """Why trials before it were drawn again."""
    why: str = ""
    fine_seconds: float = 0.0


class Judge:
    """Judges runs by `options` of `simulate`."""

    def __init__(self, options: dict[str, Any], folder: Path, steps: int, patience: float) -> None:
        self.options, self.folder, self.steps, self.patience = options, folder, steps, patience

    def trial(self, name: str, seed: int, index: int) -> Verdict:
        """Trial `index` of a kind, drawn again until there is something to judge it by."""
        kind, again = KINDS[name], []
        for attempt in range(MOST_DRAWS):
            facts = drawn(kind.scene, seed, index, attempt)
            try:
                return self._judged(kind, facts, again)
            except NoTruth as none:
                again.append(str(none))
        raise SystemExit(f"{name} {seed}/{index}: nothing to judge by in {MOST_DRAWS} draws: {again}")

    def _judged(self, kind: Kind, facts: Facts, again: list[str]) -> Verdict:
        options = ({"substeps": facts["substeps"]} if facts.get("substeps") else {}) | self.options
        built = build(facts)
        one = run(facts, kind.judge == "energy", self.patience, **options)
        error, spent = np.inf, 0.0
        if kind.judge in FINE_JUDGES:
            # Of failed runs too: whether a trial counts shall not hang on who is judged.
            error, spent = self._beside_fine(kind, facts, built, one)
        elif not one.why:
            error = self._by_law(kind, facts, built, one, options)
        if one.why:
            error = np.inf
        count, frames = len(built.shell.rest_positions), max(1, one.frames)
        return Verdict(
            facts, float(error), one.seconds, count, frames, one.factors, one.steps, again, one.why, spent
        )  # fmt: skip

    def _beside_fine(self, kind: Kind, facts: Facts, built: Built, one: Run) -> tuple[float, float]:
        steps = self.steps or 1 << int(np.ceil(np.log2(16 * one.most)))
        energies = kind.judge == "energy"
        truth = fine(facts, energies, steps, self.folder, self.patience)
        if truth.why:
            raise NoTruth(f"fine run: {truth.why}")
        coarser = fine(facts, energies, steps // 2, self.folder, self.patience)
        if coarser.why:
            raise NoTruth(f"fine run of half the steps: {coarser.why}")

        def error(this: Run) -> float:
            if kind.judge == "energy":
                return energy_error(built.known, this, truth)
            return path_error(facts["size"], this, truth)

        doubt = error(coarser)
        if not doubt <= 0.25 * kind.bar:
            raise NoTruth(f"half the steps are {doubt:.3g} off")
        return np.inf if one.why else error(one), truth.seconds + coarser.seconds

    def _by_law(self, kind: Kind, facts: Facts, built: Built, one: Run, options: dict[str, Any]) -> float:
        seconds = built.frames / facts["fps"]
        if kind.judge == "way":
            return way_error(built.known, one, facts["fps"])
        if kind.judge == "free":
            return free_error(one, built.shell)
        if kind.judge == "slope":
            return slope_error(built.known, one, facts["fps"])
        tight = run(facts, patience=self.patience, **(options | {"tolerance": TIGHT_TOLERANCE * facts["size"]}))
        if tight.why:
            raise NoTruth(f"tight solve: {tight.why}")
        return solve_error(one, tight, built.shell, seconds)


# The table


def row(name: str, verdicts: list[Verdict], unit: float) -> dict[str, Any]:
    """What the trials of a kind come to."""
    bar = KINDS[name].bar
    errors = np.array([verdict.error for verdict in verdicts])
    within = errors <= bar
    frames = np.array([verdict.frames for verdict in verdicts])
    cost = np.array([v.seconds / (v.frames * v.vertices) for v in verdicts])
    return {
        "trials": len(verdicts),
        "bar": bar,
        "within": float(within.mean()),
        "median": float(np.quantile(errors, 0.5, method="higher")),
        "90%": float(np.quantile(errors, 0.9, method="higher")),
        "worst": float(errors.max()),
        "failed": sum(bool(verdict.why) for verdict in verdicts),
        "cost [us a frame and vertex]": float(1e6 * cost.mean()),
        "cost [units]": float(cost.mean() / unit),
        "factors a frame": sum(verdict.factors for verdict in verdicts) / int(frames.sum()),
        "steps a frame": sum(verdict.steps for verdict in verdicts) / int(frames.sum()),
        "drawn again": sum(len(verdict.again) for verdict in verdicts),
    }


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Rows as text."""
    lines = [
        f"{'kind':16}{'trials':>7}{'bar':>6}{'within':>8}{'median':>9}{'90%':>9}{'worst':>9}{'failed':>7}"
        f"{'us':>8}{'units':>7}{'factors':>9}{'steps':>7}{'again':>7}"
    ]
    for name, one in rows.items():
        lines.append(
            f"{name:16}{one['trials']:7}{one['bar']:6.2f}{one['within']:8.0%}{one['median']:9.4f}{one['90%']:9.4f}"
            f"{one['worst']:9.4f}{one['failed']:7}{one['cost [us a frame and vertex]']:8.0f}{one['cost [units]']:7.1f}"
            f"{one['factors a frame']:9.2f}{one['steps a frame']:7.2f}{one['drawn again']:7}"
        )
    return "\n".join(lines)


def told(name: str, index: int, verdict: Verdict) -> str:
    """A trial as a line."""
    facts = verdict.facts
    again = f", drawn again {len(verdict.again)}: {verdict.again[-1]}" if verdict.again else ""
    failed = f", FAILED: {verdict.why}" if verdict.why else ""
    return (
        f"{name} {index}: {verdict.error:.4g} ({facts['preset']}, {facts['bending']}, {facts['size']:g} m, "
        f"{verdict.vertices} {'scattered' if facts['scattered'] else 'regular'}, {facts['fps']} fps, "
        f"{verdict.steps / verdict.frames:.3g} steps a frame, {verdict.seconds:.2f} s, "
        f"fine {verdict.fine_seconds:.1f} s{again}{failed})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20, help="trials a kind")
    parser.add_argument("--first", type=int, default=0, help="index of the first")
    parser.add_argument("--kind", default="", help=f"some of: {', '.join(KINDS)} (commas between)")
    parser.add_argument("--accuracy", help="of the runs that are judged: draft, default, final or a number")
    parser.add_argument("--options", default="", help="further options of simulate: name=value,… or JSON")
    parser.add_argument("--fine", type=int, default=0, help="steps a frame of fine runs, whatever the run took")
    parser.add_argument("--patience", type=float, default=120.0, help="CPU seconds a run may take")
    parser.add_argument("--cache", type=Path, default=common.OUT / "nature", help="where fine runs are kept")
    parser.add_argument("--json", type=Path, help="where to write every trial")
    given = parser.parse_args()
    options = common.options(given.options, given.accuracy)
    names = [name.strip() for name in given.kind.split(",")] if given.kind else list(KINDS)
    if unknown := set(names) - set(KINDS):
        parser.error(f"no kind {sorted(unknown)}; there are {', '.join(KINDS)}")
    judge = Judge(options, given.cache, given.fine, given.patience)
    rows, trials = {}, []
    unit = common.unit()
    for name in names:
        verdicts = []
        for index in range(given.first, given.first + given.count):
            verdict = judge.trial(name, given.seed, index)
            print(told(name, index, verdict), flush=True)
            verdicts.append(verdict)
            trials.append({"kind": name, "index": index} | asdict(verdict))
        rows[name] = row(name, verdicts, unit)
    print(table(rows))
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps({"options": options, "seed": given.seed, "rows": rows, "trials": trials}))


if __name__ == "__main__":
    main()
