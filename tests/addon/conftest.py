"""Fixtures for tests inside Blender as a module; the add-on is loaded as Blender does, as a package with the core."""

import importlib.util
import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import make_grid, pin  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


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
