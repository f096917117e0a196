"""What the add-on costs beside the core, within one run; memory of a long cache; ticks short enough for a window."""

import time
import tracemalloc

import bpy
import numpy as np
import pytest
from blender_scenes import make_grid, pin
from thin_shell.addon.bake import session
from thin_shell.addon.bake.order import Order
from thin_shell.addon.cache import pc2

TICK = 0.04
"""As long as a core that hands back soon lets us work [s]."""


def test_overhead_and_ticks_at_6400_vertices(blend):
    sheet = make_grid(cells=80)
    pin(sheet, [0, 80])
    run = session.Session([Order(bpy.context.scene.name, (sheet.name,), 12)])
    ticks = []
    # The thread's own clock: what others do on this machine is no part of a tick.
    began = time.thread_time()
    while not run.advance(TICK):
        ticks.append((time.thread_time() - began, run.shown.stage))
        began = time.thread_time()
    assert run.error is None
    ours = run.jobs[0].stats["handling"] + run.shown.stages["Attaching the result"]
    core = sum(run.shown.stages.values()) - ours
    announced = ("Preparing the solver", "Factoring the matrix")
    longest = max(seconds for seconds, stage in ticks if stage not in announced)
    print(f"overhead {100 * ours / core:.1f}%, longest tick {1000 * longest:.0f} ms")
    assert ours < 0.1 * core
    # 100 ms is the goal; the margin is for slower machines.
    assert longest < 0.2


@pytest.mark.long
def test_a_modal_shell_of_10000_vertices_plays_at_30_frames_a_second(blend):
    leaf = make_grid(cells=99)
    pin(leaf, [100 * row + column for row in range(100) for column in (0, 1)])
    leaf.thin_shell.material_source, leaf.thin_shell.young, leaf.thin_shell.thickness = "SOLID", 100.0, 20.0
    leaf.thin_shell_realtime.motion, leaf.thin_shell_realtime.mode_count = "MODAL", 64
    for vertex in leaf.data.vertices:
        vertex.select = vertex.index % 100 == 99
    assert bpy.ops.thin_shell.handle_add(kind="BOTH") == {"FINISHED"}
    empty = leaf.thin_shell_realtime.handles[0].target
    bpy.context.view_layer.objects.active = leaf
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    seconds = []
    for frame in range(2, 62):
        empty.location.z += 0.01 * np.sin(frame / 5)
        began = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        seconds.append(time.perf_counter() - began)
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    print(f"{1 / np.median(seconds):.0f} frames a second, slowest {1000 * max(seconds):.0f} ms")
    assert np.median(seconds) < 1 / 30


def test_a_long_cache_is_written_in_small_memory(tmp_path):
    frame = np.random.default_rng(1).normal(size=(25_000, 3))
    writer = pc2.Writer(tmp_path / "long.pc2", 25_000, 1)
    writer.append(frame)
    tracemalloc.start()
    for _ in range(249):
        writer.append(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    writer.publish()
    print(f"peak {peak / 1e6:.2f} MB")
    assert peak < 3 * 12 * 25_000
    assert (tmp_path / "long.pc2").stat().st_size == 32 + 250 * 25_000 * 12
