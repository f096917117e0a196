"""Baking shells that break: cracks play from every kind of cache, and results grow with them."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, left, make_grid
from rich_mesh import everything, values_of
from thin_shell.addon import overlay
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status
from thin_shell.addon.bridge.mesh import WELD_MODIFIER
from thin_shell.addon.cache import cracks, pc2


def wanted(obj, core, frame, which=0, start=1):
    """World positions of all points of the end at a frame."""
    x0 = np.array([obj.matrix_world @ v.co for v in obj.thin_shell.whole_mesh.vertices])
    sample = frame - start
    now = core.positions([x0] * len(core.plans), sample)[which] if sample else x0
    return now[core.plans[which].ancestors(sample)]


@pytest.mark.parametrize("target", ["PC2", "SHAPE_KEYS", "ALEMBIC"])
def test_bake_plays_the_cracks(dome, breaking, target):
    core, before = breaking(dome), everything(dome.data)
    whole, plan = dome.data, core.plans[0]
    dome.thin_shell.cache_target = target
    dome.modifiers.new("Subsurf", "SUBSURF").levels = 0
    bake()
    assert dome.thin_shell.baked_target == target and dome.data != whole
    assert [m.name for m in dome.modifiers if m.name != "Thin Shell Alembic"] == [
        "Thin Shell",
        WELD_MODIFIER,
        "Subsurf",
    ]
    assert status(dome, bpy.context.scene, fresh=True).kind == "BAKED"
    for frame in (1, 2, 3, 4, 6):
        # Welded, each frame has the vertices the core had then.
        assert len(evaluated(dome, frame)) == plan.alive(frame - 1), frame
    dome.thin_shell.weld_seams = False
    for frame in (1, 3, 6):
        assert np.abs(evaluated(dome, frame) - wanted(dome, core, frame)).max() < 1e-6
    dome.thin_shell.weld_seams = True
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert dome.data == whole and everything(whole) == before
    assert [m.name for m in dome.modifiers] == ["Thin Shell", "Subsurf"] and left() == []
    assert len(bpy.data.meshes) == 1


@pytest.mark.parametrize("stop_at", [1, 3, 5])
def test_stopped_and_resumed(dome, breaking, stop_at):
    core = breaking(dome)
    for name in ("strain", "velocity"):
        setattr(dome.thin_shell, f"keep_{name}", True)
    bake()
    expected = {p.name: p.read_bytes() for p in cache_folder().iterdir() if p.suffix in (".pc2", ".field")}
    assert {"Dome.pc2", "Dome.strain.field", "Dome.velocity.field"} <= set(expected)
    bpy.ops.thin_shell.delete_bake()
    job = Job(Order(bpy.context.scene.name, ("Dome",), 6))
    for report in job.run():
        job.stop = report.stage == "Frame" and report.frame >= stop_at
    assert job.error is None and job.published and not job.complete
    assert status(dome, bpy.context.scene, fresh=True).kind == "PARTIAL"
    assert len(dome.data.vertices) == core.plans[0].alive(job.done - 1)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Dome"]
    bpy.context.view_layer.objects.active = obj
    bake(mode="RESUME")
    assert len(obj.data.vertices) == core.plans[0].total
    assert {p.name: p.read_bytes() for p in cache_folder().iterdir() if p.suffix in (".pc2", ".field")} == expected
    assert not (cache_folder() / "Dome.spool").exists()
    assert [m.name for m in bpy.data.meshes if m.name.startswith("Dome ")].count("Dome cracked") == 1


def test_copies_sit_on_each_other_to_the_bit_until_they_part(dome, breaking):
    plan = breaking(dome).plans[0]
    dome.rotation_euler, dome.scale = (0.3, 0.2, 0.1), (1.0, 2.0, 0.7)
    bake()
    with pc2.Reader(cache_folder() / "Dome.pc2") as reader:
        assert reader.header.points == plan.total
        for sample in range(6):
            x = reader.sample(sample)
            assert np.array_equal(x, x[plan.ancestors(sample)])
            if sample:  # nothing is born in the first
                born = np.flatnonzero(plan.births <= sample) + plan.originals
                assert (np.abs(x[born] - x[plan.parents[born - plan.originals]]).max(axis=1) > 0).all()


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_open_cracks_stay_open_at_any_scale(dome, breaking, scale):
    """Local coordinates a thousand times smaller or larger than the world's."""
    for vert in dome.data.vertices:
        vert.co *= scale
    dome.scale = (1 / scale,) * 3
    dome.data.update()
    plan = breaking(dome).plans[0]
    bake()
    assert [len(evaluated(dome, frame)) for frame in (1, 2, 4, 6)] == [plan.alive(s) for s in (0, 1, 3, 5)]


def test_results_grow_with_the_cracks(dome, breaking):
    plan = breaking(dome).plans[0]
    for name in ("strain", "velocity", "contact", "damage"):
        setattr(dome.thin_shell, f"keep_{name}", True)
    bake()
    bpy.context.scene.frame_set(3)
    found = dome.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len(found.vertices) == plan.alive(2)
    assert values_of(found.attributes["thin_shell_strain"]) == pytest.approx(0.5)
    dome.thin_shell.weld_seams = False
    found = dome.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    contact = values_of(found.attributes["thin_shell_contact"]).ravel()
    assert np.array_equal(contact, plan.ancestors(2))
    dome.thin_shell.weld_seams = True
    assert [m.name for m in dome.modifiers] == ["Thin Shell", "Thin Shell Results", WELD_MODIFIER]
    dome.thin_shell.show_result = "damage"
    positions, faces, colours = overlay.coloured(dome, 6)
    assert len(positions) == len(colours) == plan.total and faces.max() == plan.total - 1
    assert cracks.take_off(dome) == ""


def test_two_shells_of_which_one_breaks(dome, breaking):
    sheet = make_grid("Aside", location=(4, 0, 1))
    for obj in (dome, sheet):
        obj.thin_shell.frame_end = 6
    core = breaking(sheet, dome)
    bake(everything=True)
    assert len(sheet.data.vertices) == 49 and WELD_MODIFIER not in sheet.modifiers
    assert len(dome.data.vertices) == core.plans[1].total
    dome.thin_shell.weld_seams = False
    assert np.abs(evaluated(dome, 6) - wanted(dome, core, 6, which=1)).max() < 1e-6


def test_nothing_broke(dome, breaking):
    breaking(dome, share=0.0)
    whole = dome.data
    bake()
    assert dome.data == whole and WELD_MODIFIER not in dome.modifiers and dome.thin_shell.whole_mesh is None
