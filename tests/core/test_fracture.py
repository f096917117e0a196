"""Breaking sheets: what breaks, what is kept across a split, and how a run goes on."""

from itertools import pairwise

import numpy as np
import pytest

import shellcore as sc
from meshes import cylinder, equilateral, fan, grid, icosphere, unstructured
from shellcore.cracks import Cracks
from shellcore.energies.hinge import hinge_angles
from shellcore.system import System

MATERIAL = sc.Material.solid(young=1e9, poisson=0.2, thickness=5e-3, density=1000)


def plate(count=150, seed=0, bending="cubic", law=None, **options):
    points, faces = unstructured(count, 1.0, 1.0, seed=seed)
    return sc.Shell(points, faces, MATERIAL, bending=bending, fracture=law or sc.Fracture(3.0), **options)


def thrown(shell):
    """The shell thrown flat onto a ball."""
    shell.velocities[:, 2] = -5.0
    return sc.Scene([shell], colliders=[sc.Sphere((0.5, 0.5, -0.22), 0.2)])


def momenta(mass, x, v):
    return (mass[:, None] * v).sum(axis=0), (mass[:, None] * np.cross(x, v)).sum(axis=0)


def energy(system, x, v):
    return 0.5 * float(system.mass @ (v**2).sum(axis=1)) + sum(part.value(x) for part in system.elastic())


@pytest.mark.parametrize("membrane", ["fem", "springs"])
@pytest.mark.parametrize("bending", ["hinge", "quadratic", "cubic"])
def test_a_split_keeps_mass_and_momentum_and_gains_no_energy(bending, membrane):
    shell = plate(bending=bending, membrane=membrane)
    scene = sc.Scene([shell], gravity=(0, 0, 0))
    system, cracks = System(scene), Cracks(scene)
    rng = np.random.default_rng(1)
    points = shell.rest_positions
    x = np.asfortranarray(points + np.outer(0.2 * np.sin(4 * points[:, 0]) * np.cos(3 * points[:, 1]), [0, 0, 1]))
    v = rng.normal(size=x.shape)
    for turn in range(3):
        cut = cracks.step(system, x, float(turn))
        assert cut is not None
        ahead, parent, lost = cut
        assert ahead.mass.sum() == pytest.approx(system.mass.sum(), rel=1e-12)
        for before, after in zip(momenta(system.mass, x, v), momenta(ahead.mass, x[parent], v[parent]), strict=True):
            assert np.abs(after - before).max() <= 1e-12 * np.abs(before).max()
        gone = energy(system, x, v) - energy(ahead, np.asfortranarray(x[parent]), v[parent])
        assert gone > 0.0 and gone == pytest.approx(lost, rel=1e-9)
        # The forces of what is left are those it had.
        x, v, system = np.asfortranarray(x[parent] * np.array([1.0, 1.0, 1.3])), v[parent], ahead
    assert cracks.counts()["copies"] > 10


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark", "explicit"])
def test_an_isolated_sheet_keeps_its_momenta_while_it_breaks(integrator):
    shell = plate(80)
    rng = np.random.default_rng(2)
    shell.velocities[:] = 0.3 * rng.normal(size=shell.start.shape)
    shell.velocities[:, 2] += 20.0 * np.cos(5 * shell.start[:, 0]) * np.cos(4 * shell.start[:, 1])
    scene = sc.Scene([shell], gravity=(0, 0, 0))
    before = momenta(shell.mass, shell.start, shell.velocities)
    scale = float((shell.mass * np.linalg.norm(shell.velocities, axis=1)).sum())
    rate = 40_000 if integrator == "explicit" else 400
    frames = list(sc.simulate(scene, 4, fps=100, substeps=rate // 100, integrator=integrator, tolerance=1e-9))
    last = frames[-1]
    assert last.stats["copies"] > 5
    mass = np.bincount(last.faces.ravel(), np.repeat(shell.areas * 5.0 / 3.0, 3))
    after = momenta(mass, last.positions, last.velocities)
    assert np.abs(after[0] - before[0]).max() < 1e-10 * scale
    if integrator != "implicit_euler":
        return
    assert (np.array([frame.stats["dissipated"] for frame in frames]) >= 0.0).all()


def test_frames_say_where_vertices_come_from():
    shell = plate(250)
    frames = list(sc.simulate(thrown(shell), 14, fps=96))
    n = len(shell.rest_positions)
    before = np.arange(n)
    for previous, frame in zip([None, *frames], frames, strict=False):
        assert (frame.source[:n] == np.arange(n)).all() and np.isneginf(frame.birth[:n]).all()
        assert len(frame.source) == len(frame.parent) == len(frame.birth) == len(frame.positions)
        assert (frame.source == before[frame.parent]).all()
        assert (frame.source[frame.faces] == shell.faces).all()
        assert (np.diff(frame.birth[n:]) >= 0).all()
        if previous is not None:
            fresh = frame.birth > previous.time + 1e-9
            assert (np.flatnonzero(fresh) == np.arange(len(previous.positions), len(frame.positions))).all()
            assert (frame.parent[~fresh] == np.flatnonzero(~fresh)).all()
        before = frame.source
    assert frames[-1].stats["copies"] == len(frames[-1].positions) - n > 5
    assert frames[-1].fields["damage"].max() == 1.0 and frames[-1].fields["damage"].shape == (len(shell.faces),)
    assert frames[0].fields["damage"].max() < 1.0
    assert frames[-1].slices == [slice(0, len(frames[-1].positions))]


@pytest.mark.parametrize("substeps, contact", [(1, "penalty"), (3, "exact")])
def test_a_broken_sheet_resumes_with_identical_bytes(substeps, contact):
    def scene():
        law = sc.Plasticity(1.0, hardening=0.1, yield_stretch=0.01)
        shell = plate(110, plasticity=law, damping=sc.Damping(stiffness=1e-4))
        shell.pin([0, 1])
        shell.load([5, 6], (0.0, 0.0, -1.0))
        other = sc.Shell(*grid(3, 3, 0.3, 0.3), MATERIAL, start=grid(3, 3, 0.3, 0.3)[0] + np.array([0.3, 0.3, 0.4]))
        whole = thrown(shell)
        tie = sc.Attach(shell, [50, 51], other, [0, 1])
        return sc.Scene(
            [shell, other], colliders=whole.colliders, attachments=[tie], self_contact=False, contact=contact
        )

    whole = list(sc.simulate(scene(), 10, fps=96, substeps=substeps))
    middle = next(k for k, frame in enumerate(whole) if frame.stats["copies"] > 3)
    assert middle < 8
    rest = list(sc.simulate(scene(), 9 - middle, fps=96, substeps=substeps, resume=whole[middle].state))
    assert rest[-1].positions.tobytes() == whole[-1].positions.tobytes()
    assert (rest[-1].faces == whole[-1].faces).all() and (rest[-1].birth == whole[-1].birth).all()
    for name in whole[-1].fields:
        assert rest[-1].fields[name].tobytes() == whole[-1].fields[name].tobytes()
    lost = {key: value for key, value in whole[middle].state.items() if key != "cut_0_source"}
    with pytest.raises(sc.ShellError, match="cut_0_source"):
        list(sc.simulate(scene(), 1, fps=96, substeps=substeps, resume=lost))


@pytest.mark.parametrize("substeps", [1, 2])
def test_a_factor_from_before_the_cut_serves_on(substeps):
    """A few splits in a large sheet: no new factorisation, the same answer, and identical bytes after a resume."""

    def scene(*, held=True):
        points, faces = grid(40, 40, 1.0, 1.0)
        shell = sc.Shell(points, faces, sc.Material.preset("reference"))
        if held:
            shell.pin([0, 40])
            shell.pin([7], axes=(True, False, False))
        shell.seam([(20, 61), (61, 102)], np.array([0.05, 0.1]))
        return sc.Scene([shell])

    whole = list(sc.simulate(scene(), 8, substeps=substeps))
    assert [frame.stats["copies"] for frame in whole] == [0, 1, 2, 2, 2, 2, 2, 2]
    assert whole[-1].stats["constant_factorisations"] == 1
    rest = list(sc.simulate(scene(), 4, substeps=substeps, resume=whole[3].state))
    assert rest[-1].positions.tobytes() == whole[-1].positions.tobytes()
    loose = sum(frame.stats["iterations"] for frame in whole)
    # The same with factors of its own at every cut.
    fresh, state = [], None
    for _ in range(8):
        frame = next(iter(sc.simulate(scene(), 1, substeps=substeps, resume=state)))
        state = {key: value for key, value in frame.state.items() if not key.startswith("factor_")}
        fresh.append(frame)
    assert loose <= 1.2 * sum(frame.stats["iterations"] for frame in fresh)
    assert np.abs(fresh[-1].positions - whole[-1].positions).max() < 5e-3
    # An edge that breaks without parting.
    inner = sc.Shell(*grid(40, 40, 1.0, 1.0), sc.Material.preset("reference"))
    inner.pin([0, 40])
    inner.seam([(500, 541)], 0.05)
    last = list(sc.simulate(sc.Scene([inner]), 4, substeps=substeps))[-1].stats
    assert (last["broken_edges"], last["parted_edges"], last["copies"], last["constant_factorisations"]) == (1, 0, 0, 1)
    free = list(sc.simulate(scene(held=False), 5, substeps=substeps))
    assert free[-1].stats["constant_factorisations"] == 1 and free[-1].stats["copies"] == 2


def test_pins_loads_and_ties_pass_on_to_the_copies():
    """A seam through a held, loaded and tied vertex: copies share springs and loads by mass, exact pins hold both."""
    points, faces = grid(4, 2, 0.4, 0.2)
    shell = sc.Shell(points, faces, MATERIAL)
    line = [(2, 7), (7, 12)]
    shell.seam(line, 0.0)
    shell.pin([12])
    shell.pin([2, 3], stiffness=np.array([30.0, 10.0]))
    shell.load([2, 7], np.array([[0.0, 0.0, 4.0], [0.0, 0.0, 2.0]]))
    other = sc.Shell(*grid(1, 1, 0.1, 0.1), MATERIAL)
    tie = sc.Attach(shell, [7], other, [0], stiffness=50.0)
    scene = sc.Scene([shell, other], attachments=[tie], gravity=(0, 0, 0))
    system, cracks = System(scene), Cracks(scene)
    cut = cracks.step(system, system.start, 0.5)
    assert cut is not None
    ahead, parent, _ = cut
    assert ahead.visible == system.visible + 3
    source = cracks.source
    now, then = ahead.dead_force(0.0), system.dead_force(0.0)
    for vertex in range(system.visible):
        own = source == vertex
        assert now[own].sum(axis=0) == pytest.approx(then[vertex], abs=1e-12)
    copies = np.flatnonzero(source == 2)
    assert len(copies) == 2
    assert now[copies, 2] / ahead.mass[copies] == pytest.approx(4.0 / system.mass[2])
    assert not ahead.free[source == 12].any() and ahead.free[source != 12].all()
    soft = ahead.holds.pulling(0.0)
    assert soft.weights[copies].sum(axis=0) == pytest.approx(30.0)
    assert soft.targets[copies] == pytest.approx(points[[2, 2]])
    (ties,) = ahead._ties
    held = np.flatnonzero(source == 7)
    stiffness = ties.matrix.toarray()
    assert stiffness[held, held].sum() == pytest.approx(50.0)
    assert (parent[: len(points)] == np.arange(len(points))).all()


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
def test_plastic_state_stays_with_its_hinges(bending):
    shell = plate(120, bending=bending, plasticity=sc.Plasticity(0.5))
    scene = sc.Scene([shell])
    system, cracks = System(scene), Cracks(scene)
    points = shell.rest_positions
    x = np.asfortranarray(points + np.outer(0.2 * np.sin(4 * points[:, 0]), [0, 0, 1]))
    rest = 0.9 * hinge_angles(x, shell.hinges)
    system.end_step(x * np.array([1, 1, 0.9]), 0.1)
    system._move_rest_angles(0.0)
    kept = system.flows[0].state.angles.copy()
    assert kept.any() and rest.any()
    x = np.asfortranarray(x * np.array([1, 1, 2.5]))
    ahead, parent, _ = cracks.step(system, x, 0.0)
    left = cracks.cuts[0].hinges
    assert len(left) < len(shell.hinges)
    assert (ahead.flows[0].state.angles == kept).all()
    assert ahead.bendings[0].angles.rest_angles == pytest.approx(shell.shape_angles[left] + kept[left])
    # Left alone, the cut shell's energies are those of its hinges.
    assert ahead.elastic()[-1].value(np.asfortranarray(x[parent])) < system.elastic()[-1].value(x)


def test_a_recut_energy_is_the_one_built_anew():
    """Cut by cut, with a shell before it that grows as well: the same matrix, bit by bit, as from all cuts at once."""
    shells = [plate(60), plate(90, seed=1)]
    scene = sc.Scene(shells, gravity=(0, 0, 0))
    start = System(scene)
    system, cracks = start, Cracks(scene)
    x = start.start.copy(order="F")
    x[:, 2] = 0.2 * np.sin(4 * x[:, 0]) * np.cos(3 * x[:, 1])
    for turn in range(3):
        cut = cracks.step(system, x, float(turn))
        assert cut is not None
        system, parent, _ = cut
        x = np.asfortranarray(x[parent] * np.array([1.0, 1.0, 1.3]))
    saved = cracks.kept() | {"positions": x}
    fresh = Cracks(scene).restore(saved, start)
    for now, then in zip(system.bendings, fresh.bendings, strict=True):
        for name in ("data", "indices", "indptr"):
            assert (getattr(now.energy.matrix, name) == getattr(then.energy.matrix, name)).all()
    rng = np.random.default_rng(0)
    y = np.asfortranarray(x + 0.01 * rng.normal(size=x.shape))
    for now, then, shell in zip(system.bendings, fresh.bendings, system.scene.shells, strict=True):
        assert now.energy.gradient(y).tobytes() == then.energy.gradient(y).tobytes()
        assert len(shell.hinges) < len(shell.cut.whole.hinges)


def test_seams_open_at_their_time():
    points, faces = grid(6, 2, 0.6, 0.2)
    shell = sc.Shell(points, faces, MATERIAL)
    middle = np.flatnonzero(np.abs(points[:, 0] - 0.3) < 1e-9)
    pairs = [(int(a), int(b)) for a, b in pairwise(middle)]
    shell.seam(pairs, np.array([0.1, 0.2]))
    shell.pin(np.flatnonzero(points[:, 0] < 1e-9))
    frames = list(sc.simulate(sc.Scene([shell]), 12, fps=24))
    copies = [frame.stats["copies"] for frame in frames]
    # The first edge opens at the border it starts from (frame 3), the second takes the middle and the other end along.
    assert copies == [0, 0, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3]
    assert frames[-1].birth[len(points) :] == pytest.approx([3 / 24, 5 / 24, 5 / 24])
    loose = frames[-1].positions[:, 2][frames[-1].source == middle[1]]
    assert np.ptp(loose) > 0.1


def test_grain_and_toughness_set_the_limit():
    points, faces = equilateral(6, 6, 0.1)
    axes = np.tile([1.0, 0.0, 0.0], (len(faces), 1))
    toughness = np.where(points[:, 0] > 0.3, 2.0, 1.0)
    shell = sc.Shell(points, faces, MATERIAL, axes=axes, fracture=sc.Fracture((1.0, 4.0), toughness=toughness))
    law = Cracks(sc.Scene([shell])).laws[0]
    edge = points[shell.hinges[:, 1]] - points[shell.hinges[:, 0]]
    cosine = edge[:, 0] / np.linalg.norm(edge, axis=1)
    mean = toughness[shell.hinges[:, :2]].mean(axis=1)
    assert law._curvature == pytest.approx(mean * (cosine**2 + 4.0 * (1.0 - cosine**2)))


def test_stretch_breaks_what_is_pulled_across():
    points, faces = grid(8, 4, 0.8, 0.4)
    shell = sc.Shell(points, faces, MATERIAL, fracture=sc.Fracture(np.inf, stretch=0.05))
    scene = sc.Scene([shell])
    for pull, breaks in ((1.049, False), (1.051, True), (0.9, False)):
        cracks = Cracks(scene)
        cut = cracks.step(System(scene), np.asfortranarray(points * np.array([pull, 1.0, 1.0])), 0.0)
        assert (cut is not None) == breaks
        if breaks:
            # Edges square to the pull have all of it, diagonals half, edges along it nothing.
            gone = np.setdiff1d(np.arange(len(shell.hinges)), cracks.cuts[0].hinges)
            ends = points[shell.hinges[gone, :2]]
            assert np.ptp(ends[:, :, 0], axis=1) == pytest.approx(0.0, abs=1e-12)
            assert len(gone) == 7 * 4


def test_closed_and_curved_shells_break_too():
    points, faces = icosphere(2, 0.1)
    shell = sc.Shell(points, faces, MATERIAL, pressure=2e4, fracture=sc.Fracture(np.inf, stretch=1e-4))
    frame = list(sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), 4, fps=200))[-1]
    assert frame.stats["copies"] > 0 and np.isfinite(frame.positions).all()
    points, faces = cylinder(16, 8, 0.1, 0.3)
    tube = sc.Shell(
        points, faces, MATERIAL, fracture=sc.Fracture(0.3), velocities=np.tile([0, 0, -8.0], (len(points), 1))
    )
    scene = sc.Scene([tube], colliders=[sc.Plane((0, 0, -0.05), (0, 0.3, 1))])
    frame = list(sc.simulate(scene, 8, fps=200))[-1]
    assert frame.stats["copies"] > 0


def test_copies_in_exact_contact_start_together_and_part():
    points, faces = grid(6, 6, 0.3, 0.3)
    material = sc.Material.solid(young=1e6, poisson=0.2, thickness=2e-3, density=500)
    shell = sc.Shell(points, faces, material)
    middle = np.flatnonzero(np.abs(points[:, 0] - 0.15) < 1e-9)
    shell.seam([(int(a), int(b)) for a, b in pairwise(middle)], 0.05)
    shell.pin(np.flatnonzero(points[:, 0] < 1e-9))
    shell.pin(np.flatnonzero(points[:, 0] > 0.3 - 1e-9), lambda t: points[points[:, 0] > 0.3 - 1e-9] + [0.1 * t, 0, 0])
    scene = sc.Scene([shell], contact="exact")
    frames = list(sc.simulate(scene, 12, fps=24))
    assert frames[-1].stats["copies"] == 7
    assert not frames[0].state["cut_closed"].any()
    assert frames[1].state["cut_closed"].sum() == 14
    # Apart by more than the contact distance they are like any other two sheets.
    twins = [np.flatnonzero(frames[-1].source == k) for k in middle]
    gaps = np.array([np.linalg.norm(np.diff(frames[-1].positions[pair], axis=0)) for pair in twins])
    assert gaps.max() > 2e-3
    assert frames[-1].state["cut_closed"].sum() < 14


def test_bad_fracture_is_refused():
    mesh = fan(6, 2)
    with pytest.raises(sc.ShellError, match="curvature"):
        sc.Fracture(-1.0)
    with pytest.raises(sc.ShellError, match="stretch"):
        sc.Fracture(1.0, stretch=(0.1, 0.0))
    with pytest.raises(sc.ShellError, match=r"toughness.*vertices 1"):
        sc.Fracture(1.0, toughness=np.array([1.0, -1.0]))
    with pytest.raises(sc.ShellError, match="fracture toughness must be one number or 19"):
        sc.Shell(*mesh, MATERIAL, fracture=sc.Fracture(1.0, toughness=np.ones(4)))
    with pytest.raises(sc.ShellError, match="cannot come apart"):
        sc.Shell(*mesh, MATERIAL, bending="subdivision", fracture=sc.Fracture(1.0))
    with pytest.raises(sc.ShellError, match="must be a Fracture"):
        sc.Shell(*mesh, MATERIAL, fracture=1.0)
    shell = sc.Shell(*mesh, MATERIAL)
    with pytest.raises(sc.ShellError, match="border"):
        shell.seam([tuple(int(v) for v in shell.mesh.edges[shell.mesh.boundary_edges[0]])], 1.0)
