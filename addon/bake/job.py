"""A bake of shells that are simulated together, as a generator that can stop after any solver iteration.

Nothing here keeps a Blender object from one step to the next: objects are looked up again by their numbers, so an undo
or a deleted object between two steps ends in a message, not in a crash. Between two steps the scene is as its artist
has it, but for the playhead and, in a window, the preview.
"""

import time
import traceback
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import bpy

from ... import shellcore as sc
from .. import compat, preferences
from ..bridge.build import Link, Simulation, build
from ..bridge.lookup import KnownScene, known_scene
from ..bridge.mesh import inputs_visible
from ..bridge.units import frames_per_second
from ..cache import pc2, playback, sidecar, state
from ..cache.files import CacheError, is_there, reason
from ..cache.paths import CachePaths, make_folder
from ..cache.preview import Preview
from ..cache.splits import Cut
from ..errors import UserError
from ..preflight import Issue, refuse
from ..properties.cache import RESULTS
from ..realtime.motion import Motion, modal_simulation
from ..realtime.properties import is_modal
from ..realtime.steps import progress as modal_steps
from . import attach, fingerprint, owners
from .frames import first_share, shares, show, shown, solver_options, state_from_cache
from .inputs import Watch, scripted
from .location import paths_of, write_paths
from .order import ATTACHING, PREPARING, Order, Report
from .span import first_frame
from .store import Store, Target, find_unfinished, origin, reopen_unfinished, whole_result


class Job:
    """Runs an order; afterwards `error` says what went wrong and `done` up to which frame there are results."""

    label = "a bake"
    lasting = True

    def __init__(self, order: Order) -> None:
        self.order = order
        self.stop = False
        self.error: Exception | None = None
        self.done = 0
        self.complete = False
        self.published = False
        self.moved = False
        """Whether there is more than the sheet at rest."""
        self.latest: dict[str, tuple[Any, Any]] = {}
        """Object space positions and triangles of the last frame by object, to be drawn while the bake goes on."""
        self.issues: list[Issue] = []
        """What Check warns of, looked for before the first frame."""
        self.warnings: list[str] = []
        self.window = False
        """Whether the last frame is shown in the place of the mesh; stopped the playhead stays on it."""
        self.previews: dict[str, Preview] = {}
        """What shows it, by object."""
        self.unseen = ""
        """Why nothing shows it; empty where something does."""
        self.running = False
        self.watch: Watch | None = None
        """What the bake reads, to be compared with what it began with."""
        self._scene: KnownScene
        self._links: list[Link] = []
        self._paths: dict[int, CachePaths] = {}
        """Files that are baked to, by numbers of the objects."""
        self.uids: dict[str, int] = {}
        """Numbers of the objects, by the names that the order has for them."""
        self.stats: dict[str, float] = {"iterations": 0, "handling": 0.0}
        """Solver iterations, and seconds spent outside the core: moving the playhead, sampling, writing."""

    def run(self) -> Iterator[Report]:
        """Bake; every fault ends up in `error`, with the frames so far kept.

        Windows may show other scenes meanwhile: every piece of work is done inside the bake's own.
        """
        self._scene = known_scene(bpy.data.scenes[self.order.scene])
        steps = self._guarded()
        try:
            while True:
                with self._scene.inside():
                    report = next(steps, None)
                if report is None:
                    return
                yield report
        finally:
            with self._scene.inside():
                steps.close()

    def _guarded(self) -> Generator[Report, None, None]:
        scene = self._scene.get()
        playhead = scene.frame_current, scene.frame_subframe
        try:
            yield from self._run()
        except (UserError, CacheError, sc.ShellError, sc.StepFailed) as error:
            self.error = self.error or error
        except MemoryError:
            self.error = UserError(
                "there is not enough memory for this bake: use a coarser mesh or close other programs"
            )
        except Exception as error:
            self.error = unforeseen(error)
        finally:
            owners.release(self)
            self._end_previews()
            self.running = False
            if self.watch is not None:
                self.watch.close()
            again = self._scene.find()
            if again is not None and self.window and self.stop and self.done:
                again.frame_set(self.done)
            elif again is not None:
                again.frame_set(playhead[0], subframe=playhead[1])
        if self.error is not None and self.published and self.moved and self.order.attach:
            try:
                self._attach()
            except (UserError, CacheError) as error:
                self.warnings.append(str(error))

    def compare(self) -> None:
        """Stop where what the bake reads is no more what it began with, by an edit or an undo."""
        if self.watch is None or self.stop:
            return
        try:
            with self._scene.inside():
                # What scripts changed is told of by the next evaluation only, which would be the next frame's.
                bpy.context.view_layer.update()
                changed = self.watch.changed(self._scene.find())
        except UserError as error:
            changed = str(error)
        except Exception as error:
            self.error, self.stop = unforeseen(error), True
            return
        if changed:
            self.error = UserError(f"{changed}, which the bake reads: it was stopped")
            self.stop = True

    def waits_for(self) -> str:
        """Name of an object in Edit Mode that must leave it before the bake goes on."""
        return "" if self.watch is None or not self.running else self.watch.in_edit_mode()

    def preview(self) -> None:
        """Show the last frame in the place of the mesh; where that cannot be, the bake goes on unseen."""
        try:
            for link in self._links if self.window and not self.unseen else []:
                if link.name not in self.latest:
                    continue
                if link.name not in self.previews:
                    self.previews[link.name] = Preview(shown(link), len(link.arrays.positions))
                self.previews[link.name].write(self.latest[link.name][0])
        except OSError as error:
            self.unseen = f"the frame under way cannot be shown ({bpy.app.tempdir}: {reason(error)})"
            self.warnings.append(self.unseen)
            self._end_previews()

    def aside(self) -> None:
        """Show nothing until the next preview."""
        for preview in self.previews.values():
            preview.turn(on=False)

    def torn(self) -> list[tuple[Any, Any, Any]]:
        """Objects that the preview cannot show, with positions (n, 3) and triangles (m, 3) of the last frame."""
        hidden = [link for link in self._links if link.name in self.latest and link.name in self.previews]
        found = [
            (_by_number(link.uid), *self.latest[link.name]) for link in hidden if not self.previews[link.name].whole
        ]
        return [each for each in found if each[0] is not None]

    def hide(self) -> None:
        """A file that is saved knows nothing of the bake under way."""
        for preview in self.previews.values():
            preview.hide()

    def show(self) -> None:
        for preview in self.previews.values():
            preview.show()

    def let_go(self) -> None:
        """Another file is opened."""
        self.stop = True

    def _end_previews(self) -> None:
        for preview in self.previews.values():
            preview.close()
        self.previews.clear()

    def _run(self) -> Iterator[Report]:
        order = self.order
        objects = self._objects()
        for obj in objects:
            if obj.name not in bpy.context.view_layer.objects:
                raise UserError(
                    f"{obj.name}: it is in no collection of this view layer: include its collection to bake it",
                    object=obj.name,
                )
        start = first_frame(order, objects[0])
        if order.last < start:
            raise UserError(f"{objects[0].name}: the last frame {order.last} lies before the first, {start}")
        if order.target == "SHAPE_KEYS":
            for obj in objects:
                playback.check_shape_keys(obj)
        if order.target == "ALEMBIC" and not compat.alembic_available():
            raise UserError("this Blender was built without Alembic: bake to a point cache or shape keys")
        for obj in objects:
            playback.marker(obj)
        if is_modal(objects[0]) and order.mode != "new":
            if order.mode == "continue":
                raise UserError(f"{objects[0].name}: a bake in real time has no frame to continue from: press Bake")
            # It is over in seconds, and the same from the start.
            self.order = order = replace(order, mode="new")
        owners.take(self, self._objects())
        yield Report("Reading the scene", start, start, order.last)
        yield from self._simulate(start)
        if self.published and order.attach:
            yield Report(ATTACHING, self.done, start, order.last)
            self._attach()

    def _objects(self) -> list[Any]:
        found: list[Any] = []
        every: Any = bpy.data.objects
        for name in self.order.objects:
            # Renamed meanwhile it is still the same.
            uid = self.uids.get(name)
            obj: Any = every.get(name) if uid is None else _by_number(uid)
            if obj is None:
                raise UserError(f"'{name}' was deleted or renamed during the bake: bake again")
            if obj.library is not None:
                raise UserError(
                    f"{name}: it is linked from {obj.library.name}: make a library override (Object > "
                    f"Relations) to bake it here",
                    object=name,
                )
            self.uids[name] = compat.session_uid(obj)
            found.append(obj)
        return found

    def _simulate(self, start: int) -> Iterator[Report]:
        order, scene, objects = self.order, self._scene.get(), self._objects()
        motion, modal = None, is_modal(objects[0])
        threads = order.threads or preferences.threads()
        self.watch, self.running = Watch(scene, objects), True
        with inputs_visible(objects), self._heard():
            scene.frame_set(start)
            self.issues = refuse(scene, objects, order.target)
            simulation = modal_simulation(scene, objects[0]) if modal else build(scene, objects, start=start)
            if modal:
                motion = Motion(scene, objects[0], simulation, threads)
        self._accept()
        fps = frames_per_second(scene)
        self._links = simulation.links
        store = self._store(scene, objects, simulation, start, fps)
        options = solver_options(objects[0]) | {"threads": threads}
        try:
            solver_state, frame = self._open(objects, store, simulation, start, fps)
            del objects, scene
            if frame > start:
                self._show(frame, simulation, start, fps)
            yield Report(PREPARING, frame, start, order.last)
            count = order.last - frame
            with self._heard():
                if motion is not None:
                    steps: Any = modal_steps(motion, count, fps)
                else:
                    steps = sc.progress(simulation.scene, frames=count, fps=fps, resume=solver_state, **options)
            yield from self._frames(steps, store, simulation, start, frame, fps)
        finally:
            self._keep(store)

    def _show(self, frame: int, simulation: Simulation, start: int, fps: float) -> None:
        show(self._scene.get(), frame, simulation, start, fps)
        self._accept()

    def _accept(self) -> None:
        if self.watch is not None and scripted():
            self.watch.accept(self._scene.get())

    @contextmanager
    def _heard(self) -> Iterator[None]:
        """What the core warns of inside reaches the user."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", sc.ShellWarning)
            yield
        self.warnings += [str(w.message) for w in caught]

    def _frames(
        self, steps: Any, store: Store, simulation: Simulation, start: int, frame: int, fps: float
    ) -> Iterator[Report]:
        order = self.order
        self.done = frame
        while frame < order.last and not self.stop:
            began = time.perf_counter()
            self._show(frame + 1, simulation, start, fps)
            self.stats["handling"] += time.perf_counter() - began
            for step in steps:
                if step.frame is not None:
                    break
                if self.stop:
                    return
                stage = PREPARING if step.stage == "factor" else "Solving"
                yield Report(stage, frame + 1, start, order.last, f"iteration {step.iteration}")
            began = time.perf_counter()
            frame += 1
            made = step.frame
            parts = shares(store, simulation, made)
            placed = store.append(simulation.links, parts)
            store.remember(made.state, frame)
            self.latest = {
                link.name: (local, part.faces)
                for link, local, part in zip(simulation.links, placed, parts, strict=True)
            }
            self.done, self.moved = frame, True
            self.stats["iterations"] += made.stats.get("iterations", 0)
            self.stats["stretch_scale"] = min(made.stats.get("stretch_scales", [1.0]))
            self.stats["handling"] += time.perf_counter() - began
            yield Report("Frame", frame, start, order.last)
        self.complete = frame >= order.last

    def _store(self, scene: Any, objects: list[Any], simulation: Simulation, start: int, fps: float) -> Store:
        paths: list[CachePaths] = []
        for obj in objects:
            paths.append(write_paths(obj, paths))
        self._paths = {compat.session_uid(obj): place for obj, place in zip(objects, paths, strict=True)}
        make_folder(paths[0].folder)
        whole = fingerprint.of_simulation(simulation, [fingerprint.of_settings(obj, scene) for obj in objects])
        read = {} if self.watch is None else self.watch.digests()
        targets = []
        for obj, place, link in zip(objects, paths, simulation.links, strict=True):
            keep = [name for name in RESULTS if getattr(obj.thin_shell, f"keep_{name}")]
            info = sidecar.Sidecar(
                object=obj.name, points=len(link.arrays.positions), start=start, end=self.order.last, fps=fps,
                fingerprint=whole, group=[p.name for p in paths], fields=keep, breaks=obj.thin_shell.use_fracture,
                **origin(obj, fingerprint.of_settings(obj, scene), read[compat.session_uid(obj)], self.order.target),
            )  # fmt: skip
            cut = Cut(link.shell.faces, link.arrays.corners, link.arrays.polygons)
            targets.append(Target(place, info, cut))
        return Store(targets, whole)

    def _open(
        self, objects: list[Any], store: Store, simulation: Simulation, start: int, fps: float
    ) -> tuple[Any, int]:
        """Open the files; the state to go on from and the last frame that is there already."""
        order = self.order
        if order.mode == "resume":
            # What cannot go on stays as it is, and plays.
            begun = [find_unfinished(target.paths) for target in store.targets]
            for info in begun:
                if info.fingerprint != store.fingerprint or info.start != start:
                    raise UserError(
                        f"{info.object}: settings or mesh changed since the bake stopped at frame {info.last_frame}: "
                        "press Bake to start again, or Continue from Frame to keep what is there"
                    )
            if min(info.samples for info in begun) <= 1 or not is_there(store.targets[0].paths.state):
                return self._begin(store, simulation, start)
            solver_state, frame, mark = state.load(store.targets[0].paths.state)
            if mark != store.fingerprint:
                raise UserError("the saved state belongs to another bake: press Bake to start again")
            for target, info in zip(store.targets, begun, strict=True):
                reopen_unfinished(target.paths)
                target.info.fields, target.info.seconds = info.fields, info.seconds
            store.open(keep=frame - start + 1)
            return solver_state, frame
        if order.mode == "continue" and order.from_frame > start:
            for obj in objects:
                if obj.thin_shell.use_fracture or obj.thin_shell.use_plasticity:
                    raise UserError(
                        f"{obj.name}: a bake keeps where a shell is, not what broke or stayed bent inside it, so it "
                        "cannot continue from a frame with Fracture or Plasticity on: press Bake",
                        object=obj.name,
                    )
            sources = [playback.playing_points(obj) or paths_of(obj).pc2 for obj in objects]
            for target in store.targets:
                target.info.fields = []  # frames before were baked without them
            store.open()
            for target, source in zip(store.targets, sources, strict=True):
                if target.writer is None:
                    raise CacheError("the cache is not open")
                pc2.copy_part(source, target.writer, order.from_frame - start + 1)
                target.info.samples = target.writer.samples
            scene = self._scene.get()
            return state_from_cache(store, simulation, scene, start, order.from_frame, fps), order.from_frame
        return self._begin(store, simulation, start)

    def _begin(self, store: Store, simulation: Simulation, start: int) -> tuple[Any, int]:
        store.open()
        pairs = zip(store.targets, simulation.links, strict=True)
        store.append(simulation.links, [first_share(target, link) for target, link in pairs])
        return None, start

    def _keep(self, store: Store) -> None:
        """Finished frames stay, whatever ended the run; a whole older result is not replaced by part of a new one."""
        try:
            if self.complete:
                store.publish(complete=True)
                self.published = True
            elif all(target.info.samples > 0 for target in store.targets):
                try:
                    store.checkpoint()
                except CacheError as error:
                    self.error = self.error or error
                if not any(whole_result(target.paths) for target in store.targets):
                    store.publish(complete=False)
                    self.published = True
        except CacheError as error:
            self.error = self.error or error
        finally:
            store.close()

    def _attach(self) -> None:
        scene = self._scene.find() or bpy.context.scene
        for obj in self._objects():
            notes = attach.show(obj, scene, self._paths[compat.session_uid(obj)], self.order.target)
            self.warnings += [f"{obj.name}: {note}" for note in notes]


def _by_number(uid: int) -> Any:
    every: Any = bpy.data.objects
    return next((obj for obj in every if compat.session_uid(obj) == uid), None)


def unforeseen(error: Exception) -> UserError:
    """A fault of ours: told like any other, and in full on the console."""
    traceback.print_exception(error)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return UserError(f"something unforeseen went wrong ({said}); the console has the details for a bug report")


def run_to_end(job: Job, every: float = 1.0) -> Iterator[Report]:
    """Drive a job without a window; yields a report at most every so many seconds, and for every stage."""
    last, stage = 0.0, ""
    for report in job.run():
        now = time.monotonic()
        if (report.stage != stage and report.stage not in ("Solving", "Frame")) or now - last >= every:
            last, stage = now, report.stage
            yield report
