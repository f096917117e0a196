"""Shells that break, in Blender: one cut mesh, nothing of the artist's lost, no seam before the break."""

import bmesh
import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, make_grid
from cracking import Breaking, random_splits
from thin_shell import shellcore
from thin_shell.addon import overlay
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status
from thin_shell.addon.bridge.mesh import WELD_MODIFIER, read
from thin_shell.addon.cache import cracks, pc2, playback
from thin_shell.addon.cache.split_mesh import corner_targets, split_copy
from thin_shell.addon.cache.splits import Splits
from thin_shell.addon.errors import UserError

FLOATS = {"FLOAT": 1, "FLOAT2": 2, "FLOAT_VECTOR": 3, "FLOAT_COLOR": 4, "BYTE_COLOR": 4}


def rich_dome():
    """Quads, triangles and n-gons with one of everything a mesh can carry."""
    obj = make_grid("Dome", cells=12)
    mesh = obj.data
    edited = bmesh.new()
    edited.from_mesh(mesh)
    edited.verts.ensure_lookup_table()
    for vert in edited.verts:
        vert.co.z = 0.6 * np.cos(vert.co.x) * np.cos(vert.co.y)
    bmesh.ops.dissolve_verts(edited, verts=[edited.verts[45], edited.verts[109]])
    bmesh.ops.triangulate(edited, faces=[f for f in edited.faces if f.calc_center_median().x < -0.5])
    edited.to_mesh(mesh)
    edited.free()
    mesh.uv_layers.new(name="UVMap")
    random = np.random.default_rng(3)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Tall")
    for point in key.data:
        point.co.z *= 1.5
    for name, share in (("Left", 0.5), ("Right", 0.3)):
        group = obj.vertex_groups.new(name=name)
        for v in np.flatnonzero(random.random(len(mesh.vertices)) < share):
            group.add([int(v)], float(random.random()), "REPLACE")
    for index in range(2):
        mesh.materials.append(bpy.data.materials.new(f"Material {index}"))
    mesh.polygons.foreach_set("material_index", random.integers(0, 2, len(mesh.polygons)).astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", random.random(len(mesh.polygons)) < 0.8)
    for kind, width in FLOATS.items():
        for domain, items in (("POINT", mesh.vertices), ("CORNER", mesh.loops), ("FACE", mesh.polygons)):
            values = random.random(width * len(items)).astype(np.float32)
            layer = mesh.attributes.new(f"{domain} {kind}", kind, domain)
            layer.data.foreach_set({1: "value", 4: "color"}.get(width, "vector"), values)
    for name, kind in (("sharp_edge", "BOOLEAN"), ("crease_edge", "FLOAT"), ("own", "INT")):
        layer = mesh.attributes.get(name) or mesh.attributes.new(name, kind, "EDGE")
        dtype = {"BOOLEAN": bool, "FLOAT": np.float32, "INT": np.int32}[kind]
        layer.data.foreach_set("value", (random.random(len(mesh.edges)) * 4).astype(dtype))
    for edge in list(mesh.edges)[::7]:
        edge.use_seam = True
    mesh["note"] = "kept"
    return obj


def values_of(attribute):
    name, kind, width = cracks.ATTRIBUTE_VALUES[attribute.data_type]
    values = np.empty(width * len(attribute.data), dtype=kind)
    attribute.data.foreach_get(name, values)
    return values.reshape(len(attribute.data), width)


def weights_of(mesh):
    return [sorted((g.group, round(g.weight, 6)) for g in v.groups) for v in mesh.vertices]


def everything(mesh):
    """All of a mesh that can be compared, by name."""
    found = {a.name: values_of(a).tolist() for a in mesh.attributes if not a.name.startswith(".select")}
    found["faces"] = [list(p.vertices) for p in mesh.polygons]
    found["weights"], found["materials"] = weights_of(mesh), [m.name for m in mesh.materials]
    found["seams"] = [e.use_seam for e in mesh.edges]
    if mesh.shape_keys is not None:
        found["keys"] = {k.name: [tuple(p.co) for p in k.data] for k in mesh.shape_keys.key_blocks}
    return found


def ends(mesh):
    return np.array([e.vertices[:] for e in mesh.edges])


@pytest.fixture
def cut(blend):
    """A rich dome, its mesh as it was, its splits, and the cut mesh."""
    obj = rich_dome()
    arrays = read(obj.data)
    splits = random_splits(arrays.faces, len(arrays.positions), stages=3, share=0.06)
    return obj, arrays, splits, split_copy(obj.data, arrays, splits)


def test_every_layer_is_carried_over(cut):
    obj, arrays, splits, made = cut
    whole = obj.data
    assert len(made.vertices) == splits.total > len(whole.vertices)
    source = splits.sources
    corners = np.array([v for p in made.polygons for v in p.vertices])
    # Which corner of which polygon each new corner was: by its polygon and the vertex it came from.
    place = {(p.index, v): i for p in whole.polygons for i, v in zip(p.loop_indices, p.vertices, strict=True)}
    _, moved, cracked = corner_targets(whole, arrays, splits)
    assert cracked.any() and moved.any() and not (cracked | moved).all()
    triangles = np.bincount(arrays.polygons[cracked[arrays.polygons]], minlength=len(whole.polygons))
    parent = np.repeat(np.arange(len(whole.polygons)), np.where(cracked, triangles, 1))
    assert len(parent) == len(made.polygons)
    owner = np.repeat(parent, [len(p.vertices) for p in made.polygons])
    old_corner = np.array([place[int(p), int(source[v])] for p, v in zip(owner, corners, strict=True)])
    gather = {"POINT": source, "CORNER": old_corner, "FACE": parent}
    for attribute in whole.attributes:
        if attribute.domain in gather and not attribute.name.startswith("."):
            values = values_of(made.attributes[attribute.name])
            assert np.array_equal(values, values_of(attribute)[gather[attribute.domain]]), attribute.name
    old_edges = {tuple(sorted(e.vertices)): e.index for e in whole.edges}
    kept = [(e.index, old_edges.get(tuple(sorted(source[v] for v in e.vertices)))) for e in made.edges]
    new, old = (np.array(part) for part in zip(*[pair for pair in kept if pair[1] is not None], strict=True))
    for name in ("sharp_edge", "crease_edge", "own"):
        assert np.array_equal(values_of(made.attributes[name])[new], values_of(whole.attributes[name])[old]), name
    assert [made.edges[i].use_seam for i in new] == [whole.edges[i].use_seam for i in old]
    assert weights_of(made) == [weights_of(whole)[v] for v in source]
    for key in whole.shape_keys.key_blocks:
        copied = np.array([p.co for p in made.shape_keys.key_blocks[key.name].data])
        assert np.array_equal(copied, np.array([p.co for p in key.data])[source])
    assert [m.name for m in made.materials] == ["Material 0", "Material 1"] and made["note"] == "kept"


def test_faces_are_those_of_the_simulation_and_uncracked_polygons_stay(cut):
    obj, arrays, splits, made = cut
    _, _, cracked = corner_targets(obj.data, arrays, splits)
    whole = [len(p.vertices) for p in obj.data.polygons]
    wanted = sorted(n for n, broken in zip(whole, cracked, strict=True) if not broken) + [3] * int(
        cracked[arrays.polygons].sum()
    )
    assert sorted(len(p.vertices) for p in made.polygons) == sorted(wanted)
    # Every triangle of the simulation lies in a polygon of the same vertices.
    polygons = [set(p.vertices) for p in made.polygons]
    counted = np.repeat(np.arange(len(whole)), np.where(cracked, np.bincount(arrays.polygons), 1))
    by_parent = {}
    for polygon, parent in zip(polygons, counted, strict=True):
        by_parent.setdefault(int(parent), []).append(polygon)
    for triangle, parent in zip(splits.faces.tolist(), arrays.polygons.tolist(), strict=True):
        assert any(set(triangle) <= polygon for polygon in by_parent[parent])
    assert not made.validate()
    # No edge without a face was left behind.
    assert len(made.edges) == len({tuple(sorted(k)) for p in made.polygons for k in p.edge_keys})


def test_loose_seams_stay(blend):
    obj = make_grid(cells=3)
    mesh = obj.data
    mesh.edges.add(1)
    mesh.edges[len(mesh.edges) - 1].vertices = (0, 15)
    arrays = read(mesh)
    assert len(arrays.loose_edges) == 1
    splits = random_splits(arrays.faces, 16, 1, 0.5)
    made = split_copy(mesh, arrays, splits)
    assert (0, 15) in {tuple(e.vertices) for e in made.edges}


def test_put_on_and_taken_off_nothing_is_lost(cut):
    obj, arrays, splits, made = cut
    bpy.data.meshes.remove(made)
    before, name = everything(obj.data), obj.data.name
    whole = obj.data
    cracks.put_on(obj, arrays, splits, 1)
    assert obj.data != whole and len(obj.data.vertices) == splits.total
    assert obj.modifiers.find(WELD_MODIFIER) == obj.modifiers.find("Thin Shell") + 1
    assert [g.name for g in obj.vertex_groups] == ["Left", "Right", cracks.GROUP]
    frames = values_of(obj.data.attributes[cracks.CRACK_FRAME]).ravel()
    on_crack = np.array([len(obj.vertex_groups) - 1 in {g.group for g in v.groups} for v in obj.data.vertices])
    assert (frames[~on_crack] == cracks.NEVER).all() and set(frames[on_crack]) == {2.0, 3.0, 4.0}
    assert playback.stop(obj) == ""
    assert obj.data == whole and obj.data.name == name and everything(obj.data) == before
    assert [g.name for g in obj.vertex_groups] == ["Left", "Right"]
    assert [m.name for m in obj.modifiers] == ["Thin Shell"] and len(bpy.data.meshes) == 1


def test_an_edited_cut_mesh_is_kept_and_new_materials_come_back(cut):
    obj, arrays, splits, made = cut
    bpy.data.meshes.remove(made)
    cracks.put_on(obj, arrays, splits, 1)
    obj.data.materials[1] = bpy.data.materials.new("Chosen later")
    assert cracks.take_off(obj) == ""
    assert [m.name for m in obj.data.materials] == ["Material 0", "Chosen later"]
    cracks.put_on(obj, arrays, splits, 1)
    obj.vertex_groups["Left"].add([3], 0.123, "REPLACE")
    assert "edited and stays" in cracks.take_off(obj)
    assert len(bpy.data.meshes) == 2 and len(obj.data.vertices) == splits.originals


def test_a_duplicate_goes_back_to_a_mesh_of_its_own(cut):
    obj, arrays, splits, _ = cut
    whole = obj.data
    cracks.put_on(obj, arrays, splits, 1)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy != obj and len(copy.data.vertices) == splits.total
    cracks.take_off(copy)
    assert copy.data not in (whole, obj.data) and len(copy.data.vertices) == splits.originals
    assert everything(copy.data) == everything(whole)
    cracks.take_off(obj)
    assert obj.data == whole


def test_objects_that_share_a_mesh_share_it_again(cut):
    obj, arrays, splits, _ = cut
    other = bpy.data.objects.new("Other", obj.data)
    bpy.context.collection.objects.link(other)
    other.thin_shell.enabled = True
    for each in (obj, other):
        cracks.put_on(each, arrays, splits, 1)
    assert obj.data != other.data
    for each in (obj, other):
        cracks.take_off(each)
    assert obj.data == other.data


def test_a_duplicate_bakes_apart(dome, breaking):
    breaking(dome)
    whole = dome.data
    bake()
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    bake()
    assert copy.data != dome.data and copy.thin_shell.whole_mesh != whole == dome.thin_shell.whole_mesh
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert copy.mode == "OBJECT" and copy.data != whole and everything(copy.data) == everything(whole)
    assert len(evaluated(dome, 6)) == len(dome.data.vertices)


def test_ancestors_follow_the_chain():
    splits = Splits(4, np.array([[0, 1, 2]]), np.array([1, 4, 0]), np.array([1, 3, 3]))
    assert splits.ancestors(0).tolist() == [0, 1, 2, 3, 1, 1, 0]
    assert splits.ancestors(1).tolist() == [0, 1, 2, 3, 4, 4, 0]
    assert splits.ancestors(3).tolist() == list(range(7))
    assert splits.parted.tolist() == [3, 1, -1, -1, 1, 3, 3]
    assert splits.on_cracks.tolist() == [True, True, False, False, True, True, True]


@pytest.fixture
def breaking(blend, monkeypatch):
    """Makes a sheet break by plan when it is baked: `breaking(obj, …)` gives the stand-in for the core."""
    from thin_shell.addon.bridge import build

    monkeypatch.setattr(build, "fracture", lambda *_: None)

    def plan(*objects, share=0.12, stages=3):
        plans = []
        for obj in objects:
            arrays = read(obj.data)
            obj.thin_shell.frame_end = 6
            count = len(arrays.positions)
            if obj.thin_shell.use_fracture:
                plans.append(random_splits(arrays.faces, count, stages, share, samples=1))
            else:
                plans.append(Splits(count, arrays.faces, np.zeros(0, int), np.zeros(0, int)))
        made = Breaking(plans)
        monkeypatch.setattr(shellcore, "progress", made)
        return made

    return plan


@pytest.fixture
def dome(blend):
    obj = rich_dome()
    for key in list(obj.data.shape_keys.key_blocks)[::-1]:
        obj.shape_key_remove(key)
    obj.location = (0.3, 0.2, 1.0)
    bpy.context.view_layer.update()
    obj.thin_shell.use_fracture = True
    return obj


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
    assert [m.name for m in dome.modifiers] == ["Thin Shell", "Subsurf"] and list(cache_folder().iterdir()) == []
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


def test_baking_again_starts_from_the_whole_mesh(dome, breaking, monkeypatch):
    first = breaking(dome)
    whole = dome.data
    bake()
    assert len(dome.data.vertices) == first.plans[0].total
    dome.thin_shell.unlocked = True
    second = Breaking([random_splits(read(whole).faces, len(whole.vertices), 2, 0.05, seed=9)])
    monkeypatch.setattr(shellcore, "progress", second)
    # Stopped: the older whole result and its mesh stay.
    job = Job(Order(bpy.context.scene.name, ("Dome",), 6))
    for report in job.run():
        job.stop = report.frame > 2
    assert not job.published and len(dome.data.vertices) == first.plans[0].total
    assert len(evaluated(dome, 1)) == len(whole.vertices)
    bake(mode="RESUME")
    assert len(dome.data.vertices) == second.plans[0].total and dome.thin_shell.whole_mesh == whole
    assert len(bpy.data.meshes) == 2


def test_undo_redo_save_and_reload(dome, breaking):
    core = breaking(dome)
    total, count = core.plans[0].total, core.plans[0].originals
    before = everything(dome.data)
    bpy.ops.ed.undo_push(message="before")
    bake()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Dome"]
    assert len(obj.data.vertices) == count and not obj.thin_shell.baked and WELD_MODIFIER not in obj.modifiers
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Dome"]
    assert len(obj.data.vertices) == total and obj.thin_shell.baked
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Dome"]
    assert len(evaluated(obj, 6)) == core.plans[0].alive(5)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert everything(obj.data) == before


def test_make_real_is_the_frames_own_mesh(dome, breaking):
    plan = breaking(dome).plans[0]
    bake()
    bpy.context.scene.frame_set(3)
    for smooth in (True, False):
        dome.thin_shell.weld_seams = smooth
        bpy.context.view_layer.objects.active = dome
        assert bpy.ops.thin_shell.make_real() == {"FINISHED"}
        made = bpy.context.object
        assert len(made.data.vertices) == plan.alive(2)
        assert [g.name for g in made.vertex_groups] == ["Left", "Right"] and not made.modifiers
        assert "CORNER FLOAT2" in made.data.attributes and len(made.data.materials) == 2
        assert dome.thin_shell.weld_seams is smooth


def test_what_cannot_break_is_said_before_the_bake(dome, breaking):
    breaking(dome)
    dome.modifiers.new("Mirror", "MIRROR")
    dome.modifiers.move(1, 0)
    from thin_shell.addon.bridge import yielding

    arrays = read(dome.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
    with pytest.raises(UserError, match="apply it, drag it below"):
        yielding.check_breakable(dome, dome.evaluated_get(bpy.context.evaluated_depsgraph_get()).data, arrays)


def test_a_point_cache_of_another_mesh_is_said(dome, breaking):
    breaking(dome)
    bake()
    cracks.take_off(dome)
    state = status(dome, bpy.context.scene, fresh=True)
    assert state.kind == "BROKEN" and "points" in state.message
