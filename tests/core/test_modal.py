"""Modes of a shell at rest: eigenpairs, rigid motions, what is refused, and the file they are kept in."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import diags

import meshes
import shellcore as sc
from shellcore.linalg.eigen import lowest_eigenpairs
from shellcore.modal.modes import rest_problem, rigid_motions

MATERIAL = sc.Material(stretch=2e3, bend=0.02, areal_density=0.3, thickness=1e-3)


def sheet(bending: str = "hinge", membrane: str = "fem", clamped: bool = True, **options: object) -> sc.Shell:
    points, faces = meshes.equilateral(8, 12, 0.05)
    shell = sc.Shell(points, faces, MATERIAL, bending=bending, membrane=membrane, **options)
    if clamped:
        shell.clamp(np.flatnonzero(points[:, 1] < 1e-9))
    return shell


def curved(bending: str) -> sc.Shell:
    points, faces = meshes.v_beam(8, 3, 0.4, 0.1, 1.0)
    shell = sc.Shell(points, faces, MATERIAL, bending=bending)
    shell.clamp(np.flatnonzero(points[:, 0] < 1e-9))
    return shell


def errors(shell: sc.Shell, modal: sc.ModalShell) -> tuple[float, float]:
    """Residual ‖KΦ − MΦΛ‖ over ‖MΦΛ‖, and the worst entry of ΦᵀMΦ − I."""
    problem = rest_problem(shell)
    m = len(modal.eigenvalues)
    phi = modal.shapes.reshape(-1, m)
    mass = np.repeat(problem.mass, 3)[:, None]
    residual = (problem.stiffness @ phi - mass * phi * modal.eigenvalues)[problem.free.ravel()]
    gram = phi.T @ (mass * phi)
    scale = np.linalg.norm(mass * phi * modal.eigenvalues)
    return float(np.linalg.norm(residual) / scale), float(np.abs(gram - np.eye(m)).max())


@pytest.mark.parametrize("clamped", [True, False])
@pytest.mark.parametrize(
    ("bending", "membrane"), [("hinge", "fem"), ("hinge", "springs"), ("quadratic", "fem"), ("cubic", "springs")]
)
def test_modes_solve_the_eigenproblem(bending: str, membrane: str, clamped: bool) -> None:
    shell = sheet(bending, membrane, clamped)
    modal = sc.ModalShell(shell, 20)
    residual, gram = errors(shell, modal)
    assert residual < 1e-10
    assert gram < 1e-10
    assert (np.diff(modal.frequencies) >= 0).all()
    assert modal.free is not clamped
    assert modal.shapes.shape == modal.rotations.shape == (len(shell.rest_positions), 3, 20)


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
def test_modes_of_a_folded_shell(bending: str) -> None:
    shell = curved(bending)
    residual, gram = errors(shell, sc.ModalShell(shell, 12))
    assert residual < 1e-10
    assert gram < 1e-10


def test_all_bending_models_agree_on_a_flat_sheet() -> None:
    found = [sc.ModalShell(sheet(bending), 8).frequencies for bending in ("hinge", "quadratic", "cubic")]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-8)


def test_the_same_modes_every_time() -> None:
    first, second = sc.ModalShell(sheet(), 15), sc.ModalShell(sheet(), 15)
    np.testing.assert_array_equal(first.shapes, second.shapes)
    np.testing.assert_array_equal(first.eigenvalues, second.eigenvalues)


def test_a_free_shell_has_no_rigid_motion_in_its_modes() -> None:
    shell = sheet(clamped=False)
    modal = sc.ModalShell(shell, 12)
    rigid = rigid_motions(shell.rest_positions, shell.mass) * np.sqrt(np.repeat(shell.mass, 3))[:, None]
    assert np.abs(rigid.T @ modal.shapes.reshape(-1, 12)).max() < 1e-12 * np.abs(modal.shapes).max()
    problem = rest_problem(shell)
    root = np.sqrt(np.repeat(problem.mass, 3))
    dense = (diags(1 / root) @ problem.stiffness @ diags(1 / root)).toarray()
    np.testing.assert_allclose(modal.eigenvalues, np.linalg.eigvalsh(dense)[6:18], rtol=1e-8)


def test_lanczos_and_dense_eigenpairs_agree() -> None:
    n = 400
    stiff = diags([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1]).tocsc()
    values, vectors, negative = lowest_eigenpairs(stiff, 6, 1e-4)
    np.testing.assert_allclose(values, 4 * np.sin(np.arange(1, 7) * np.pi / (2 * (n + 1))) ** 2, rtol=1e-9)
    assert negative == 0
    small, _, _ = lowest_eigenpairs(stiff[:50, :50], 6, 1e-4)
    np.testing.assert_allclose(small, 4 * np.sin(np.arange(1, 7) * np.pi / 102) ** 2, rtol=1e-9)
    assert np.abs(vectors.T @ vectors - np.eye(6)).max() < 1e-13


def test_a_mechanism_keeps_a_mode_without_frequency() -> None:
    shell = sheet(clamped=False)
    edge = np.flatnonzero(shell.rest_positions[:, 1] < 1e-9)
    shell.pin(edge)  # a hinge line: the sheet swings about it
    modal = sc.ModalShell(shell, 6)
    assert modal.frequencies[0] < 1e-2 * modal.frequencies[1]
    # Warped, the swing is a rotation: every edge keeps its length.
    angle = np.abs(modal.rotations[:, 0, 0]).max()
    x = modal.warped_positions(np.eye(6)[0] * 1.5 / angle)
    a, b = shell.mesh.edges.T
    rest = shell.rest_positions
    lengths = np.linalg.norm(x[a] - x[b], axis=1) / np.linalg.norm(rest[a] - rest[b], axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)


def test_few_vertices_have_few_modes() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    modal = sc.ModalShell(sc.Shell(points, np.array([[0, 1, 2]]), MATERIAL), 40)
    assert len(modal.frequencies) == 3
    assert np.isfinite(modal.step(0.01)).all()


def test_an_unstable_rest_state_is_refused() -> None:
    points, faces = meshes.v_beam(6, 2, 0.3, 0.1, 2.0)
    flabby = sc.Material(stretch=1.0, bend=50.0, areal_density=0.3, thickness=1e-3)
    with pytest.warns(sc.ShellWarning), pytest.raises(sc.ShellError, match="not stable"):
        sc.ModalShell(sc.Shell(points, faces, flabby, bending="cubic"), 6)


def test_a_rest_shape_out_of_equilibrium_is_refused() -> None:
    points, faces = meshes.cylinder(12, 4, 0.1, 0.2)
    with pytest.raises(sc.ShellError, match="not in equilibrium"):
        sc.ModalShell(sc.Shell(points, faces, MATERIAL, rest_angles="flat"), 6)


def test_bad_input_is_refused() -> None:
    shell = sheet()
    with pytest.raises(sc.ShellError, match="takes a Shell"):
        sc.ModalShell(shell.rest_positions)  # type: ignore[arg-type]
    for modes in (0, 2.5, -1):
        with pytest.raises(sc.ShellError, match="whole number"):
            sc.ModalShell(shell, modes)  # type: ignore[arg-type]
    with pytest.raises(sc.ShellError, match="gravity"):
        sc.ModalShell(shell, 4, gravity=(0.0, np.nan, 0.0))
    with pytest.raises(sc.ShellError, match="wind"):
        sc.ModalShell(shell, 4, wind=3)  # type: ignore[arg-type]
    modal = sc.ModalShell(shell, 4)
    with pytest.raises(sc.ShellError, match="dt"):
        modal.step(0.0)
    with pytest.raises(sc.ShellError, match="shape"):
        modal.step(0.1, forces=np.zeros(3))
    moving = sheet()
    moving.set_rest_angles(lambda t: np.zeros(len(moving.hinges)))
    with pytest.raises(sc.ShellError, match="change with time"):
        sc.ModalShell(moving, 4)
    pinned = sheet()
    pinned.pin(np.arange(len(pinned.rest_positions)))
    with pytest.raises(sc.ShellError, match="nothing left"):
        sc.ModalShell(pinned, 4)


def test_modes_are_kept_in_a_file(tmp_path) -> None:
    path = tmp_path / "modes.npz"
    first = sc.ModalShell(sheet(), 10, cache=path)
    again = sc.ModalShell(sheet(), 10, cache=path)
    assert not first.from_cache
    assert again.from_cache
    np.testing.assert_array_equal(again.shapes, first.shapes)
    np.testing.assert_array_equal(again.step(0.01), first.step(0.01))
    with np.load(path, allow_pickle=False) as kept:
        assert str(kept["fingerprint"]) == first.fingerprint
    # Another number of modes, another model, another pin: another fingerprint.
    free = sheet(clamped=False)
    for shell, count in ((sheet(), 9), (sheet(membrane="springs"), 10), (free, 10)):
        other = sc.ModalShell(shell, count, cache=path)
        assert not other.from_cache
        assert other.fingerprint != first.fingerprint
    path.write_bytes(b"not modes at all")
    assert not sc.ModalShell(sheet(), 10, cache=path).from_cache
    assert sc.ModalShell(sheet(), 10, cache=path).from_cache
