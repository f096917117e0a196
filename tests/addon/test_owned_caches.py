"""Whose a cache is: copies, duplicates, names alike, moved projects. Only its owner may write or delete it."""

import os
import shutil

import bpy
import pytest
from blender_scenes import bake, cache_folder, evaluated, left, make_grid, pin
from thin_shell.addon.bake import identity
from thin_shell.addon.bake.location import may_write, paths_of
from thin_shell.addon.cache.paths import CachePaths, free_name


@pytest.fixture
def shared(sheet, tmp_path):
    """A baked and saved sheet whose cache folder is absolute; its files with their bytes."""
    sheet.thin_shell.cache_folder = str(tmp_path / "caches")
    sheet.thin_shell.keep_strain = True
    bake()
    bpy.ops.wm.save_mainfile()
    return tmp_path / "caches"


def content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def kept(folder, before):
    after = content(folder)
    return {name: after.get(name) for name in before} == before


def opened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    obj = bpy.data.objects["Sheet"]
    bpy.context.view_layer.objects.active = obj
    return obj


@pytest.mark.parametrize("way", ["save as", "save a copy", "copied"])
@pytest.mark.parametrize("what", ["bake", "delete", "remove"])
def test_a_copy_elsewhere_leaves_the_originals_cache(shared, blend, tmp_path, way, what):
    before = content(shared)
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / "scene.blend"
    if way == "copied":
        shutil.copy(blend, copy)
    else:
        bpy.ops.wm.save_as_mainfile(filepath=str(copy), copy=way == "save a copy")
    obj = opened(copy)
    shown = evaluated(obj, 6)
    if what == "bake":
        obj.thin_shell.wind_velocity = (0, 9, 0)
        bake()
        assert abs(evaluated(obj, 6) - shown).max() > 1e-3 and obj.thin_shell.cache_name == "Sheet-2"
    elif what == "delete":
        assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"} and not obj.thin_shell.baked
    else:
        assert bpy.ops.thin_shell.toggle() == {"FINISHED"}
    assert kept(shared, before)
    original = opened(blend)
    assert abs(evaluated(original, 6) - shown).max() < 1e-7 and may_write(original, paths_of(original))


def test_save_as_and_a_saved_copy_keep_the_ids_apart(sheet, tmp_path):
    bpy.ops.wm.save_mainfile()
    first = identity.file_id()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"), copy=True)
    assert identity.file_id() == first and first in bpy.context.scene.thin_shell_file
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "next.blend"))
    second = identity.file_id()
    assert second != first
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "copy.blend"))
    assert identity.file_id() not in (first, second)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "next.blend"))
    assert identity.file_id() == second


def test_a_copy_that_is_never_saved_is_the_same_copy_again(sheet, tmp_path):
    bpy.ops.wm.save_mainfile()
    shutil.copy(bpy.data.filepath, tmp_path / "copy.blend")
    found = []
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "copy.blend"))
        found.append(identity.file_id())
    assert found[0] == found[1]


def test_what_begins_with_a_startup_file_is_another_file(sheet, tmp_path, monkeypatch):
    """A startup file or template made of a saved file: whatever begins with it is nobody's copy."""
    bpy.ops.wm.save_mainfile()
    found = {identity.file_id()}
    monkeypatch.setenv("BLENDER_USER_CONFIG", str(tmp_path))
    bpy.ops.wm.save_homefile()
    for number in range(2):
        bpy.ops.wm.read_homefile()
        found.add(identity.file_id())
        begun = identity.file_id()
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"new_{number}.blend"))
        assert identity.file_id() == begun and bpy.data.objects.get("Sheet")
    assert len(found) == 3


def test_a_moved_project_keeps_its_own(sheet, blend, tmp_path):
    bake()
    bpy.ops.wm.save_mainfile()
    ids = identity.file_id(), identity.shell_id(sheet)
    (tmp_path / "moved").mkdir()
    shutil.move(blend, tmp_path / "moved" / "renamed.blend")
    shutil.move(cache_folder(), tmp_path / "moved" / "thin_shell_cache")
    obj = opened(tmp_path / "moved" / "renamed.blend")
    assert (identity.file_id(), identity.shell_id(obj)) == ids
    bake()
    assert obj.thin_shell.cache_name == "Sheet"
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert left() == []


def test_names_that_begin_alike(blend):
    first, second = make_grid("Cloth"), make_grid("Cloth.001")
    for obj in (first, second):
        pin(obj, [0, 6])
        obj.thin_shell.keep_strain = True
        bpy.context.view_layer.objects.active = obj
        bake()
    before = {name: data for name, data in content(cache_folder()).items() if name.startswith("Cloth.001.")}
    assert "Cloth.001.strain.field" in before
    bpy.context.view_layer.objects.active = first
    bpy.ops.thin_shell.delete_bake()
    assert content(cache_folder()) == before


@pytest.mark.parametrize("name", ["Cloth.part", "Cloth.results0", "Cloth.PART"])
def test_names_like_endings_of_ours(blend, name):
    first, second = make_grid("Cloth"), make_grid(name)
    for obj in (first, second):
        pin(obj, [0, 6])
        obj.thin_shell.keep_strain = True
    bpy.context.view_layer.objects.active = second
    bake()
    before = content(cache_folder())
    bpy.context.view_layer.objects.active = first
    bake()
    bpy.ops.thin_shell.delete_bake()
    assert content(cache_folder()) == before


def test_names_that_differ_in_capitals(blend):
    made = [make_grid(name) for name in ("Cloth", "cloth", "Clöth", "Clo\u0308th")]
    for obj in made:
        pin(obj, [0, 6])
        bpy.context.view_layer.objects.active = obj
        bake()
    names = [path.name.casefold() for path in cache_folder().glob("*.pc2")]
    assert len(set(names)) == 4
    import unicodedata

    assert len({unicodedata.normalize("NFC", name) for name in names}) == 4


def test_a_name_in_other_capitals_whose_owner_is_gone(blend):
    """The files of a shell that is no more keep their name, also from one that was given it in other capitals."""
    first = make_grid("Cloth")
    pin(first, [0, 6])
    bake()
    before = content(cache_folder())
    first.thin_shell.enabled, first.thin_shell.cache_name = False, ""
    second = make_grid("cloth")
    pin(second, [0, 6])
    second.thin_shell.cache_name = "cloth"
    bake()
    assert kept(cache_folder(), before)
    assert len({name.casefold() for name in left()}) == len(left())


def test_a_disk_that_ignores_case(blend, monkeypatch):
    """On such a disk `cloth.json` opens `Cloth.json`: it says whose it is."""
    first, second = make_grid("Cloth"), make_grid("cloth")
    for obj in (first, second):
        pin(obj, [0, 6])
    bpy.context.view_layer.objects.active = first
    bake()
    second.thin_shell.cache_name = "cloth"  # as 0.1.0 would have called it
    for path in list(cache_folder().iterdir()):
        os.link(path, path.with_name(path.name.replace("Cloth", "cloth")))
    before = content(cache_folder())
    bpy.context.view_layer.objects.active = second
    bpy.ops.thin_shell.delete_bake()
    bake()
    assert kept(cache_folder(), before)


def test_a_duplicate_that_takes_the_originals_name(sheet):
    bake()
    before = content(cache_folder())
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    sheet.name = "Zed"
    copy.name = "Sheet"
    assert identity.shell_id(copy) != identity.shell_id(sheet)
    copy.thin_shell.wind_velocity = (0, 9, 0)
    bake()
    assert kept(cache_folder(), before)
    bpy.ops.thin_shell.delete_bake()
    assert kept(cache_folder(), before)
    bpy.context.view_layer.objects.active = sheet
    sheet.select_set(True)
    bpy.ops.thin_shell.delete_bake()
    assert left() == []


def test_an_appended_shell_leaves_its_files_cache(shared, blend, tmp_path):
    before = content(shared)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    with bpy.data.libraries.load(str(blend), link=False) as (_, taken):
        taken.objects = ["Sheet"]
    obj = taken.objects[0]
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.thin_shell.wind_velocity = (0, 9, 0)
    bake()
    assert kept(shared, before) and obj.thin_shell.cache_name == "Sheet-2"
    for _ in range(2):
        assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert kept(shared, before)


def test_a_shell_appended_from_a_copy_is_another_one(sheet, blend, tmp_path):
    """It comes with the shell id of the one that is here, and may even take its name."""
    bake()
    bpy.ops.wm.save_mainfile()
    before = content(cache_folder())
    shutil.copy(blend, tmp_path / "copy.blend")
    with bpy.data.libraries.load(str(tmp_path / "copy.blend"), link=False) as (_, taken):
        taken.objects = ["Sheet"]
    obj = taken.objects[0]
    bpy.context.collection.objects.link(obj)
    sheet.name, obj.name = "Zed", "Sheet"
    bpy.context.view_layer.objects.active = obj
    obj.thin_shell.wind_velocity = (0, 9, 0)
    bake()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    original = bpy.data.objects["Zed"]
    assert kept(cache_folder(), before) and may_write(original, paths_of(original))
    assert paths_of(bpy.data.objects["Sheet"]).name == "Sheet-2"


def test_an_appended_scene_does_not_take_the_files_place(sheet, blend, tmp_path):
    bpy.ops.wm.save_mainfile()
    other = tmp_path / "other.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(other), copy=True)
    mine = identity.file_id()
    with bpy.data.libraries.load(str(other), link=False) as (source, target):
        target.scenes = source.scenes
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert identity.file_id() == mine


def test_free_names(tmp_path):
    for name in ("Sheet.pc2", "sheet-2.json", "Sheet.001.strain.field"):
        (tmp_path / name).write_bytes(b"")
    assert free_name(tmp_path, "Sheet", set()) == "Sheet-3"
    assert free_name(tmp_path, "Sheet.001", set()) == "Sheet.001-2"
    assert free_name(tmp_path, "Other", {"OTHER"}) == "Other-2"
    assert [path.name for path in CachePaths(tmp_path, "Sheet").all()] == ["Sheet.pc2"]
