"""A bake of shells that are simulated together, as a generator that can stop after any solver iteration.

Nothing here keeps a Blender object from one step to the next: names are looked up again, so an undo or a deleted object
between two steps ends in a message, not in a crash.
"""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import bpy

from ... import shellcore as sc
from .. import compat
from ..bridge.build import Simulation, build
from ..bridge.mesh import MeshArrays, inputs_visible
from ..bridge.units import frames_per_second
from ..cache import attributes, cracks, pc2, playback, sidecar, state
from ..cache.files import CacheError
from ..cache.paths import make_folder
from ..cache.splits import Splits
from ..errors import UserError
from ..properties.cache import RESULTS
from ..realtime.motion import Motion, modal_simulation
from ..realtime.properties import is_modal
from ..realtime.steps import progress as modal_steps
from . import fingerprint
from .frames import first_share, shares, show, solver_options, state_from_cache
from .location import paths_of, write_paths
from .order import Order, Report
from .store import Store, Target, reopen_unfinished, versions, whole_result


class Job:
    """Runs an order; afterwards `error` says what went wrong and `done` up to which frame there are results."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.stop = False
        self.error: Exception | None = None
        self.done = 0
        self.complete = False
        self.published = False
        self.cracks: dict[str, tuple[MeshArrays, Splits]] = {}
        """Of each object that broke: its mesh as it was read, and what became of it."""
        self.latest: dict[str, tuple[Any, Any]] = {}
        """Object space positions and triangles of the last frame by object, to be drawn while the bake goes on."""
        self.warnings: list[str] = []
        self.stats: dict[str, float] = {"iterations": 0, "handling": 0.0}
        """Solver iterations, and seconds spent outside the core: moving the playhead, sampling, writing."""

    def run(self) -> Iterator[Report]:
        """Bake; every fault ends up in `error`, with the frames so far kept."""
        scene = bpy.data.scenes[self.order.scene]
        playhead = scene.frame_current, scene.frame_subframe
        try:
            yield from self._run()
        except (UserError, CacheError, sc.ShellError, sc.StepFailed) as error:
            self.error = error
        except MemoryError:
            self.error = UserError(
                "there is not enough memory for this bake: use a coarser mesh or close other programs"
            )
        finally:
            again = bpy.data.scenes.get(self.order.scene)
            if again is not None:
                again.frame_set(playhead[0], subframe=playhead[1])

    def _run(self) -> Iterator[Report]:
        order, scene = self.order, bpy.data.scenes[self.order.scene]
        objects = self._objects()
        start = objects[0].thin_shell.frame_start
        if order.last < start:
            raise UserError(f"{objects[0].name}: the last frame {order.last} lies before the Simulation Start {start}")
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
        yield Report("Reading the scene", start, start, order.last)
        with inputs_visible(self._objects()):
            yield from self._simulate(scene.name, start)
        if self.published:
            yield Report("Attaching the result", self.done, start, order.last)
            self._attach(start)

    def _objects(self) -> list[Any]:
        found: list[Any] = []
        for name in self.order.objects:
            obj: Any = bpy.data.objects.get(name)
            if obj is None:
                raise UserError(f"'{name}' was deleted or renamed during the bake: bake again")
            if obj.library is not None:
                raise UserError(
                    f"{name}: it is linked from {obj.library.name}: make a library override (Object > "
                    f"Relations) to bake it here",
                    object=name,
                )
            if name not in bpy.context.view_layer.objects:
                raise UserError(
                    f"{name}: it is in no collection of this view layer: include its collection to bake it", object=name
                )
            found.append(obj)
        return found

    def _simulate(self, scene_name: str, start: int) -> Iterator[Report]:
        order = self.order
        bpy.data.scenes[scene_name].frame_set(start)
        objects = self._objects()
        scene = bpy.data.scenes[scene_name]
        modal = is_modal(objects[0])
        with self._heard():
            simulation = modal_simulation(scene, objects[0]) if modal else build(scene, objects)
        fps = frames_per_second(scene)
        store = self._store(scene, objects, simulation, start, fps)
        options = solver_options(objects[0])
        try:
            solver_state, frame = self._open(objects, store, simulation, start, fps)
            del objects, scene
            if frame > start:
                show(scene_name, frame, simulation, start, fps)
            yield Report("Preparing the solver", frame, start, order.last)
            count = order.last - frame
            with self._heard():
                if modal:
                    motion = Motion(bpy.data.scenes[scene_name], self._objects()[0], simulation)
                    steps: Any = modal_steps(motion, count, fps)
                else:
                    steps = sc.progress(simulation.scene, frames=count, fps=fps, resume=solver_state, **options)
            yield from self._frames(steps, store, simulation, scene_name, start, frame, fps)
        finally:
            self._keep(store)
            for link, target in zip(simulation.links, store.targets, strict=True):
                if target.splits is not None:
                    self.cracks[link.name] = link.arrays, target.splits

    @contextmanager
    def _heard(self) -> Iterator[None]:
        """What the core warns of inside reaches the user."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", sc.ShellWarning)
            yield
        self.warnings += [str(w.message) for w in caught]

    def _frames(
        self, steps: Any, store: Store, simulation: Simulation, scene_name: str, start: int, frame: int, fps: float
    ) -> Iterator[Report]:
        order = self.order
        self.done = frame
        while frame < order.last and not self.stop:
            began = time.perf_counter()
            show(scene_name, frame + 1, simulation, start, fps)
            self.stats["handling"] += time.perf_counter() - began
            for step in steps:
                if step.frame is not None:
                    break
                if self.stop:
                    return
                stage = "Factoring the matrix" if step.stage == "factor" else "Solving"
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
            self.done = frame
            self.stats["iterations"] += made.stats.get("iterations", 0)
            self.stats["stretch_scale"] = min(made.stats.get("stretch_scales", [1.0]))
            self.stats["handling"] += time.perf_counter() - began
            yield Report("Frame", frame, start, order.last)
        self.complete = frame >= order.last

    def _store(self, scene: Any, objects: list[Any], simulation: Simulation, start: int, fps: float) -> Store:
        paths = [write_paths(obj) for obj in objects]
        make_folder(paths[0].folder)
        whole = fingerprint.of_simulation(simulation, [fingerprint.of_settings(obj, scene) for obj in objects])
        targets = []
        for obj, place, link in zip(objects, paths, simulation.links, strict=True):
            keep = [name for name in RESULTS if getattr(obj.thin_shell, f"keep_{name}")]
            info = sidecar.Sidecar(
                object=obj.name, points=len(link.arrays.positions), start=start, end=self.order.last, fps=fps,
                fingerprint=whole, group=[p.name for p in paths], fields=keep, **versions(),
            )  # fmt: skip
            targets.append(Target(place, keep, info, obj.thin_shell.use_fracture, link.shell.faces))
        return Store(targets, whole)

    def _open(
        self, objects: list[Any], store: Store, simulation: Simulation, start: int, fps: float
    ) -> tuple[Any, int]:
        """Open the files; the state to go on from and the last frame that is there already."""
        order = self.order
        if order.mode == "resume":
            there = []
            for target in store.targets:
                info = reopen_unfinished(target.paths, target.keep_fields, target.breaks)
                if info.fingerprint != store.fingerprint or info.start != start:
                    raise UserError(
                        f"{info.object}: settings or mesh changed since the bake stopped at frame {info.last_frame}: "
                        "press Bake to start again, or Continue from Frame to keep what is there"
                    )
                there.append(info.samples)
            if all(samples <= 1 for samples in there):
                store.open(keep=1)
                return None, start
            solver_state, frame, mark = state.load(store.targets[0].paths.state)
            if mark != store.fingerprint:
                raise UserError("the saved state belongs to another bake: press Bake to start again")
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
                target.keep_fields, target.info.fields = [], []  # frames before were baked without them
            store.open()
            for target, source in zip(store.targets, sources, strict=True):
                if target.writer is None:
                    raise CacheError("the cache is not open")
                pc2.copy_part(source, target.writer, order.from_frame - start + 1)
                target.info.samples = target.writer.samples
            return state_from_cache(store, simulation, order.scene, start, order.from_frame, fps), order.from_frame
        store.open()
        pairs = zip(store.targets, simulation.links, strict=True)
        store.append(simulation.links, [first_share(target, link) for target, link in pairs])
        return None, start

    def _keep(self, store: Store) -> None:
        """Whatever ended the run: finished frames stay, and a whole older result is not replaced by part of "
        "a new one."""
        try:
            if self.complete:
                store.publish(complete=True)
                self.published = True
            elif all(target.info.samples > 0 for target in store.targets):
                store.checkpoint()
                if not any(whole_result(target.paths) for target in store.targets):
                    store.publish(complete=False)
                    self.published = True
        except CacheError as error:
            self.error = self.error or error
        finally:
            store.close()

    def _attach(self, start: int) -> None:
        order = self.order
        for obj in self._objects():
            settings, paths = obj.thin_shell, paths_of(obj)
            note = playback.stop(obj)
            self.warnings += [f"{obj.name}: {note}"] if note else []
            if obj.name in self.cracks:
                cracks.put_on(obj, *self.cracks[obj.name], start)
            if order.target != "SHAPE_KEYS" or not self.complete:
                playback.play_points(obj, paths.pc2, start)
                settings.baked_target = "PC2"
            if self.complete and order.target == "SHAPE_KEYS":
                playback.play_shape_keys(obj, paths.pc2, start)
                settings.baked_target = "SHAPE_KEYS"
            if self.complete and order.target == "ALEMBIC":
                playback.play_alembic(obj, paths.alembic, start, self.done)
                settings.baked_target = "ALEMBIC"
            attributes.attach(obj, paths, sidecar.read(paths.sidecar))
            settings.baked, settings.baked_complete, settings.unlocked = True, self.complete, False
            settings.baked_start, settings.baked_samples = start, self.done - start + 1
            settings.baked_settings = fingerprint.of_settings(obj, bpy.data.scenes[order.scene])


def run_to_end(job: Job, every: float = 1.0) -> Iterator[Report]:
    """Drive a job without a window; yields a report at most every so many seconds, and for every stage."""
    last, stage = 0.0, ""
    for report in job.run():
        now = time.monotonic()
        if (report.stage != stage and report.stage not in ("Solving", "Frame")) or now - last >= every:
            last, stage = now, report.stage
            yield report
