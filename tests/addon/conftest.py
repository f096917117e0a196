"""Fixtures for tests inside Blender as a module; the add-on is loaded as Blender does, as a package with the core."""

import importlib.util
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import make_grid, pin  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FIRST_VERSION = Path(__file__).parent / "kept" / "v0_1_0"


def _package():
    name = "thin_shell"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


package = _package()


@pytest.fixture(scope="session", autouse=True)
def registered():
    package.register()
    yield package
    package.unregister()


@pytest.fixture
def blend(tmp_path):
    """An empty scene saved in a folder of its own; the path of the file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    return path


@pytest.fixture
def sheet(blend):
    """A pinned sheet of 49 vertices in a saved file, frames 1 to 6."""
    obj = make_grid()
    pin(obj, [0, 6])
    return obj


@pytest.fixture
def breaking(blend, monkeypatch):
    """Makes a sheet break by plan when it is baked: `breaking(obj, …)` gives the stand-in for the core."""
    from cracking import Breaking, random_splits
    from thin_shell import shellcore
    from thin_shell.addon.bridge import build
    from thin_shell.addon.bridge.mesh import read
    from thin_shell.addon.cache.splits import Splits

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
    from rich_mesh import rich_dome

    obj = rich_dome()
    for key in list(obj.data.shape_keys.key_blocks)[::-1]:
        obj.shape_key_remove(key)
    obj.location = (0.3, 0.2, 1.0)
    bpy.context.view_layer.update()
    obj.thin_shell.use_fracture = True
    return obj


@pytest.fixture
def second_version(registered, monkeypatch):
    """New shells have another scheme and cap than those of 0.1.0."""
    from thin_shell.addon.properties import versions
    from versioned import SECOND

    monkeypatch.setattr(versions, "CHANGES", {2: SECOND})


@pytest.fixture
def first(registered, tmp_path):
    """The kept file of 0.1.0, open beside its caches: gives its objects."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shutil.copytree(FIRST_VERSION / "thin_shell_cache", tmp_path / "thin_shell_cache")
    shutil.copy(FIRST_VERSION / "scene.blend", tmp_path / "scene.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    return lambda name: bpy.data.objects[name]


@pytest.fixture
def unbaked(first):
    """A shell of that file without its bake, active."""
    from versioned import chosen

    obj = chosen(first("Plain"))
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    return obj
