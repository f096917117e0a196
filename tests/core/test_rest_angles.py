"""Creases, curls and rest angles over time."""

import numpy as np
import pytest

import shellcore as sc
from meshes import cylinder, equilateral, grid, unstructured
from shellcore.energies.hinge import hinge_angles
from shellcore.system import System

MATERIAL = sc.Material(stretch=1e3, bend=1e-4, areal_density=0.1, thickness=1e-4)


def sheet(mesh, bending="cubic", **options):
    return sc.Shell(*mesh, MATERIAL, bending=bending, **options)


def line_of_hinges(shell, x):
    """Hinges whose edge lies on the line at x."""
    ends = shell.rest_positions[shell.hinges[:, :2], 0]
    return np.flatnonzero(np.abs(ends - x).max(axis=1) < 1e-9)


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.3])
def test_curl_fits_the_sheet_rolled_onto_a_cylinder(angle):
    points, faces = unstructured(120, 1.0, 0.7, seed=3)
    shell = sheet((points, faces))
    axis, radius = np.array([np.cos(angle), np.sin(angle), 0.0]), 0.3
    shell.curl(axis, radius)
    across = np.array([-axis[1], axis[0], 0.0])
    u, v = points @ axis, points @ across
    rolled = np.outer(u, axis) + np.outer(radius * np.sin(v / radius), across)
    rolled[:, 2] += radius * (1.0 - np.cos(v / radius))
    assert shell.rest_angles_at(0.0) == pytest.approx(hinge_angles(rolled, shell.hinges), abs=1e-12)


def test_curl_adds_to_a_curved_shell_and_needs_the_axis_in_the_face():
    tube = sheet(cylinder(16, 4, 0.1, 0.2))
    shape = tube.shape_angles.copy()
    # The tube's normals point outward: rolled up further about its own axis, its angles grow away from them.
    tube.curl((0.0, 0.0, 1.0), -0.1)
    about = np.flatnonzero(np.abs(shape) > 0.1)
    assert tube.rest_angles_at(0.0)[about] == pytest.approx(2.0 * shape[about], rel=0.02)
    flat = sheet(grid(3, 3, 1.0, 1.0))
    flat.curl((0.0, 0.0, 1.0), 0.3)
    assert not flat.rest_angles_at(0.0).any()


def test_edits_come_in_evenly_and_creases_have_the_last_word():
    shell = sheet(equilateral(6, 4, 0.1))
    shell.crease(shell.hinges[:3, :2], np.array([0.5, -0.5, 1.0]), start=1.0, end=3.0)
    shell.curl((0.0, 1.0, 0.0), 0.2, start=0.0, end=2.0)
    full = sheet(equilateral(6, 4, 0.1))
    full.curl((0.0, 1.0, 0.0), 0.2)
    curl = full.rest_angles_at(0.0)
    assert shell.rest_angles_move and not full.rest_angles_move
    assert shell.rest_angles_at(0.5) == pytest.approx(0.25 * curl)
    assert shell.rest_angles_at(2.0)[3:] == pytest.approx(curl[3:])
    assert shell.rest_angles_at(2.0)[:3] == pytest.approx(0.5 * (curl[:3] + np.array([0.5, -0.5, 1.0])))
    assert shell.rest_angles_at(9.0)[:3] == pytest.approx([0.5, -0.5, 1.0])
    shell.set_rest_angles(lambda t: np.full(len(shell.hinges), 0.1 * t))
    assert shell.rest_angles_at(3.0)[3:] == pytest.approx(curl[3:] + 0.3)


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
def test_a_creased_sheet_folds_to_its_angle(bending):
    mesh = grid(4, 2, 0.4, 0.2)
    shell = sheet(mesh, bending, damping=sc.Damping(mass=5.0))
    fold = line_of_hinges(shell, 0.2)
    shell.crease(shell.hinges[fold, :2], 0.8, start=0.0, end=0.5)
    shell.pin(np.flatnonzero(mesh[0][:, 0] < 0.15))
    scene = sc.Scene([shell], gravity=(0, 0, 0))
    part_way = list(sc.simulate(scene, 24))[-1].positions
    assert 0.1 < hinge_angles(part_way, shell.hinges)[fold].min() < 0.8
    x = sc.equilibrium(scene, time=1.0, start=part_way)
    angles = hinge_angles(x, shell.hinges)
    assert angles[fold] == pytest.approx(0.8, abs=1e-6)
    assert np.abs(np.delete(angles, fold)).max() < 1e-6
    # Positive: towards the normals, which point up.
    assert x[:, 2].max() == pytest.approx(0.2 * np.sin(0.8), rel=1e-4)


def test_half_a_crease_is_a_stressed_state_of_rest():
    mesh = grid(8, 8, 0.2, 0.2)
    shell = sheet(mesh, "hinge")
    fold = line_of_hinges(shell, 0.1)
    low = fold[shell.rest_positions[shell.hinges[fold, :2], 1].max(axis=1) < 0.1 + 1e-9]
    shell.crease(shell.hinges[low, :2], 1.2)
    scene = sc.Scene([shell], gravity=(0, 0, 0))
    shell.start = shell.rest_positions + np.outer(np.abs(shell.rest_positions[:, 0] - 0.1) * 0.3, [0, 0, 1])
    x = sc.equilibrium(scene)
    angles = hinge_angles(x, shell.hinges)
    rest = sum(energy.value(x) for energy in System(scene).elastic())
    assert 0.3 < np.median(angles[low]) < 1.2
    assert rest > 1e-2 * float(MATERIAL.bending_moduli(1)[0][0])
    assert sum(energy.value(shell.start) for energy in System(scene).elastic()) > rest


def test_moving_rest_angles_factor_at_most_once_a_frame():
    shell = sheet(grid(6, 6, 0.3, 0.3))
    shell.crease(shell.hinges[10:14, :2], 1.0, start=0.0, end=0.2)
    counts = [
        frame.stats["constant_factorisations"]
        for frame in sc.simulate(sc.Scene([shell]), 8, fps=24, substeps=4, solver="quasi_newton")
    ]
    assert np.diff([0, *counts]).max() == 1
    assert counts[-1] < 8


def test_a_crease_resumes_with_identical_bytes():
    def scene():
        shell = sheet(grid(6, 6, 0.3, 0.3), damping=sc.Damping(hinge=1e-5))
        shell.crease(shell.hinges[10:14, :2], 1.0, start=0.05, end=0.3)
        shell.pin([0, 1])
        return sc.Scene([shell])

    whole = list(sc.simulate(scene(), 6, substeps=3))
    rest = list(sc.simulate(scene(), 3, substeps=3, resume=whole[2].state))
    assert rest[-1].positions.tobytes() == whole[-1].positions.tobytes()


@pytest.mark.parametrize("bending", ["quadratic", "subdivision"])
@pytest.mark.parametrize("edit", ["crease", "curl"])
def test_models_without_rest_angles_say_which_have_them(bending, edit):
    shell = sheet(grid(3, 3, 1.0, 1.0), bending)
    arguments = (shell.hinges[:1, :2], 0.5) if edit == "crease" else ((1.0, 0.0, 0.0), 0.5)
    with pytest.raises(sc.ShellError, match=f"{edit}.*'hinge' or 'cubic'"):
        getattr(shell, edit)(*arguments)


def test_bad_edits_name_what_is_wrong():
    shell = sheet(grid(3, 3, 1.0, 1.0))
    with pytest.raises(sc.ShellError, match=r"edge \(0, 1\) lies on the border"):
        shell.crease([(1, 0)], 0.5)
    with pytest.raises(sc.ShellError, match=r"edge \(0, 15\) is not an edge"):
        shell.crease([(0, 15)], 0.5)
    with pytest.raises(sc.ShellError, match="within"):
        shell.crease(shell.hinges[:1, :2], 4.0)
    with pytest.raises(sc.ShellError, match="start <= end"):
        shell.crease(shell.hinges[:1, :2], 1.0, start=2.0, end=1.0)
    with pytest.raises(sc.ShellError, match="radius"):
        shell.curl((1, 0, 0), 0.0)
    with pytest.raises(sc.ShellError, match="axis"):
        shell.curl((1, 0), 1.0)
    quadratic = sheet(grid(3, 3, 1.0, 1.0), "quadratic")
    quadratic.set_rest_angles(lambda t: np.full(len(quadratic.hinges), t))
    with pytest.raises(sc.ShellError, match="use bending='cubic'"):
        list(sc.simulate(quadratic, 2))
