"""`blender -b scene.blend --command thin_shell bake`: baking without a window, for render farms."""

import argparse
import sys
import time
from typing import Any

import bpy

from .bake import attach, catalogue, groups
from .bake.job import Job, run_to_end
from .bake.location import folder_of
from .bake.order import Order
from .bake.span import unfinished
from .cache.files import CacheError
from .errors import UserError
from .farm import commands

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
    bake.add_argument("--threads", type=_some, help="threads that simulate (default: as the preferences say)")
    bake.add_argument("--resume", action="store_true", help="go on where an unfinished bake stopped")
    bake.add_argument(
        "--no-save", action="store_true", help="leave the .blend file as it is (files of the cache are kept)"
    )
    commands.add_task(bake)
    commands.add_to(actions)
    give = actions.add_parser("attach", help="let shells play bakes that the cache folder holds, and save the file")
    give.add_argument("--objects", nargs="+", metavar="NAME", help="only these shells (default: all)")
    give.add_argument("--name", default="", help="cache name (default: the newest that is the shell's own)")
    give.add_argument("--cache", choices=sorted(TARGETS), help="kind of result (default: as it was baked)")
    give.add_argument("--no-save", action="store_true", help="leave the .blend file as it is")
    tell = actions.add_parser("caches", help="list what the cache folders hold")
    tell.add_argument("--objects", nargs="+", metavar="NAME", help="only these shells (default: all)")
    return made


def _some(text: str) -> int:
    """A whole number, 1 or more."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is none: give 1 or more")
    return number


def command(arguments: list[str]) -> int:
    """Exit code: 0 all baked, 1 something went wrong (said on stderr), 2 wrong arguments; tasks know more of them."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0) if isinstance(stop.code, int) else 2
    if options.action not in ("attach", "caches") and commands.is_task(options):
        return commands.run(options, TARGETS.get(getattr(options, "cache", None) or "", ""))
    try:
        return {"bake": bake, "attach": give, "caches": tell}[options.action](options)
    except (UserError, CacheError) as error:
        print(f"Thin Shell: error: {error}", file=sys.stderr, flush=True)
        return 1


def _chosen(options: argparse.Namespace) -> list[Any]:
    """The shells that are meant."""
    scene = bpy.context.scene
    if not bpy.data.filepath:
        raise UserError("no file is open: name the .blend before --command")
    objects = groups.named(scene, options.objects) if options.objects else groups.shells(scene)
    if not objects:
        raise UserError(f"there is no thin shell in the scene '{scene.name}'")
    return objects


def give(options: argparse.Namespace) -> int:
    """Attach to each shell the bake of that name, or its own."""
    failed = False
    for obj in _chosen(options):
        try:
            found = catalogue.named(obj, options.name)
            notes = attach.attach(obj, bpy.context.scene, found, TARGETS.get(options.cache, ""))
        except (UserError, CacheError) as error:
            print(f"Thin Shell: error: {error}", file=sys.stderr, flush=True)
            failed = True
            continue
        for text in notes:
            print(f"Thin Shell: warning: {obj.name}: {text}", file=sys.stderr, flush=True)
        print(f"Thin Shell: attached '{found.paths.name}' to {obj.name}, {catalogue.told(found)}", flush=True)
    if not options.no_save:
        bpy.ops.wm.save_mainfile()
    return 1 if failed else 0


def tell(options: argparse.Namespace) -> int:
    """One line a bake, tab separated: folder, name, of which object, what it is, whether a chosen shell owns it."""
    objects = _chosen(options)
    for folder in sorted({folder_of(obj) for obj in objects}):
        for found in catalogue.look(folder):
            owner = next((obj.name for obj in objects if catalogue.own(obj, [found])), "")
            whose = f"own bake of {owner}" if owner else f"of {found.info.object}"
            print("\t".join((str(folder), found.paths.name, whose, catalogue.told(found))), flush=True)
    return 0


def bake(options: argparse.Namespace) -> int:
    scene = bpy.context.scene
    objects = _chosen(options)
    failed = False
    given = {"frame_start": options.start, "frame_end": options.end}
    for group in groups.together(objects, [name for name, value in given.items() if value is not None]):
        failed |= not _bake_group(order_of(scene.name, group, options))
    if not options.no_save:
        bpy.ops.wm.save_mainfile()
    return 1 if failed else 0


def order_of(scene: str, group: list[Any], options: argparse.Namespace) -> Order:
    """What the arguments ask for, and the shells' own settings where they leave it to them; those stay as they are."""
    settings = group[0].thin_shell
    begun = unfinished(group[0]) if options.resume else None
    last = settings.frame_end if begun is None else begun.end
    return Order(
        scene=scene,
        objects=tuple(obj.name for obj in group),
        first=options.start,
        last=last if options.end is None else options.end,
        target=settings.cache_target if options.cache is None else TARGETS[options.cache],
        mode="resume" if options.resume else "new",
        threads=options.threads,
    )


def _bake_group(order: Order) -> bool:
    names, job = order.objects, Job(order)
    began = time.monotonic()
    for report in run_to_end(job):
        spent = time.monotonic() - began
        share = (report.frame - report.first) / max(report.last - report.first, 1)
        left = f", {spent / share - spent:.0f} s left" if share > 0 else ""
        print(
            f"Thin Shell: {', '.join(names)}: frame {report.frame} of {report.last}: {report.stage}{left}", flush=True
        )
    for text in (*(issue.message for issue in job.issues if issue.level == "WARNING"), *job.warnings):
        print(f"Thin Shell: warning: {text}", file=sys.stderr, flush=True)
    if job.error is not None:
        print(f"Thin Shell: error: {job.error}", file=sys.stderr, flush=True)
        return False
    print(f"Thin Shell: baked {', '.join(names)} to frame {job.done} in {time.monotonic() - began:.1f} s", flush=True)
    return True


def register() -> None:
    global _handle
    _handle = bpy.utils.register_cli_command("thin_shell", command)


def unregister() -> None:
    global _handle
    if _handle is not None:
        bpy.utils.unregister_cli_command(_handle)
        _handle = None
