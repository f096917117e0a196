"""What the command is told belongs to the bake, not to the file; what Check calls an error stops it."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, make_grid
from thin_shell.addon import cli
from thin_shell.addon.bake.status import status
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.mesh import inputs_visible
from thin_shell.addon.cache import pc2, sidecar


def reopened(name="Sheet"):
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects[name]
    bpy.context.view_layer.objects.active = obj
    return obj


@pytest.mark.parametrize("kind", ["pc2", "shapekeys", "alembic"])
def test_frames_and_cache_of_the_command_stay_out_of_the_file(sheet, kind):
    sheet.thin_shell.cache_target = "PC2" if kind != "pc2" else "ALEMBIC"
    own = sheet.thin_shell.cache_target
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--start", "3", "--end", "5", "--cache", kind]) == 0
    settings = reopened().thin_shell
    assert (settings.frame_start, settings.frame_end, settings.cache_target) == (1, 6, own)
    assert (settings.baked_start, settings.baked_samples, settings.baked_target) == (3, 3, cli.TARGETS[kind])
    info = sidecar.read(cache_folder() / "Sheet.json")
    assert (info.start, info.end, info.samples, info.complete) == (3, 5, 3, True)
    state = status(settings.id_data, bpy.context.scene, fresh=True)
    assert state.kind == "BAKED"
    assert "frames 3 to 5" in state.message and "1 to 6" in state.message
    assert np.abs(evaluated(settings.id_data, 3)[:, 2] - 1).max() < 1e-6
    assert np.abs(evaluated(settings.id_data, 5)[:, 2] - 1).max() > 0.02


def test_a_bake_of_all_frames_says_no_more(sheet):
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake"]) == 0
    assert status(reopened(), bpy.context.scene, fresh=True).message == "Baked to frame 6"


def test_shells_with_frames_of_their_own_go_together_if_told_to(sheet, capfd):
    other = make_grid("Other", location=(5, 0, 1))
    other.thin_shell.frame_start, other.thin_shell.frame_end = 2, 9
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--start", "1", "--end", "4"]) == 0
    assert "baked Other, Sheet to frame 4" in capfd.readouterr().out
    other = reopened("Other")
    assert (other.thin_shell.frame_start, other.thin_shell.frame_end, other.thin_shell.baked_start) == (2, 9, 1)


def test_what_happens_at_a_frame_keeps_its_frame(sheet):
    """A curl from frame 11 to 13 has nothing to do yet in the middle of a bake that starts at 9."""
    settings = sheet.thin_shell
    settings.use_curl, settings.curl_start, settings.curl_end = True, 11, 13
    for start, began in ((None, 10 / 24), (9, 2 / 24)):
        with inputs_visible([sheet]):
            shell = build(bpy.context.scene, [sheet], start=start).scene.shells[0]
        assert np.abs(shell.rest_angles_at(began - 1e-3)).max() < 1e-12
        assert np.abs(shell.rest_angles_at(began + 1e-2)).max() > 1e-4


def stopped(sheet, *arguments, after=4):
    """A bake by command that went down after so many frames."""
    from thin_shell.addon.bake import job

    options = cli.parser().parse_args(["bake", *arguments])
    work = job.Job(cli.order_of(bpy.context.scene.name, [sheet], options))
    for report in work.run():
        work.stop = report.stage == "Frame" and report.frame >= after
    assert work.error is None and not work.complete
    return work


def test_resume_goes_on_where_the_command_began_and_ends_where_it_was_to_end(sheet):
    assert cli.command(["bake", "--start", "2", "--end", "5", "--no-save"]) == 0
    wanted = (cache_folder() / "Sheet.pc2").read_bytes()
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    stopped(sheet, "--start", "2", "--end", "5")
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--resume"]) == 0
    assert (cache_folder() / "Sheet.pc2").read_bytes() == wanted
    with pc2.Reader(cache_folder() / "Sheet.pc2") as reader:
        assert (reader.header.start, reader.header.samples) == (2.0, 4)
    sheet = reopened()
    assert (sheet.thin_shell.frame_start, sheet.thin_shell.frame_end) == (1, 6)


def test_errors_of_check_stop_the_command_and_the_button(sheet, capfd):
    modifier = sheet.modifiers.new("Fine", "SUBSURF")
    modifier.levels, modifier.render_levels = 1, 2
    sheet.modifiers.move(1, 0)
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--no-save"]) == 1
    assert "make them equal" in capfd.readouterr().err
    assert "make them equal" in failure(bpy.ops.thin_shell.bake)
    assert not sheet.thin_shell.baked and not list(cache_folder().glob("*.pc2"))
    modifier.render_levels = 1
    bake()


def test_the_command_says_what_check_warns_of(sheet, capfd):
    sheet.scale.x = -1
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--no-save"]) == 0
    assert "warning: Sheet has a negative scale" in capfd.readouterr().err


@pytest.fixture
def told(monkeypatch):
    """What the core is told of threads, call by call."""
    from thin_shell import shellcore

    found, progress = [], shellcore.progress

    def listening(*arguments, **options):
        found.append(options["threads"])
        return progress(*arguments, **options)

    monkeypatch.setattr(shellcore, "progress", listening)
    return found


def test_threads_are_those_of_the_command_or_of_the_preferences(sheet, told):
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--end", "2"]) == 0
    entry = bpy.context.preferences.addons.new()
    entry.module = "thin_shell"
    try:
        entry.preferences.threads = 2
        assert cli.command(["bake", "--end", "2"]) == 0
        assert cli.command(["bake", "--end", "2", "--threads", "1"]) == 0
        reopened()
        bake()
    finally:
        bpy.context.preferences.addons.remove(entry)
    assert told == [None, 2, 1, 2]


@pytest.mark.parametrize("wrong", ["0", "-1", "two"])
def test_a_wrong_number_of_threads_is_a_wrong_argument(sheet, told, wrong):
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--threads", wrong]) == 2
    assert told == []
