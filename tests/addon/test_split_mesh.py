"""The mesh of a shell that broke: nothing of the artist's is lost, put on the object and taken off again."""

import bpy
import numpy as np
import pytest
from blender_scenes import make_grid
from cracking import random_splits
from rich_mesh import everything, rich_dome, values_of, weights_of
from thin_shell.addon.bridge.mesh import WELD_MODIFIER, read
from thin_shell.addon.cache import cracks, playback
from thin_shell.addon.cache.split_mesh import corner_targets, split_copy
from thin_shell.addon.cache.splits import Splits


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


def test_ancestors_follow_the_chain():
    splits = Splits(4, np.array([[0, 1, 2]]), np.array([1, 4, 0]), np.array([1, 3, 3]))
    assert splits.ancestors(0).tolist() == [0, 1, 2, 3, 1, 1, 0]
    assert splits.ancestors(1).tolist() == [0, 1, 2, 3, 4, 4, 0]
    assert splits.ancestors(3).tolist() == list(range(7))
    assert splits.parted.tolist() == [3, 1, -1, -1, 1, 3, 3]
    assert splits.on_cracks.tolist() == [True, True, False, False, True, True, True]
