"""Plastic hinges and plastic membranes: return mapping, energy, state."""

import numpy as np
import pytest

import shellcore as sc
from meshes import bumpy, cylinder, grid, unstructured
from shellcore.energies.hinge import hinge_angles
from shellcore.system import System

MATERIAL = sc.Material.solid(young=1e8, poisson=0.3, thickness=1e-3, density=800)
CORNERS = np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 0.0], [-0.08, 0.04, 0.0], [0.09, 0.06, 0.0]])
HINGE = (CORNERS, np.array([[0, 1, 2], [1, 0, 3]]))


def folded(angle):
    """The hinge's right wing turned up about its edge, the left one where it was."""
    points = HINGE[0].copy()
    wing = points[3].copy()
    points[3] = [wing[0] * np.cos(angle), wing[1], wing[0] * np.sin(angle)]
    return points


def curvature_per_angle(shell):
    return 0.1 / shell.areas.sum()


def fold_and_release(bending, top, law, frames=24, release=48, **options):
    """Angles of one hinge folded to `top` over `frames` and let go: at the top and when it has come to rest."""
    shell = sc.Shell(*HINGE, MATERIAL, bending=bending, plasticity=law, **options)
    shell.pin([0, 1, 2])
    hold = sc.Shell(*HINGE, MATERIAL, bending=bending, plasticity=law, **options)
    hold.pin([0, 1, 2])
    hold.pin([3], lambda t: folded(top * min(24 * t / frames, 1.0))[3:])
    top_frame = list(sc.simulate(sc.Scene([hold], gravity=(0, 0, 0)), frames + 2))[-1]
    state = top_frame.state
    free = list(sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), release, resume=state))[-1]
    return tuple(float(hinge_angles(f.positions, shell.hinges)[0]) for f in (top_frame, free)), free


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
@pytest.mark.parametrize(("hardening", "top"), [(0.0, 1.2), (0.5, 1.2), (0.5, -0.9)])
def test_a_folded_hinge_springs_back_by_its_yield_angle(bending, hardening, top):
    law = sc.Plasticity(8.0, hardening)
    (held, free), frame = fold_and_release(bending, top, law)
    per_angle = curvature_per_angle(sc.Shell(*HINGE, MATERIAL))
    plastic = (abs(top) * per_angle - 8.0) / (1.0 + hardening) / per_angle
    assert held == pytest.approx(top, abs=1e-9)
    assert abs(free) == pytest.approx(plastic, abs=2e-5) and np.sign(free) == np.sign(top)
    assert frame.fields["plastic"] == pytest.approx(plastic * per_angle, rel=1e-9)


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
def test_under_yield_it_comes_back_whole(bending):
    per_angle = curvature_per_angle(sc.Shell(*HINGE, MATERIAL))
    (_, free), frame = fold_and_release(bending, 0.99 * 8.0 / per_angle, sc.Plasticity(8.0))
    assert abs(free) < 2e-5
    assert not frame.fields["plastic"].any()


def test_many_small_steps_and_one_large_one_keep_the_same():
    kept = [fold_and_release("hinge", 1.2, sc.Plasticity(8.0, 0.3), frames)[0][1] for frames in (1, 40)]
    assert kept[0] == pytest.approx(kept[1], abs=2e-5)


def test_slow_flow_takes_its_time():
    """Held at an angle, what is over the limit decays as exp(−rate t), whatever the step."""
    for fps in (24, 96):
        shell = sc.Shell(*HINGE, MATERIAL, bending="hinge", plasticity=sc.Plasticity(8.0, rate=3.0), start=folded(1.0))
        shell.pin([0, 1, 2, 3])
        frame = list(sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), fps // 2, fps=fps))[-1]
        over = curvature_per_angle(shell) - 8.0
        assert frame.fields["plastic"] == pytest.approx(over * (1.0 - np.exp(-1.5)), rel=1e-9)


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
@pytest.mark.parametrize("hinge_energy", ["sine", "angle"])
@pytest.mark.parametrize("seed", range(4))
def test_flow_takes_from_the_energy_what_it_says(bending, hinge_energy, seed):
    points, faces = bumpy(unstructured(60, 1.0, 0.7, seed), 0.05, seed)
    law = sc.Plasticity(2.0, hardening=0.2, rate=None if seed % 2 else 5.0, yield_stretch=0.01)
    shell = sc.Shell(points, faces, MATERIAL, bending=bending, plasticity=law, hinge_energy=hinge_energy)
    system = System(sc.Scene([shell]))
    rng = np.random.default_rng(seed)
    x = np.asfortranarray(points + rng.normal(size=points.shape) * 0.02)
    for _ in range(3):
        before = sum(energy.value(x) for energy in system.elastic())
        taken = system.end_step(x, 0.04)
        system._move_rest_angles(0.0)
        after = sum(energy.value(x) for energy in system.elastic())
        assert taken >= 0.0
        assert before - after == pytest.approx(taken, rel=1e-9, abs=1e-12 * before)
    if law.rate is None:
        assert taken <= 1e-9 * before
    flow = system.flows[0]
    assert flow is not None and flow.state.curvature.any() and flow.state.stretch.any()


def test_membrane_yields_at_its_strain_and_keeps_the_rest():
    """A strip pulled by 3% along its length at a yield strain of 1%: 2% stay (Green strain, no hardening)."""
    points, faces = grid(6, 2, 0.3, 0.1)
    material = sc.Material.solid(young=1e8, poisson=0.0, thickness=1e-3, density=800)
    shell = sc.Shell(points, faces, material, plasticity=sc.Plasticity(1e6, yield_stretch=0.01))
    system = System(sc.Scene([shell]))
    strain = 0.03
    x = np.asfortranarray(points * np.array([np.sqrt(1.0 + 2.0 * strain), 1.0, 1.0]))
    assert system.end_step(x, 0.1) > 0.0
    flow = system.flows[0]
    assert flow is not None
    assert flow.state.strain[0] == pytest.approx(0.02, rel=1e-12)
    assert flow.state.strain[1:] == pytest.approx(0.0, abs=1e-15)


def test_a_free_sheet_never_gains_energy():
    points, faces = cylinder(12, 6, 0.1, 0.2)
    law = sc.Plasticity(3.0, yield_stretch=0.002)
    rng = np.random.default_rng(0)
    shell = sc.Shell(points, faces, MATERIAL, plasticity=law, velocities=rng.normal(size=points.shape))
    scene = sc.Scene([shell], gravity=(0, 0, 0))
    system = System(scene)

    def energy(frame):
        flow = system.flows[0]
        flow.restore(type(flow.state)(**{k: frame.state[f"plastic_0_{k}"] for k in vars(flow.state)}))
        system._move_rest_angles(frame.time)
        kinetic = 0.5 * float(system.mass @ (frame.velocities**2).sum(axis=1))
        return kinetic + sum(part.value(np.asfortranarray(frame.positions)) for part in system.elastic())

    frames = list(sc.simulate(scene, 12, fps=240, tolerance=1e-8))
    energies = np.array([energy(frame) for frame in frames])
    lost = np.array([frame.stats["dissipated"] for frame in frames])
    assert (lost >= 0.0).all() and lost.sum() > 0.0
    assert (np.diff(energies) <= -lost[1:] + 1e-9 * energies[0]).all()


def test_plastic_state_resumes_with_identical_bytes():
    def scene():
        points, faces = cylinder(12, 6, 0.1, 0.2)
        law = sc.Plasticity(3.0, hardening=0.1, rate=20.0, yield_stretch=0.002)
        shell = sc.Shell(points, faces, MATERIAL, plasticity=law)
        shell.pin(np.flatnonzero(points[:, 2] < 1e-9))
        shell.load(np.flatnonzero(points[:, 2] > 0.2 - 1e-9), (3.0, 0.0, -3.0))
        return sc.Scene([shell])

    whole = list(sc.simulate(scene(), 6, substeps=2))
    assert whole[2].fields["plastic"].any()
    rest = list(sc.simulate(scene(), 3, substeps=2, resume=whole[2].state))
    assert rest[-1].positions.tobytes() == whole[-1].positions.tobytes()
    assert rest[-1].fields["plastic"].tobytes() == whole[-1].fields["plastic"].tobytes()
    broken = dict(whole[2].state)
    broken.pop("plastic_0_angles")
    with pytest.raises(sc.ShellError, match="plastic angles of shell 0"):
        list(sc.simulate(scene(), 1, resume=broken))


def test_presets_name_their_sources():
    assert set(sc.Plasticity.presets()) >= {"paper", "aluminium_foil", "can_wall"}
    assert all(sc.Plasticity.presets().values())
    can = sc.Plasticity.preset("can_wall")
    assert float(can.yield_curvature) == pytest.approx(3 * 2.8e8 * (1 - 0.33**2) / (70e9 * 1e-4), rel=5e-3)
    with pytest.raises(sc.ShellError, match="no yield is known for preset 'rubber'"):
        sc.Plasticity.preset("rubber")


def test_bad_plasticity_is_refused():
    mesh = grid(3, 3, 1.0, 1.0)
    for arguments in ({"yield_curvature": 0.0}, {"yield_curvature": 1.0, "hardening": -1.0}):
        with pytest.raises(sc.ShellError, match="plasticity"):
            sc.Plasticity(**arguments)
    with pytest.raises(sc.ShellError, match="rate"):
        sc.Plasticity(1.0, rate=0.0)
    for bending in ("quadratic", "subdivision"):
        with pytest.raises(sc.ShellError, match=r"plasticity.*'hinge' or 'cubic'"):
            sc.Shell(*mesh, MATERIAL, bending=bending, plasticity=sc.Plasticity(1.0))
    with pytest.raises(sc.ShellError, match="yield_stretch changes the rest metric of membrane='fem'"):
        sc.Shell(*mesh, MATERIAL, membrane="springs", plasticity=sc.Plasticity(1.0, yield_stretch=0.1))
    with pytest.raises(sc.ShellError, match="plasticity yield_curvature must be one number or 18"):
        sc.Shell(*mesh, MATERIAL, plasticity=sc.Plasticity(np.ones(5)))
