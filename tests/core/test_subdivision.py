"""Subdivision shells: energy and its derivatives, invariance, patch tests, hidden unknowns, what is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import meshes
import shellcore as sc
from shellcore.dynamics.stage import Stage
from shellcore.subdivision.energy import KirchhoffLove
from shellcore.subdivision.surface import LoopSurface
from shellcore.system import System

WEAVE = sc.Material(
    stretch=(200.0, 120.0), shear=40.0, poisson=0.3, bend=(0.02, 0.01), bend_shear=0.006, bend_poisson=0.2,
    areal_density=0.2, thickness=1e-3,
)  # fmt: skip
MESHES = {
    "regular": meshes.grid(6, 5, 1.0, 0.8, "one"),
    "unstructured": meshes.unstructured(60, 1.0, 1.0),
    "sphere": meshes.icosphere(1),
    "bowl": meshes.hemisphere(4),
    "valence 3": meshes.bumpy(meshes.fan(3, 3), 0.3),
    "valence 12": meshes.bumpy(meshes.fan(12, 3), 0.3),
}


def build(name: str, **options) -> tuple[sc.Shell, System]:
    points, faces = MESHES[name]
    shell = sc.Shell(points, faces, WEAVE, bending="subdivision", **options)
    return shell, System(sc.Scene([shell], gravity=(0, 0, -9.81)))


def energy_of(system: System) -> KirchhoffLove:
    energy = system.bendings[0].energy
    assert isinstance(energy, KirchhoffLove)
    return energy


def rotation(seed: int) -> np.ndarray:
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def bent(x: np.ndarray, seed: int = 0, size: float = 0.03) -> np.ndarray:
    return x + size * np.random.default_rng(seed).normal(size=x.shape)


def check_derivatives(energy, x: np.ndarray) -> None:
    direction = np.random.default_rng(5).normal(size=x.shape)
    e = 1e-6
    _, gradient = energy.value_and_gradient(x)
    slope = (energy.value(x + e * direction) - energy.value(x - e * direction)) / (2 * e)
    assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-6)
    change = (energy.gradient(x + e * direction) - energy.gradient(x - e * direction)) / (2 * e)
    exact = energy.hessian(x, psd=False).product(direction)
    assert np.abs(exact - change).max() < 1e-6 * np.abs(change).max()
    matrix = energy.hessian(x).matrix().toarray()
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix)[0] > -1e-12 * np.abs(matrix).max()


@pytest.mark.parametrize("name", MESHES)
def test_derivatives(name: str) -> None:
    _, system = build(name)
    check_derivatives(energy_of(system), bent(system.start))


def test_derivatives_with_supports_and_viscosity() -> None:
    shell, _ = build("regular", damping=sc.Damping(viscosity=0.01))
    shell.clamp(np.flatnonzero(shell.rest_positions[:, 0] < 1e-9))
    shell.pin([20], axes=(False, True, True))
    system = System(sc.Scene([shell]))
    check_derivatives(energy_of(system), bent(system.targets(0.0, system.start)))
    began, elastic = bent(system.targets(0.0, system.start), 1), energy_of(system)
    whole = system.energies_of[0].bending_of_step(Stage.euler(0.0, 0.005, began, 0 * began)).energy
    x = bent(system.targets(0.0, system.start), 2)
    check_derivatives(whole, x)
    # The force of viscosity alone: twice the elastic matrices on the strain since the step began.
    rate = copy.copy(elastic)
    rate.reference = elastic.strains(began)
    np.testing.assert_allclose(whole.gradient(x), elastic.gradient(x) + 2.0 * rate.gradient(x), atol=1e-10)


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("quadrature", [1, 3])
def test_rigid_motions_cost_nothing(name: str, quadrature: int) -> None:
    _, system = build(name, quadrature=quadrature)
    for seed in range(3):
        value, gradient = energy_of(system).value_and_gradient(system.start @ rotation(seed).T + [3.0, -2.0, 1.0])
        assert value < 1e-20 and np.abs(gradient).max() < 1e-10


@pytest.mark.parametrize("name", MESHES)
def test_forces_have_neither_resultant_nor_torque(name: str) -> None:
    _, system = build(name)
    x = bent(system.start @ rotation(7).T)
    gradient = energy_of(system).gradient(x)
    assert np.abs(gradient).max() > 0.1
    assert np.abs(gradient.sum(axis=0)).max() < 1e-10
    assert np.abs(np.cross(x, gradient).sum(axis=0)).max() < 1e-10


@pytest.mark.parametrize("name", ["regular", "unstructured"])
def test_affine_maps_strain_constantly(name: str) -> None:
    _, system = build(name, axes=np.tile([1.0, 0, 0], (len(MESHES[name][1]), 1)))
    stretch = np.array([[1.2, 0.1], [0.1, 0.9]])
    flat = system.start.copy()
    flat[:, :2] = flat[:, :2] @ stretch
    strain, curvature = energy_of(system).strains(flat @ rotation(2).T)
    np.testing.assert_allclose(strain, np.tile([[0.2], [-0.1], [0.1]], strain.shape[1]), atol=1e-10)
    np.testing.assert_allclose(curvature, 0.0, atol=1e-10)


@pytest.mark.parametrize("quadrature", [1, 3])
def test_force_patch_tests_are_exact_on_sheared_lattices(quadrature: int) -> None:
    points, faces = meshes.grid(9, 9, 1.0, 1.0, "one")
    points = points @ np.array([[1.0, 0.2, 0], [0.3, 0.8, 0], [0, 0, 1]])
    shell = sc.Shell(points, faces, WEAVE, bending="subdivision", quadrature=quadrature)
    system = System(sc.Scene([shell]))
    energy, x = energy_of(system), system.start
    # Control vertices none of whose patches reaches a border: three rings inside.
    index = np.arange(100)
    inside = (np.minimum(index % 10, 9 - index % 10) > 2) & (np.minimum(index // 10, 9 - index // 10) > 2)
    stretched = x @ np.array([[1.1, 0.05, 0], [0.02, 0.95, 0], [0, 0, 1]])
    forces = energy.gradient(stretched)
    assert np.abs(forces[:100][inside]).max() < 1e-10 * np.abs(forces).max()
    bend = np.zeros_like(x)
    bend[:, 2] = 0.7 * x[:, 0] ** 2 - 0.2 * x[:, 0] * x[:, 1] + 0.4 * x[:, 1] ** 2
    forces = energy.hessian(x, psd=False).product(bend)
    assert np.abs(forces[:100][inside]).max() < 1e-10 * np.abs(forces).max()


@pytest.mark.parametrize("valence", [4, 5, 8])
def test_curvature_converges_at_irregular_vertices(valence: int) -> None:
    # A parabolic cylinder through the limit points: curvature is wrong only in the shrinking faces at the vertex.
    points, faces = meshes.fan(valence, 4)
    errors = []
    for level in range(3):
        if level:
            surface = LoopSurface(faces, len(points))
            finer, step = surface.mesh.refined(np.arange(len(faces)))
            used, local = np.unique(finer.faces, return_inverse=True)
            points, faces = (step @ surface.complete(points))[used], local.reshape(-1, 3)
        shell = sc.Shell(points, faces, WEAVE, bending="subdivision", axes=np.tile([1.0, 0, 0], (len(faces), 1)))
        at = shell.limit(points)
        lifted = at + np.column_stack([np.zeros((len(at), 2)), 5e-4 * at[:, 0] ** 2])
        control = points.copy()
        control[:, 2] = sc.fit_control(lifted, faces)[:, 2]
        system = System(sc.Scene([shell]))
        energy = energy_of(system)
        curvature = energy.strains(system.with_hidden(control))[1]
        inside = np.linalg.norm(energy.points.values @ system.start, axis=1) < 2.0
        off = (curvature[:, inside] * 1e3 - np.array([[1.0], [0.0], [0.0]])) ** 2
        errors.append(float(np.sqrt((off.sum(axis=0) * energy.points.areas[inside]).sum())))
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < errors[0] and rates.mean() > 0.7, (errors, rates)


def test_ghosts_stay_hidden_and_carry_mass() -> None:
    shell, system = build("regular", velocities=np.full((42, 3), 0.5))
    assert system.visible == 42 < system.vertex_count
    assert (system.mass > 0).all()
    assert system.mass.sum() == pytest.approx(0.2 * 0.8)
    other = sc.Shell(*meshes.grid(2, 2, 1.0, 1.0), WEAVE)
    *_, frame = sc.simulate(sc.Scene([other, shell], self_contact=False), frames=3, fps=100)
    assert frame.positions.shape == (9 + 42, 3) == frame.velocities.shape
    assert frame.slices[1] == slice(9, 51)
    assert frame.control(0).shape == (9, 3) and frame.control(1).shape == (system.vertex_count, 3)
    fallen = np.array([0.5, 0.5, 0.5]) * 0.03 + [0, 0, -0.5 * 9.81 * 0.03 * 0.04]
    np.testing.assert_allclose(frame.positions[9:] - shell.rest_positions, np.tile(fallen, (42, 1)), atol=1e-9)
    np.testing.assert_allclose(shell.limit(frame.control(1)), shell.limit(shell.rest_positions) + fallen, atol=1e-9)
    for name in ("strain", "stress", "bending"):
        assert frame.fields[name].shape == (len(frame.faces),)
    assert frame.fields["contact"].shape == (51,)


def test_supports_hold_the_limit_surface_exactly() -> None:
    shell, _ = build("unstructured", damping=sc.Damping(viscosity=1e-3))
    edge = np.flatnonzero(shell.rest_positions[:, 0] < 1e-9)
    before = shell.limit(shell.rest_positions)
    shell.clamp(edge)
    scene = sc.Scene([shell])
    frames = list(sc.simulate(scene, frames=6, fps=50))
    whole = frames[-1].control()
    limit = shell.limit(whole)
    np.testing.assert_allclose(limit[edge], before[edge], atol=1e-9)
    assert limit[:, 2].min() < -0.01
    slopes = shell.border_slopes[0]
    held = (slopes.rows @ whole - slopes.at(0.0))[slopes.axes]
    assert len(held) >= 2 * len(edge) and np.abs(held).max() < 1e-9
    resumed = list(sc.simulate(scene, frames=3, fps=50, resume=frames[2].state))
    np.testing.assert_array_equal(resumed[-1].positions, frames[-1].positions)


def test_one_linear_solve_a_step_is_stable() -> None:
    shell, _ = build("regular", damping=sc.Damping(viscosity=1e-3))
    shell.pin([0, 6])
    *_, frame = sc.simulate(sc.Scene([shell]), frames=40, fps=100, solver="newton", iterations=1)
    assert np.abs(frame.positions).max() < 2.0


def test_modes_refuse_clamps_that_move_and_keep_springs() -> None:
    shell, _ = build("regular")
    edge = np.flatnonzero(shell.rest_positions[:, 0] < 1e-9)
    loose = sc.ModalShell(shell, modes=3).frequencies
    shell.pin(edge, stiffness=1e6)
    stiff = sc.ModalShell(shell, modes=3).frequencies
    held, _ = build("regular")
    held.pin(edge)
    # The first mode swings about the edge.
    np.testing.assert_allclose(stiff[1:], sc.ModalShell(held, modes=3).frequencies[1:], rtol=1e-3)
    assert stiff[0] < 1e-5 < loose[0]
    at = held.limit(held.rest_positions)[edge]
    held.clamp(edge, lambda t: at @ np.array([[np.cos(t), np.sin(t), 0], [-np.sin(t), np.cos(t), 0], [0, 0, 1]]))
    with pytest.raises(sc.ShellError, match="stay at rest"):
        sc.ModalShell(held)


@pytest.mark.parametrize("model", ["closed", "flat rest"])
def test_closed_and_flat_resting_shells(model: str) -> None:
    shell, system = build("sphere", rest_angles="shape" if model == "closed" else "flat")
    assert shell.hidden_count == 0
    value = energy_of(system).value(system.start)
    assert (value < 1e-20) == (model == "closed")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"membrane": "springs"}, "membrane of its own"),
        ({"rest_angles": np.zeros(74)}, "rest_angles='shape' or 'flat'"),
        ({"damping": sc.Damping(hinge=1.0)}, "no hinges"),
        ({"quadrature": 2}, "quadrature must be 1 or 3 points a face, not 2"),
        ({"plasticity": sc.Plasticity(1.0)}, "plasticity"),
        ({"fracture": sc.Fracture(10.0)}, "fracture"),
        ({"ghosts": "none"}, "ghosts='none'"),
    ],
)
def test_what_it_cannot_do_is_refused(options: dict, said: str) -> None:
    with pytest.raises(sc.ShellError, match=said):
        build("regular", **options)


def test_more_refusals() -> None:
    shell, _ = build("regular")
    with pytest.raises(sc.ShellError, match="no hinges"):
        shell.set_rest_angles(np.zeros(len(shell.hinges)))
    with pytest.raises(sc.ShellError, match="splits stretch from bending"):
        next(sc.simulate(sc.Scene([shell]), frames=1, integrator="imex_bending"))
    with pytest.raises(sc.ShellError, match="right angle"):
        shell.symmetry(np.flatnonzero(shell.rest_positions[:, 0] < 1e-9), 1)
    with pytest.raises(sc.ShellError, match="axis 0, 1 or 2"):
        shell.symmetry([0], 3)
    with pytest.raises(sc.ShellError, match="which bending='cubic' has not"):
        sc.Shell(*MESHES["regular"], WEAVE).symmetry([0], 0)
    with pytest.raises(sc.ShellError, match="levels"):
        shell.surface(shell.rest_positions, 9)
    with pytest.raises(sc.ShellError, match="with ghosts"):
        shell.limit(np.zeros((3, 3)))
