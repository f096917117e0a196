"""Nonsense in any argument of what users call is answered by a ShellError that names it, never by a bare fault."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shellcore as sc
from meshes import grid
from shellcore.checks import floats, listing, number, triangles, vector, whole

POINTS, FACES = grid(2, 2, 1.0, 1.0)
STUFF = sc.Material(stretch=40.0, poisson=0.3, bend=0.02, areal_density=0.2, thickness=1e-3)
NONSENSE: dict[str, Any] = {
    "None": None,
    "nan": np.nan,
    "inf": np.inf,
    "-1": -1,
    "-1.5": -1.5,
    "word": "much",
    "object": object(),
    "ragged": [[1.0, 2.0], [3.0]],
    "empty": [],
    "huge": 1e300,
    "complex": 1j,
    "matrix": np.full((2, 2), np.nan),
    "yes": True,
}


def shell(**options: Any) -> sc.Shell:
    return sc.Shell(**({"positions": POINTS, "faces": FACES, "material": STUFF} | options))


def pinned() -> sc.Shell:
    made = shell()
    made.pin([0, 2])
    return made


def modal() -> sc.ModalShell:
    return sc.ModalShell(pinned(), 4)


def simulated(**options: Any) -> list[sc.Frame]:
    return list(sc.simulate(sc.Scene([pinned()], self_contact=False), **({"frames": 1} | options)))


def scene(**options: Any) -> sc.Scene:
    return sc.Scene(**({"shells": [shell()]} | options))


def attached(**options: Any) -> sc.Attach:
    first = shell()
    whole = {"shell_a": first, "vertices_a": [0], "shell_b": first, "vertices_b": [5]} | options
    return sc.Attach(**whole)


def edited(name: str, **given: Any) -> Callable[..., Any]:
    return lambda **options: getattr(shell(), name)(**(given | options))


# What is called, by a name, and its arguments.
CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "Shell": (
        shell,
        "positions faces material bending membrane axes rest_angles damping pressure plasticity fracture friction "
        "start velocities hinge_energy hinge_area quadratic_form quadrature ghosts",
    ),
    "Scene": (
        scene,
        "shells colliders attachments gravity wind forces contact_distance intersections contact",
    ),
    "Attach": (attached, "shell_a vertices_a shell_b vertices_b stiffness release"),
    "Plane": (lambda **o: sc.Plane(**({"point": (0, 0, 0), "normal": (0, 0, 1)} | o)), "point normal friction"),
    "Sphere": (lambda **o: sc.Sphere(**({"centre": (0, 0, 0), "radius": 1.0} | o)), "centre radius friction"),
    "Collider": (
        lambda **o: sc.Collider(**({"positions": POINTS, "faces": FACES} | o)),
        "positions faces friction thickness motion",
    ),
    "Damping": (lambda **o: sc.Damping(**o), "mass stiffness hinge viscosity"),
    "Wind": (lambda **o: sc.Wind(**o), "velocity drag lift density"),
    "Fracture": (lambda **o: sc.Fracture(**({"curvature": 1.0} | o)), "curvature stretch toughness"),
    "Plasticity": (
        lambda **o: sc.Plasticity(**({"yield_curvature": 1.0} | o)),
        "yield_curvature hardening rate yield_stretch",
    ),
    "Material": (
        lambda **o: sc.Material(**({"stretch": 1.0, "bend": 1.0, "areal_density": 1.0, "thickness": 1.0} | o)),
        "stretch shear poisson bend bend_shear bend_poisson areal_density thickness",
    ),
    "Material.solid": (
        lambda **o: sc.Material.solid(**({"young": 1.0, "poisson": 0.3, "thickness": 1.0, "density": 1.0} | o)),
        "young poisson thickness density",
    ),
    "Material.preset": (lambda **o: sc.Material.preset(**o), "name"),
    "pin": (edited("pin", vertices=[0]), "vertices targets axes stiffness"),
    "clamp": (edited("clamp", vertices=[0, 1]), "vertices targets"),
    "load": (edited("load", vertices=[0], forces=(0.0, 0.0, 1.0)), "vertices forces"),
    "crease": (edited("crease", edges=[(1, 4)], angle=0.1), "edges angle start end"),
    "curl": (edited("curl", axis=(1, 0, 0), radius=1.0), "axis radius start end"),
    "seam": (edited("seam", edges=[(1, 4)], release=1.0), "edges release"),
    "set_rest_angles": (edited("set_rest_angles"), "angles"),
    "simulate": (
        simulated,
        "frames fps substeps integrator beta gamma jacobian solver iterations tolerance resume strain_limit",
    ),
    "equilibrium": (
        lambda **o: sc.equilibrium(**({"scene": pinned()} | o)),
        "scene tolerance time start strain_limit",
    ),
    "ModalShell": (lambda **o: sc.ModalShell(**({"shell": pinned(), "modes": 3} | o)), "shell modes gravity wind"),
    "ModalShell.step": (lambda **o: modal().step(**({"dt": 0.01} | o)), "dt forces"),
    "ModalShell.position_handle": (
        lambda **o: modal().position_handle(**({"vertices": 8, "target": POINTS[8]} | o)),
        "vertices target stiffness",
    ),
    "ModalShell.orientation_handle": (
        lambda **o: modal().orientation_handle(**({"vertices": 8, "rotation": np.eye(3)} | o)),
        "vertices rotation stiffness",
    ),
    "ModalShell.base_motion": (lambda **o: modal().base_motion(**({"matrix": np.eye(4), "t": 0.0} | o)), "matrix t"),
    "willmore_flow": (
        lambda **o: sc.willmore_flow(**({"positions": POINTS, "faces": FACES, "steps": 1} | o)),
        "positions faces step steps tolerance",
    ),
    "kawabata_test": (lambda **o: sc.kawabata_test(**o), "material"),
    "fit_control": (lambda **o: sc.fit_control(**({"positions": POINTS, "faces": FACES} | o)), "positions faces"),
    "refine_control": (lambda **o: sc.refine_control(**({"positions": POINTS, "faces": FACES} | o)), "positions faces"),
    "axes_from_uv": (
        lambda **o: sc.axes_from_uv(
            **({"positions": POINTS, "faces": FACES, "corner_uv": POINTS[FACES][:, :, :2]} | o)
        ),
        "positions faces corner_uv angles",
    ),
    "elastic_energies": (lambda **o: sc.elastic_energies(**o), "shell"),
}


@pytest.mark.parametrize("call", CALLS)
def test_nonsense_is_refused_by_name_or_taken(call: str) -> None:
    made, names = CALLS[call]
    for name in names.split():
        for what, value in NONSENSE.items():
            if what == "huge" and name in ("frames", "steps"):
                continue  # that many are done
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    made(**{name: value})
                except (sc.ShellError, sc.StepFailed, sc.ShellWarning) as refusal:
                    assert str(refusal), (name, what)
                except Exception as fault:
                    pytest.fail(f"{call}({name}={what}): {type(fault).__name__}: {fault}")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: shell(friction=np.nan), "friction must be zero or more, not nan"),
        (lambda: shell(friction=-1), "friction must be zero or more, not -1"),
        (lambda: shell(friction=np.inf), "friction must be zero or more, not inf"),
        (lambda: shell(damping=0.1), r"damping must be a Damping, as Damping\(mass=0.1\), not 0.1"),
        (lambda: shell(faces=FACES.astype(float)), "faces must be integers .* not float64"),
        (lambda: shell(faces=FACES.ravel()), r"faces must have shape \(m, 3\), not \(24,\): triangulate"),
        (lambda: shell(faces=[(0, 1, 2), (1, 2)]), "faces must all have three corners"),
        (lambda: shell(faces=None), "faces must be integers .* not None"),
        (lambda: shell(faces=[]), "faces are none: give at least one triangle"),
        (lambda: sc.Collider(POINTS, FACES + 0.5), "a Collider's faces must be integers"),
        (lambda: sc.Collider(POINTS, FACES, motion=3.0), "motion must be a function of time"),
        (lambda: sc.Scene(shell()), r"shells of a Scene must be a list, as Scene\(\[shell\]\)"),
        (lambda: scene(colliders=sc.Plane((0, 0, 0), (0, 0, 1))), r"colliders of a Scene must be a list, as"),
        (lambda: simulated(strain_limit=-1), "strain_limit must be zero or more, not -1"),
        (lambda: simulated(strain_limit=np.nan), "strain_limit must be zero or more, not nan"),
        (lambda: simulated(resume=simulated()[0]), "resume must be the state of a frame.*: give its `state`"),
        (lambda: simulated(resume=3), "resume must be the state of a frame, not 3"),
        (lambda: simulated(fps=1e300), r"fps must be positive, and no larger than 1e\+40, not 1e\+300"),
        (lambda: simulated(fps=1e20), r"fps=1e\+20 with 1 steps a frame makes steps of 1e-20 s"),
        (
            lambda: simulated(resume=simulated()[0].state | {"time": 1e18}),
            r"resume: time 1e\+18 s is too late",
        ),
        (lambda: sc.Plane((0, 0, 0), (0, 0, 1e-300)), "a Plane needs a normal"),
        (lambda: simulated(fps=None), "fps must be positive, not None"),
        (lambda: shell(start=POINTS + 1e300), "start: vertices 0, .* more than 1e\\+12 m from the origin"),
        (lambda: sc.Sphere((0, 0, 0), None), r"radius must be positive \[m\], not None"),  # type: ignore[arg-type]
        (lambda: sc.Damping(mass=None), "damping mass must be zero or more, not None"),  # type: ignore[arg-type]
        (lambda: sc.equilibrium(pinned(), tolerance="low"), "tolerance must be positive .* not 'low'"),  # type: ignore[arg-type]
    ],
)
def test_messages_name_the_argument_and_what_to_give(made: Callable[[], Any], words: str) -> None:
    with pytest.raises(sc.ShellError, match=words):
        made()


def test_checks_take_what_numpy_takes() -> None:
    assert number(np.float32(2.0), "it", "a number") == 2.0 and whole(np.int64(3), "it", 0) == 3
    assert vector([0, 1, 2], "it").dtype == np.float64 and triangles([[0, 1, 2]], "they").dtype == np.int64
    given = np.zeros(3)
    assert floats(given, "it", "numbers") is not given
    assert listing((1, 2), "they", "[1]") == [1, 2]
    for bad in ([1.0, 2.0], "1.5", None, 1j):
        with pytest.raises(sc.ShellError, match="it must be a number"):
            number(bad, "it", "a number")
