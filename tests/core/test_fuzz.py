"""Twenty random scenes: no Python fault, nothing that is not finite, no warning of others, no crossing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import fuzz


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 40))
def test_a_random_scene_ends_well_is_refused_or_fails(seed: int) -> None:
    found = fuzz.outcome(seed, most=100)
    # How long it takes is the machine's affair.
    assert found.kind in ("well", "refused", "failed", "slow"), f"{found.kind}: {found.said}; {found.told}"
    if found.kind in ("refused", "failed"):
        assert len(found.said) > 20


def test_trials_are_the_same_every_time() -> None:
    first, second = (fuzz.drawn(21, 100) for _ in range(2))
    assert first.told == second.told and first.options == second.options
    pairs = zip(first.scene.shells, second.scene.shells, strict=True)
    assert all((a.rest_positions == b.rest_positions).all() for a, b in pairs)


def test_what_must_not_happen_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    import numpy as np

    def fault(*_: object) -> object:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(fuzz, "_done", fault)
    assert fuzz.outcome(21, 100).kind == "fault"

    def warned(*_: object) -> object:
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        return iter([])

    monkeypatch.setattr(fuzz, "_done", warned)
    assert fuzz.outcome(21, 100).kind == "warning"
    assert list(fuzz._not_finite({"positions": np.array([np.nan]), "cut_0_birth": np.array([-np.inf])})) == [
        ("not finite", "positions")
    ]
