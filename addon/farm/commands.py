"""What the command line does for farms: `bake` as a task, `wedge`, `collect`, `render` and `bundle`."""

import argparse
from pathlib import Path
from typing import Any

import bpy

from ..cache.files import CacheError
from ..errors import UserError
from . import assignments, bundle, codes, results, task, variant, wedges, workers
from .progress import KINDS, Teller
from .wedges import Wedge

TASK_ARGUMENTS = ("set", "variant", "cache_folder", "spec")


def add_task(bake: argparse.ArgumentParser) -> None:
    """Arguments that make a bake a task: it has a variant, and never writes the .blend."""
    bake.add_argument(
        "--set", action="append", default=[], metavar="OBJECT:SETTING=VALUE",
        help="another value, for this task only; without OBJECT: for every shell",
    )  # fmt: skip
    bake.add_argument("--variant", default="", metavar="NAME", help="bake into a folder of this name")
    bake.add_argument("--spec", metavar="FILE", help="take settings, shells and frames of the variant from this wedge")
    bake.add_argument("--cache-folder", default="", metavar="FOLDER", help="where the folders of variants are")
    bake.add_argument("--progress", choices=KINDS, default="plain", help="what is written while it runs")


def add_to(actions: Any) -> None:
    """The commands that only farms have."""
    wedge = actions.add_parser("wedge", help="bake every variant of a wedge here, and collect")
    _common(wedge)
    wedge.add_argument("--workers", type=int, default=1, metavar="N", help="how many bake at once (default: 1)")
    wedge.add_argument("--threads", type=int, default=1, metavar="N", help="threads of each (default: 1)")
    wedge.add_argument("--tries", type=int, default=3, metavar="N", help="how often a task is given (default: 3)")
    wedge.add_argument(
        "--blender", default="", metavar="PROGRAM", help="the Blender of the workers (default: this one)"
    )
    collect = actions.add_parser("collect", help="make the table and the pictures of a wedge from what is baked")
    _common(collect)
    render = actions.add_parser("render", help="render frames of a variant")
    _common(render)
    render.add_argument("--variant", required=True, metavar="NAME")
    render.add_argument("--frames", required=True, metavar="FIRST-LAST")
    render.add_argument("--output", required=True, metavar="FOLDER", help="pictures go to FOLDER/VARIANT")
    show = actions.add_parser("show", help="let the shells play a variant, for what Blender renders afterwards")
    _common(show)
    show.add_argument("--variant", required=True, metavar="NAME")
    made = actions.add_parser("bundle", help="write a wedge as a job for farms (Open Job Description)")
    _common(made)
    made.add_argument("--to", required=True, metavar="FOLDER", help="a new or empty folder")
    made.add_argument("--render", metavar="FIRST-LAST", help="render these frames of every variant, too")
    made.add_argument("--chunk", type=int, default=10, metavar="N", help="frames a render task (default: 10)")


def _common(made: argparse.ArgumentParser) -> None:
    made.add_argument("--spec", required=True, metavar="FILE", help="the wedge, as JSON")
    made.add_argument("--cache-folder", default="", metavar="FOLDER", help="where the folders of variants are")
    made.add_argument("--progress", choices=KINDS, default="plain", help="what is written while it runs")


def is_task(options: argparse.Namespace) -> bool:
    return options.action != "bake" or any(getattr(options, name) for name in TASK_ARGUMENTS)


def run(options: argparse.Namespace, target: str) -> int:
    """The exit code of a task. `target`: what a bake is asked to become, empty for a point cache."""
    teller = Teller(options.progress, task=options.action, variant=getattr(options, "variant", ""))
    try:
        done = {"wedge": _wedge, "collect": _collect, "render": _render, "show": _show, "bundle": _bundle}
        if options.action != "bake":
            return done[options.action](options, teller)
        return _bake(options, teller, target)
    except (UserError, CacheError) as error:
        code = codes.code_of(error)
        teller.fail(str(error), code)
        return code
    except OSError as error:
        teller.fail(f"{error.filename or 'a file'} cannot be used ({error.strerror}): see to it", codes.FILES)
        return codes.FILES


def _bake(options: argparse.Namespace, teller: Teller, target: str = "") -> int:
    if target == "SHAPE_KEYS":
        raise codes.ArgumentError("shape keys live in the .blend, which a task never writes: bake to pc2 or alembic")
    if options.resume:
        raise codes.ArgumentError("a task goes on by itself where its bake was stopped: leave --resume out")
    if not options.variant:
        raise codes.ArgumentError("a task needs the name of its variant, which is that of its folder: give --variant")
    scene = task.opened()
    wedge = _read(options.spec) if options.spec else None
    name, given = options.variant, [assignments.parse(text) for text in options.set]
    if wedge is not None:
        found = wedge.named(name)
        name, given = found.name, [*found.settings, *given]
    objects = task.chosen(scene, options.objects or list(wedge.objects if wedge else ()))
    request = task.Request(
        name=name,
        settings=tuple(given),
        folder=options.cache_folder or (wedge.cache_folder if wedge else ""),
        start=options.start if options.start is not None else wedge.start if wedge else None,
        end=options.end if options.end is not None else wedge.end if wedge else None,
        target=target or "PC2",
        threads=options.threads,
    )
    return task.bake(scene, objects, request, teller)


def _read(name: str) -> Wedge:
    return wedges.read(Path(name).absolute())


def folder_of(options: argparse.Namespace, wedge: Wedge, objects: list[Any]) -> Path:
    """Where the folders of the variants are; the table and the sheet lie there, too."""
    return variant.folder_for(objects[0], options.cache_folder or wedge.cache_folder, "x").parent


def _checked(wedge: Wedge, scene: Any) -> list[Any]:
    """The shells of a wedge; raises where any variant could not be set, before the first is baked."""
    objects = task.chosen(scene, list(wedge.objects))
    for each in wedge.variants:
        assignments.looked_at(each.settings, objects)
    return objects


def _wedge(options: argparse.Namespace, teller: Teller) -> int:
    for name in ("workers", "threads", "tries"):
        if getattr(options, name) < 1:
            raise codes.ArgumentError(f"--{name} is a whole number, 1 or more")
    scene, wedge = task.opened(), _read(options.spec)
    objects = _checked(wedge, scene)
    folder = folder_of(options, wedge, objects)
    program = options.blender or bpy.app.binary_path
    if not program:
        raise codes.ArgumentError("this Blender is a module: name the program that workers run with --blender")
    words = [program, "-b", bpy.data.filepath, "--command", "thin_shell", "bake"]
    spec = ["--spec", str(Path(options.spec).absolute()), "--cache-folder", str(folder)]
    threads = ["--threads", str(options.threads), "--no-save"]
    made = {each.name: [*words, *spec, "--variant", each.name, *threads] for each in wedge.variants}
    with task.stopped_by_signal() as wanted:
        found = workers.run(made, options.workers, options.tries, teller, wanted)
    failed = {name: code for name, code in found.items() if code != codes.DONE}
    if wanted:
        teller.fail("stopped: give the wedge again and it goes on", codes.STOPPED)
        return codes.STOPPED
    collected = _collect(options, teller) if len(failed) < len(found) else codes.FAILED
    if failed:
        listed = ", ".join(f"{name} ({code})" for name, code in failed.items())
        teller.fail(f"{len(failed)} of {len(found)} variants failed, with exit code: {listed}", max(failed.values()))
        return codes.FAILED if len(set(failed.values())) > 1 else next(iter(failed.values()))
    return collected


def _collect(options: argparse.Namespace, teller: Teller) -> int:
    scene, wedge = task.opened(), _read(options.spec)
    objects = task.chosen(scene, list(wedge.objects))
    folder = folder_of(options, wedge, objects)
    missing = results.collect(scene, objects, wedge, folder)
    teller.say(
        "collected", f"wrote {wedge.name}.csv and {wedge.name}.png in {folder}",
        table=str(folder / f"{wedge.name}.csv"), sheet=str(folder / f"{wedge.name}.png"), missing=missing,
    )  # fmt: skip
    if missing:
        teller.fail(f"{', '.join(missing)}: not baked to the end: give those bake tasks again", codes.FAILED)
        return codes.FAILED
    return codes.DONE


def _render(options: argparse.Namespace, teller: Teller) -> int:
    scene, wedge = task.opened(), _read(options.spec)
    name = wedge.named(options.variant).name
    objects = task.chosen(scene, list(wedge.objects))
    first, last = _span("--frames", options.frames)
    frames = range(first, last + 1)
    output = Path(options.output).absolute() / name
    with (
        variant.played(scene, objects, options.cache_folder or wedge.cache_folder, name) as paths,
        task.stopped_by_signal() as wanted,
    ):
        variant.show(scene, objects, paths)
        for frame in frames:
            if wanted:
                teller.fail(f"stopped before frame {frame}: give the task again", codes.STOPPED)
                return codes.STOPPED
            scene.frame_set(frame)
            scene.render.filepath = str(output / f"{frame:04d}")
            bpy.ops.render.render(write_still=True, scene=scene.name)
            teller.frame([obj.name for obj in objects], frame, frames[0], frames[-1], "rendered")
    return codes.DONE


def _show(options: argparse.Namespace, teller: Teller) -> int:
    scene, wedge = task.opened(), _read(options.spec)
    name = wedge.named(options.variant).name
    objects = task.chosen(scene, list(wedge.objects))
    with variant.played(scene, objects, options.cache_folder or wedge.cache_folder, name) as paths:
        variant.show(scene, objects, paths)
    teller.say("shown", f"{', '.join(obj.name for obj in objects)}: '{name}' plays")
    return codes.DONE


def _span(name: str, text: str) -> tuple[int, int]:
    """First and last frame."""
    first, _, last = text.partition("-")
    if not first.isdecimal() or not (last or first).isdecimal() or int(last or first) < int(first):
        raise codes.ArgumentError(f"{name} is a frame or FIRST-LAST, not '{text}'")
    return int(first), int(last or first)


def _bundle(options: argparse.Namespace, teller: Teller) -> int:
    scene, wedge = task.opened(), _read(options.spec)
    _checked(wedge, scene)
    if options.chunk < 1:
        raise codes.ArgumentError("--chunk is a whole number of frames, 1 or more")
    render = _span("--render", options.render) if options.render else None
    folder = Path(options.to).absolute()
    for note in bundle.export(wedge, folder, render, options.chunk):
        teller.warn(note)
    teller.say("bundle", f"wrote {len(wedge.variants)} variants as a job to {folder}", folder=str(folder))
    return codes.DONE
