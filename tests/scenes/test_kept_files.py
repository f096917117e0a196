"""What is kept in the repository, .blend files, strips and the gallery's page, is that of the scenes as they are."""

import json
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

import sample_scenes  # noqa: E402
from sample_scenes import blends, run  # noqa: E402
from sample_scenes.kit import addon, marks, objects, table  # noqa: E402
from sample_scenes.kit.card import Size  # noqa: E402

GALLERY = Path(run.__file__).resolve().parent.parent / "docs" / "gallery"


def plain(value):
    """A setting as something to compare: arrays as tuples, numbers as single precision keeps them, names of objects."""
    if isinstance(value, float):
        return round(value, 6)
    if hasattr(value, "name"):
        return value.name
    return tuple(plain(part) for part in value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def told():
    """Every setting of every shell that is not its default, and its mesh, by name."""
    found = {}
    for obj in objects.shells():
        settings = obj.thin_shell
        named = [prop.identifier for prop in settings.bl_rna.properties if settings.is_property_set(prop.identifier)]
        kept = {name: plain(getattr(settings, name)) for name in named if name not in ("uid", "cache_id", "shell_id")}
        mesh = [tuple(round(c, 5) for c in vertex.co) for vertex in obj.data.vertices]
        found[obj.name] = (kept, tuple(round(c, 5) for row in obj.matrix_world for c in row), mesh)
    return found, (bpy.context.scene.frame_end, bpy.context.scene.render.fps)


@pytest.mark.parametrize("name", blends.KEPT)
def test_the_file_has_the_settings_of_its_scene(name, tmp_path):
    addon.load()
    bpy.ops.wm.open_mainfile(filepath=str(blends.FOLDER / f"{name}.blend"))
    filed = told()
    objects.empty_scene(str(tmp_path / "scene.blend"), 2)
    run.module(name).build(Size(full=False))
    bpy.context.view_layer.update()
    assert filed == told()


@pytest.mark.parametrize("name", sample_scenes.SCENES)
def test_the_strip_is_of_the_scene_as_it_is(name):
    fact = json.loads((GALLERY / "facts.json").read_text(encoding="utf-8"))[name]
    strip = GALLERY / f"{name}.jpg"
    assert fact["holds"] and fact["scene"] == marks.scene(name), f"make scene NAME={name} FULL=1"
    assert 5_000 < strip.stat().st_size < 200_000


def test_the_page_is_that_of_the_facts_and_docstrings():
    assert (GALLERY / "README.md").read_text(encoding="utf-8") == table.page(sample_scenes.SCENES, GALLERY)
