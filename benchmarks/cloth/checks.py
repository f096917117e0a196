"""Whether the speed is honest: the default setting against a fully converged run of the same scene."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import scenes

# Frames of the converged run from which one frame is solved again by the default setting.
STATES = (3, 7, 11, 15, 19, 22)


def checked(case: str, kind: str, count: int) -> dict[str, Any]:
    """Distances and energies as the README states them; `right` says whether all bounds hold."""
    sc = scenes.add_on().shellcore
    scene = scenes.simulation(scenes.build(case, kind, count), case)
    settings = {"fps": 24.0, "strain_limit": 1e-3}
    result: dict[str, Any] = {}
    exact = list(sc.simulate(scene, scenes.FRAMES, **settings, tolerance=1e-6 * scenes.SIDE))
    result["converged halvings"] = sum(frame.stats["halvings"] for frame in exact)
    ours = list(sc.simulate(scene, scenes.FRAMES, **settings))
    result["end off [sheet sizes]"] = _rms(ours[-1].positions - exact[-1].positions) / scenes.SIDE
    if case == "pinned":
        result["right"] = result["end off [sheet sizes]"] < 0.03
        return result
    pull = np.asarray(scene.gravity) / 24.0**2
    off = []
    for index in STATES:
        before, after = exact[index], exact[index + 1]
        flight = before.positions + before.velocities / 24.0 + pull
        (one,) = sc.simulate(scene, 1, resume=before.state, **settings)
        off.append(_rms(one.positions - after.positions) / _rms(after.positions - flight))
    result["one frame off [its motion]"] = off
    shell = scene.shells[0]
    for name, measure in (
        ("sag", lambda f: float((shell.mass @ (shell.start - f.positions))[2] / shell.mass.sum())),
        ("kinetic energy", lambda f: 0.5 * float((shell.mass[:, None] * f.velocities**2).sum())),
        ("bending energy", lambda f: float(shell.areas @ f.fields["bending"])),
    ):
        result[f"{name} over converged"] = measure(ours[-1]) / measure(exact[-1])
    ratios = [value for name, value in result.items() if name.endswith("over converged")]
    result["right"] = bool(max(off) < 0.05 and all(0.9 < ratio < 1.1 for ratio in ratios))
    return result


def _rms(field: Any) -> float:
    return float(np.sqrt((np.asarray(field) ** 2).sum() / len(field)))
