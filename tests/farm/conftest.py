"""The add-on is loaded once, as the stand-in for Blender loads it."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy")

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools")]

import blender_module  # noqa: E402

blender_module.load()
