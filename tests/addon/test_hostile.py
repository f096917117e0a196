"""Caches, sidecars, states and presets from anybody: words, nothing executed, no memory blown, nothing overwritten."""

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, failure
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thin_shell.addon import presets
from thin_shell.addon.bake.status import status
from thin_shell.addon.cache import fields, paths, pc2, sidecar, state
from thin_shell.addon.cache.files import CacheError
from thin_shell.addon.errors import UserError

ANY = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
TRAP = b"cos\nsystem\n(S'touch /tmp/thin_shell_was_executed'\ntR."


def small_memory(read, path, most=4 << 20):
    """The fault a reader raises, with a bound on what it allocated on the way."""
    tracemalloc.start()
    try:
        with pytest.raises((CacheError, UserError)) as caught:
            read(path)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
    assert not os.path.exists("/tmp/thin_shell_was_executed")
    return str(caught.value)


def header(points=4, samples=2, magic=pc2.MAGIC, version=1, start=1.0):
    return struct.pack("<12siiffi", magic, version, points, start, 1.0, samples)


def read_points(path):
    with pc2.Reader(path) as reader:
        reader.sample(0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "too short"),
        (header()[:31], "too short"),
        (header(magic=b"POINTCACHE3\0"), "not a PC2"),
        (header(version=7), "not a PC2"),
        (header(points=2_000_000_000, samples=2_000_000_000), "cut short"),
        (header(points=2**31 - 1, samples=1) + b"\0" * 64, "cut short"),
        (header(points=-5), "damaged"),
        (header(points=0), "damaged"),
        (header(samples=-1), "damaged"),
        (header(start=float("nan")), "damaged"),
        (header() + b"\0" * 95, "cut short"),
        (TRAP * 10, "not a PC2"),
    ],
)
def test_point_caches(tmp_path, content, said):
    path = tmp_path / "a.pc2"
    path.write_bytes(content)
    assert said in small_memory(read_points, path)
    assert path.read_bytes() == content


@ANY
@given(st.binary(max_size=200))
def test_fuzzed_point_caches(tmp_path, content):
    path = tmp_path / "a.pc2"
    path.write_bytes(pc2.MAGIC + content)
    try:
        with pc2.Reader(path) as reader:
            assert reader.header.samples * 12 * reader.header.points <= len(content)
            for index in range(min(reader.header.samples, 3)):
                reader.sample(index)
    except CacheError:
        pass


GOOD = {"format": sidecar.FORMAT, "version": 1, "object": "A", "points": 4, "start": 1, "end": 3, "samples": 2}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "other"}, "does not describe"),
        ({"version": 99}, "another version"),
        ({"points": 10**18}, "damaged"),
        ({"points": "4"}, "damaged"),
        ({"samples": 4_000_000_000}, "damaged"),
        ({"samples": 3_0}, "damaged"),
        ({"group": ["../../etc/passwd"]}, "damaged"),
        ({"group": "A"}, "damaged"),
        ({"fields": ["a/b"]}, "damaged"),
        ({"fps": "fast"}, "damaged"),
        ({"complete": 1}, "damaged"),
        ({"object": None}, "damaged"),
        ({"stats": [1]}, "damaged"),
    ],
)
def test_sidecars(tmp_path, changes, said):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(GOOD))
    assert sidecar.read(path).points == 4
    path.write_text(json.dumps({**GOOD, **changes}))
    assert said in small_memory(sidecar.read, path)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 100_000, b"\xff\xfe", TRAP, b"0" * (2 << 20), b'{"format": NaN}', b"[]"]
)
def test_broken_sidecars(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    small_memory(sidecar.read, path, 8 << 20)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@ANY
@given(st.dictionaries(st.sampled_from(sorted(sidecar.Sidecar.__dataclass_fields__)), JSON))
def test_fuzzed_sidecars(tmp_path, changes):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**GOOD, **changes}))
    try:
        info = sidecar.read(path)
    except CacheError:
        return
    assert 0 < info.points < 2**31 and 0 <= info.samples <= info.end - info.start + 1


def npz(**members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return made.getvalue()


def array_header(shape, dtype="<f8"):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def packed_bomb():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("state_positions.npy", array_header((50_000_000,)) + b"\0" * 50_000_000)
    return made.getvalue()


def object_array():
    made = io.BytesIO()
    np.save(made, np.array([print], dtype=object), allow_pickle=True)
    return made.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 nothing",
        TRAP,
        pickle.dumps({"a": 1}),
        npz(),
        npz(frame=TRAP, fingerprint=TRAP),
        npz(frame=object_array(), fingerprint=object_array()),
        npz(state_positions=array_header((4_000_000_000, 3))),
        npz(state_positions=array_header((-4, 3))),
        npz(state_positions=array_header((2,), "|O") + TRAP),
        packed_bomb(),
        npz(**{"../../escape": array_header((0,))}),
    ],
)
def test_states(tmp_path, content):
    path = tmp_path / "a.state.npz"
    path.write_bytes(content)
    assert "start a new bake" in small_memory(state.load, path, 8 << 20)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.state.npz"]


def test_states_come_back(tmp_path):
    path = tmp_path / "a.state.npz"
    saved = {
        "time": 0.25,
        "positions": np.random.default_rng(1).normal(size=(7, 3)),
        "factor_data": np.zeros((0, 0, 3)),
    }
    state.save(path, saved, 9, "mark")
    read, frame, mark = state.load(path)
    assert frame == 9 and mark == "mark" and read["time"] == 0.25
    assert (read["positions"] == saved["positions"]).all() and read["factor_data"].shape == (0, 0, 3)
    with pytest.raises(CacheError, match="not numbers"):
        state.save(path, {"bad": np.array([print], dtype=object)}, 1, "")


@ANY
@given(st.binary(min_size=1, max_size=40), st.integers(0, 600))
def test_fuzzed_states(tmp_path, noise, place):
    path = tmp_path / "a.state.npz"
    state.save(path, {"time": 0.5, "positions": np.zeros((2, 3))}, 3, "x")
    data = bytearray(path.read_bytes())
    data[place : place + len(noise)] = noise
    path.write_bytes(bytes(data))
    try:
        state.load(path)
    except CacheError:
        pass


@ANY
@given(st.binary(max_size=80))
def test_fuzzed_fields(tmp_path, content):
    path = tmp_path / "a.strain.field"
    path.write_bytes(fields.MAGIC + content)
    try:
        fields.read_sample(path, 0)
    except CacheError:
        pass


@pytest.mark.parametrize(
    "name", ["../up", "/etc/passwd", "a/b", "a\\b", "..", "", "a\0b", "x" * 300, "C:evil", " lead"]
)
def test_names_stay_in_the_folder(tmp_path, name):
    with pytest.raises(CacheError):
        paths.checked(tmp_path, name)
    safe = paths.safe_name(name)
    assert (tmp_path / f"{safe}.pc2").resolve().parent == tmp_path.resolve()


def test_a_hostile_blend_cannot_write_or_delete_elsewhere(sheet, tmp_path):
    victim = tmp_path / "victim.pc2"
    victim.write_bytes(b"precious")
    (tmp_path / "victim.json").write_text("precious")
    sheet.thin_shell.cache_name = "../victim"
    bake()
    assert sheet.thin_shell.cache_name == "Sheet"
    sheet.thin_shell.cache_name = "../victim"
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert victim.read_bytes() == b"precious" and (tmp_path / "victim.json").read_text() == "precious"


def test_links_are_not_followed(sheet, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    cache_folder().mkdir()
    for name in ("Sheet.pc2.part", "Sheet.part.json.new"):
        (cache_folder() / name).symlink_to(victim)
        assert "link" in failure(bpy.ops.thin_shell.bake), name
        assert victim.read_bytes() == b"precious"
        (cache_folder() / name).unlink()
    bake()
    real = cache_folder() / "Sheet.pc2"
    copy = tmp_path / "elsewhere.pc2"
    real.rename(copy)
    before = copy.read_bytes()
    real.symlink_to(copy)
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BROKEN"
    assert "link" in failure(bpy.ops.thin_shell.bake)
    assert copy.read_bytes() == before
    bpy.ops.thin_shell.delete_bake()
    assert copy.read_bytes() == before


def test_something_else_is_not_overwritten(sheet):
    bake()
    path = cache_folder() / "Sheet.pc2"
    path.write_bytes(b"the only copy of my novel")
    assert "will not be overwritten" in failure(bpy.ops.thin_shell.bake)
    assert path.read_bytes() == b"the only copy of my novel"
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BROKEN"


def test_damaged_state_is_said_on_resume(sheet):
    from thin_shell.addon.bake.job import Job
    from thin_shell.addon.bake.order import Order

    job = Job(Order(bpy.context.scene.name, ("Sheet",), 6))
    for report in job.run():
        job.stop = report.frame > 3
    (cache_folder() / "Sheet.state.npz").write_bytes(TRAP)
    assert "start a new bake" in failure(bpy.ops.thin_shell.bake, mode="RESUME")
    bake()


def test_presets(sheet, tmp_path):
    good = presets.save(sheet.thin_shell, "mine", tmp_path)
    assert presets.load(good, tmp_path)["thickness"] == pytest.approx(0.3)
    text = json.loads((tmp_path / "mine.json").read_text())
    for changes in (
        {"thickness": float("nan")}, {"thickness": "1"}, {"thickness": 1e300}, {"extra": 1}, {"shear_auto": 1},
        {"format": "x"}, {"poisson": None},
    ):  # fmt: skip
        (tmp_path / "bad.json").write_text(json.dumps({**text, **changes}))
        small_memory(lambda _: presets.load("bad", tmp_path), None)
    for content in (b"import os", TRAP, b"[" * 100_000, b"1" * 100_000, b""):
        (tmp_path / "bad.json").write_bytes(content)
        small_memory(lambda _: presets.load("bad", tmp_path), None, 8 << 20)
    with pytest.raises(UserError):
        presets.load("../mine", tmp_path)
    (tmp_path / "link.json").symlink_to(tmp_path / "mine.json")
    with pytest.raises(CacheError, match="link"):
        presets.load("link", tmp_path)


def test_no_reader_can_execute():
    """No pickle, eval or exec anywhere in the add-on."""
    import re
    from pathlib import Path

    from thin_shell import addon

    for path in Path(addon.__file__).parent.rglob("*.py"):
        text = path.read_text()
        assert not re.search(r"\b(pickle\.|eval\(|exec\(|allow_pickle=True|__import__)", text), path
