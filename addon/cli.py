"""`blender -b scene.blend --command thin_shell bake`: baking without a window, for render farms."""

import argparse
import sys
import time
from typing import Any

import bpy

from . import compat
from .bake import groups
from .bake.job import Job, run_to_end
from .bake.order import Order
from .errors import UserError

TARGETS = {"pc2": "PC2", "shapekeys": "SHAPE_KEYS", "alembic": "ALEMBIC"}
_handle: Any = None


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="blender -b FILE --command thin_shell", description="Bake thin shells without a window."
    )
    actions = made.add_subparsers(dest="action", required=True)
    bake = actions.add_parser("bake", help="simulate and save the file")
    bake.add_argument("--objects", nargs="+", metavar="NAME", help="only these shells (default: all)")
    bake.add_argument("--start", type=int, help="first frame (default: the shell's own)")
    bake.add_argument("--end", type=int, help="last frame (default: the shell's own)")
    bake.add_argument("--cache", choices=sorted(TARGETS), help="kind of result (default: the shell's own)")
    bake.add_argument("--resume", action="store_true", help="go on where an unfinished bake stopped")
    bake.add_argument(
        "--no-save", action="store_true", help="leave the .blend file as it is (files of the cache are kept)"
    )
    return made


def command(arguments: list[str]) -> int:
    """Exit code: 0 all baked, 1 something went wrong (said on stderr), 2 wrong arguments."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0) if isinstance(stop.code, int) else 2
    try:
        return bake(options)
    except UserError as error:
        print(f"Thin Shell: error: {error}", file=sys.stderr, flush=True)
        return 1


def bake(options: argparse.Namespace) -> int:
    scene = bpy.context.scene
    if not bpy.data.filepath:
        raise UserError("no file is open: name the .blend before --command")
    objects = groups.named(scene, options.objects) if options.objects else groups.shells(scene)
    if not objects:
        raise UserError(f"there is no thin shell in the scene '{scene.name}'")
    for obj in objects:
        if options.start is not None:
            obj.thin_shell.frame_start = options.start
        if options.end is not None:
            obj.thin_shell.frame_end = options.end
        if options.cache is not None:
            obj.thin_shell.cache_target = TARGETS[options.cache]
    failed = False
    for group in groups.together(objects):
        failed |= not _bake_group(scene.name, group, options.resume)
    if not options.no_save:
        bpy.ops.wm.save_mainfile()
    return 1 if failed else 0


def _bake_group(scene: str, group: list[Any], resume: bool) -> bool:
    names = tuple(obj.name for obj in group)
    settings = group[0].thin_shell
    job = Job(Order(scene, names, settings.frame_end, settings.cache_target, "resume" if resume else "new"))
    began = time.monotonic()
    for report in run_to_end(job):
        spent = time.monotonic() - began
        share = (report.frame - report.first) / max(report.last - report.first, 1)
        left = f", {spent / share - spent:.0f} s left" if share > 0 else ""
        print(
            f"Thin Shell: {', '.join(names)}: frame {report.frame} of {report.last}: {report.stage}{left}", flush=True
        )
    for text in job.warnings:
        print(f"Thin Shell: warning: {text}", file=sys.stderr, flush=True)
    if job.error is not None:
        print(f"Thin Shell: error: {job.error}", file=sys.stderr, flush=True)
        return False
    print(f"Thin Shell: baked {', '.join(names)} to frame {job.done} in {time.monotonic() - began:.1f} s", flush=True)
    return True


def register() -> None:
    global _handle
    if compat.cli_available():
        _handle = bpy.utils.register_cli_command("thin_shell", command)


def unregister() -> None:
    global _handle
    if _handle is not None:
        bpy.utils.unregister_cli_command(_handle)
        _handle = None
