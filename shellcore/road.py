"""The road to the minimum of a step's potential: by which method, and how near is near enough."""

from __future__ import annotations

from collections.abc import Generator
from functools import cached_property
from typing import Any

import numpy as np

from .integrators import Integrator, State
from .lbfgs import Memory
from .linalg.vectors import inner
from .scene import Scene
from .sheet_newton import Trust
from .sheet_steps import (
    EXACT_SHEET_STEPS,
    SHEET_STEPS,
    Care,
    exact_sheet_newton,
    refinements,
    sheet_newton,
    touching_newton,
)
from .shell import Shell
from .solver import FACTORED, Solution, Steps, mixed_newton, newton, quasi_newton
from .step_potential import StepPotential
from .system import System
from .types import Floats

# Default tolerance on the position error of a step: this share of how far elastic forces moved the sheet in the last
# step, or of the scene's size at 24 steps a second where that is larger.
TOLERANCE = 0.02
# The same for the quasi-Newton road without contact, which judges its error by the energy it still gains. 0.02, 0.04,
# 0.06, 0.08 take 56, 35, 29, 25 gradients a frame of a pinned sheet and are 0.4, 0.8, 0.7, 0.9% of its size off after a
# second, with 0.99 to 1.02 of the kinetic energy; paper with 0.04, 0.06, 0.08 takes 52, 38, 33 for 1.6, 2.2, 3.6%.
# In wind: frames of a flag are 4 to 6% off by L-BFGS with 0.04, up to 16% with 0.06.
GAIN, GAIN_IN_WIND = 0.06, 0.04
# What Newton steps of soft sheets may leave, of the same measure. Most flags take one step a frame; 0.03 leaves up to
# 1.3 times the bending energy of the converged run after a second, 0.02 0.93 to 0.99 of it. Hanging sheets take one
# with either.
LEFT, LEFT_IN_WIND = 0.06, 0.02
# How far Newton steps go where things touch, in shares of the same measure: while sheets gain speed (always, where
# Newton's method was asked for or they are small), and while they lose it. As they come down 0.1 and less bring 0.96 to
# 1.07 of the converged kinetic energy, 0.12 and more 0.78 to 1.05; as they slow down 0.08 and two steps are no better
# than 0.25 and one, at 3 ms a frame more of 28 (1.6k vertices).
SHARPLY, SLOWING = Care(last=0.08, least=2), Care(last=0.25, least=1)
# Share of the scene's size by which its speed could carry a sheet up, against gravity, down to which it is solved so
# while it loses speed, and vertices up to which. L-BFGS leaves 0.6 to 0.8 of the converged kinetic energy in the
# twelfth frame of a drape, Newton's steps 0.78 to 0.9; below, where little moves, it keeps the folds that there are.
# (0.3 and 0.7% take 1 to 3 ms a frame more at 1.6k vertices and leave energies alike.) Finer meshes wrinkle: of 6.4k
# vertices 0.88 to 0.9 for 10 ms a frame more of 75, of 25.6k 1.7 to 2.6 of the bending energy instead of 1.2 to 1.7.
LIVELY, COARSE = 0.015, 3_000
# What L-BFGS may leave where the sharper of these fail: with 0.06, 0.03 a sheet that begins to buckle over a ball has
# 0.8, 0.95 of the converged kinetic energy (with 0.12 it has 0.2).
GAIN_SHARP = 0.03
# Where things touch: 0.08 and 20 took 6% more gradients of a drape for 24.0 instead of 24.2% of error in a frame.
GAIN_TOUCHING, TIRING = 0.12, 15.0
# Where elastic forces move a sheet by less than this share of what its loads do (most of it is in free fall), the loads
# are the measure: halves the cost of the first frames after a release.
FELT = 1.0
# Share of the last acceleration in the guess. From states of a converged run a solve of a flag starts 52% off with ½,
# 38 with ¾ and 15 with 1. But in a run that is solved only as far as it needs, accelerations carry the errors of the
# last positions over h²: ½, 0.65, 1 took 48, 42, 39 gradients a frame of a flag, 37, 35, 44 of a pinned sheet, and from
# ¾ on fine wrinkles hold more bending energy than they should (extrapolating the acceleration too took 72 and 69).
# Newton steps in wind, which pulls wrinkles flat, make the most of a better guess; sheets that hang are 1.5 to 2% of
# their size off after a second with 0.9, 0.4 to 0.8 with 0.65.
ONWARD, ONWARD_IN_WIND = 0.65, 0.9
# Newmark damps nothing, so what a solve leaves undone stays for good.
UNDAMPED = 1e-4
# Vertices up to which soft sheets that touch something are always solved by Newton's method, and sharply. Larger ones
# are while they gain speed: as they come down on something and buckle L-BFGS, as far as frames need for speed, has 0.6
# of the kinetic and 0.05 of the bending energy.
SMALL = 1_000
# Largest tolerance where things touch, as a share of the scene's size.
CONTACT = 1e-4
SMALLEST = 1e-11
MOST = {"quasi_newton": 400, "newton": 200, "newton_cg": 200}
# The same for L-BFGS where a tolerance asks for accuracy. The reference sheet at 1e-8 of its size takes 400 to 2700; a
# step that is halved because it is not there yet has another, less damped motion and is no reference for anything.
PATIENT = 20_000
# Square of the sheet's sizes that a membrane wave travels in a step, from which Newton is the cheaper road.
STIFF = 40.0

Solving = Generator[tuple[str, int, float], None, Solution]
"""Yields stage, iteration and size of the solver's last step [m]; returns the solution."""


class Road:
    """Chooses and takes it, step after step.

    `fragile`: whether shells may break. `solver`, `iterations`, `tolerance` [m] as given to `simulate`.
    """

    def __init__(
        self,
        scene: Scene,
        integrator: Integrator,
        fragile: bool,
        solver: str,
        iterations: int | None,
        tolerance: float | None,
    ) -> None:
        self.iterations = iterations
        self.stats: dict[str, Any] = {}
        """Of the frame under way: what solves cost is added here."""
        self.size = float(np.linalg.norm(np.ptp(integrator.system.start, axis=0)))
        """Of the scene [m]."""
        self.trust = Trust()
        self._scene = scene
        self._integrator = integrator
        # Newmark damps nothing: a run of it, whatever single steps are taken by.
        self.undamped = integrator.name == "newmark"
        self._fragile = fragile
        self._given = tolerance
        self._solver = solver
        self._memory = Memory(0)
        # Of the step under way:
        self.tolerance = SMALLEST * self.size if tolerance is None else tolerance
        """What the position may err by [m], root mean square."""
        self._method = ""
        self._asked = False
        """Whether Newton's method is that of soft flat sheets because Newton's was asked for."""
        self._gain: float | None = None
        # Whether soft flat sheets are solved by their Newton's method alone, and where they touch, and how far then.
        self._sheets = self._sharp = False
        self._care: Care | None = None
        self._most = 0
        self._stiffened = 1.0
        self._touching = self._met = False
        self._available = np.inf

    @property
    def _system(self) -> System:
        # Not kept: a cut makes another.
        return self._integrator.system

    # At the start of a step

    def begin(self, integrator: Integrator, state: State, h: float) -> tuple[StepPotential, Floats]:
        """The potential of a step and where to start; choose the road, and what is near enough."""
        self._integrator = integrator
        waves = self._waves(integrator.solved(h))
        # How much stiffer than inertia the constant matrix takes the slowest motion along normals to be: L-BFGS's steps
        # are that much shorter than what is left to go. Where they were taken at their word, a sheet about to buckle
        # was left 2% of a frame's motion short of it.
        self._stiffened = 1.0 + np.pi**2 * waves
        self._method = self.stats["solver"] = self._chosen(waves)
        quasi = self._method == "quasi_newton"
        contact = self._system.contact
        if contact.exists:
            contact.keep_springs(self.iterations is None and self._in_contact() != "quasi_newton")
        potential, guess = integrator.begin(state, h)
        soft = potential.soft_sheets and self.iterations is None and not self._fragile
        alike = integrator.jacobian == "constant" and not self.undamped and waves <= STIFF
        self._asked = soft and self._solver == "newton" and alike
        self._sharp = self._asked or self._system.vertex_count <= SMALL
        by_default = soft and self._solver == "auto" and quasi and alike and self._given is None
        self._care = SHARPLY if self._asked else self._care_for(state) if by_default else None
        fit = soft and self._solver == "auto" and (quasi or self.undamped)
        self._sheets = self._asked or (fit and (self._given is not None or self.trust.asked()))
        if quasi or self._asked:
            stretched = self._sheets and potential.windy
            guess = integrator.guess(potential, ONWARD_IN_WIND if stretched else ONWARD)
        # Where there is something to fall on, flight is judged like contact: it is over soon.
        self._choose_tolerance(potential, touching=contact.exists and bool(self._scene.colliders))
        self._met, self._available = False, np.inf
        if self._memory.vertex_count != self._system.vertex_count:
            self._memory = Memory(self._system.vertex_count)
        # Pairs of the last step stand for directions that have turned since: kept, they cost 5 to 40% more gradients.
        self._memory.clear()
        return potential, guess

    def meet(self, potential: StepPotential) -> bool:
        """From here on things touch; whether that means another method, and with it another guess."""
        before, self._method = self._method, self._in_contact()
        self.stats["solver"] = self._method
        self._met = True
        self._choose_tolerance(potential, touching=True)
        return before != self._method

    def feel(self, push: float) -> None:
        """An impact moves the sheet by `push` [m] (root mean square): the last step, in free flight, knew nothing of
        it."""
        if self._given is None:
            share = UNDAMPED if self.undamped else TOLERANCE
            self.tolerance = max(self.tolerance, min(share * push, CONTACT * self.size))

    def _choose_tolerance(self, potential: StepPotential, touching: bool) -> None:
        """What is near enough for a step, and how many iterations it may take."""
        quasi = self._method == "quasi_newton"
        if self._given is None:
            newmark = self.undamped
            # Positions err by an acceleration times h²: what a step may err by shrinks with it.
            least = SMALLEST * self.size * min(1.0, (24.0 * potential.h) ** 2)
            self.tolerance = max(least, (UNDAMPED if newmark else TOLERANCE) * potential.departure)
            judged = not newmark and self.iterations is None and quasi
            moved = self._moved(potential)
            share = GAIN_TOUCHING if touching else GAIN_IN_WIND if potential.windy else GAIN
            self._gain = max(least, share * moved) if judged else None
            if self._gain is not None and not touching:
                self.tolerance = 0.1 * self._gain
            if touching:
                # A contact layer is thin: a looser solve leaves sheets hovering, without normal force or friction.
                self.tolerance = min(self.tolerance, CONTACT * self.size)
        patient = quasi and self._given is not None and not touching
        self._most = self.iterations or (PATIENT if patient else MOST[self._method])
        self._touching = touching

    # What was chosen

    @property
    def ends_early(self) -> bool:
        """Whether solves end where motion is right, before energy is: those of soft flat sheets."""
        return self._method == "quasi_newton" or (self._asked and self._given is None)

    def keeps_energy(self) -> bool:
        """Whether steps must not gain any. Not where colliders move, which do work, nor where solves of soft flat
        sheets end early: the strain that they leave in folds comes and goes, and the motion would pay for it."""
        bound = self._integrator.name == "implicit_euler" and self.iterations is None and self._system.still
        return bound and (not self.ends_early or self._system.curved)

    # Taking it

    def alone(self, potential: StepPotential, guess: Floats) -> Solving:
        """Minimum of the potential of shells that touch nothing, from a guess that may be far from it."""
        return self.minimised(potential, guess, far=True, sheets=self._sheets)

    def in_round(self, potential: StepPotential, guess: Floats, attempt: int, available: float) -> Solving:
        """The same of shells that touch, for the `attempt`-th time with contacts looked up anew; `available` [J]: the
        energy at the start of the step, which its end may not exceed.

        What soft sheets have left to do after the first is slight, and L-BFGS does it for a fifth of the price.
        """
        self._available = available
        if self._care is not None and attempt and self._given is None:
            return self._watched(self._eased(potential, guess, GAIN_TOUCHING, TIRING))
        return self.minimised(potential, guess, far=attempt == 0, sheets=self._care is not None)

    def again(self, potential: StepPotential, x: Floats, sharper: float = 1.0) -> Solving:
        """The same once more from x, by what is surest, to a share `sharper` of the tolerance."""
        surest = "quasi_newton" if self.ends_early else "newton_cg" if self._method == "newton" else self._method
        tolerance = self.tolerance
        self.tolerance = sharper * tolerance
        try:
            return (yield from self.minimised(potential, x, surest))
        finally:
            self.tolerance = tolerance

    def minimised(
        self, potential: StepPotential, x: Floats, again: str = "", far: bool = False, sheets: bool = False
    ) -> Solving:
        """Minimum of the potential from x, which may be `far` from it; once more by the method `again`, if given.
        `sheets`: by Newton's method for soft flat sheets first."""
        method, most = (again, MOST[again]) if again else (self._method, self._most)
        contact = self._system.contact
        touching = contact.exists and contact.presses(x)
        if sheets and self._met and not (touching and contact.bears) and self.ends_early:
            # An impact: nothing pressed before it, and whole steps then crumple what is still flat.
            return (yield from self._watched(self._eased(potential, x, GAIN_SHARP, far=far)))
        if sheets:
            solution = yield from self._watched(self._sheet_steps(potential, x, touching))
            if solution.converged:
                self.stats["solver"] = "sheet_newton"
                return solution
            if method == "quasi_newton" and not self._met:
                x, far = solution.x, False
            elif self.ends_early:
                # Sheets that touch themselves, or buckle on and on: whole Hessians of theirs take seconds a frame.
                # What touches itself is left as it is by default, unless a step has shown that there is more to do.
                sharp = self._asked or (self._sharp and solution.counts.iterations > 0)
                share, tiring = (GAIN_SHARP, np.inf) if sharp else (GAIN_TOUCHING, TIRING)
                return (yield from self._watched(self._eased(potential, solution.x, share, tiring)))
        whole = method == "newton" and self._system.vertex_count <= FACTORED
        if whole and (not touching or (self.iterations is None and not self._system.curved)):
            solution = yield from self._watched(mixed_newton(potential, x, self.tolerance, most))
            if solution.converged or self.iterations is not None:
                return solution
        if method in ("newton", "newton_cg"):
            stiff = contact.exists and self._method == "newton"
            steps = newton(potential, x, self.tolerance, most, certain=stiff)
        else:
            tiring = TIRING if self._touching else np.inf
            tolerance = self.tolerance if self._gain is None else min(self.tolerance, 0.1 * self._gain)
            if most == PATIENT:
                tolerance /= self._stiffened
            steps = quasi_newton(potential, x, tolerance, most, self._memory, self._gain, tiring, far)
        solution = yield from self._watched(steps)
        slow = method == "newton" and not (solution.converged or contact.exists) and self._given is not None
        if slow and self.iterations is None and np.isfinite(solution.x).all():
            # Where sheets buckle Newton's Hessian lacks compression and its steps shrink slowly; L-BFGS learns it.
            tolerance = self.tolerance / self._stiffened
            solution = yield from self._watched(quasi_newton(potential, solution.x, tolerance, PATIENT, self._memory))
        return solution

    def _sheet_steps(self, potential: StepPotential, x: Floats, touching: bool) -> Steps:
        """Newton's method for soft flat sheets: as far as a frame needs, or to the tolerance."""
        moved = self._moved(potential)
        refined = refinements(len(x), touching, potential.windy)
        if touching:
            assert self._care is not None
            last = self.tolerance if self._given is not None else max(self.tolerance, self._care.last * moved)
            steps = touching_newton(potential, x, last, self._care.least, refined, self._available)
        elif self._gain is None:
            # In free fall elastic forces move nothing, and a share of that would never be reached.
            felt = self._asked and self._given is None
            left = max(self.tolerance, TOLERANCE * moved) if felt else self.tolerance
            steps = exact_sheet_newton(potential, x, left, moved, EXACT_SHEET_STEPS)
        else:
            left = (LEFT_IN_WIND if potential.windy else LEFT) * moved
            steps = sheet_newton(potential, x, left, moved, SHEET_STEPS, refined)
        solution = yield from steps
        if self._given is None and not (self._asked or touching):
            self.trust.report(solution.converged)
        return solution

    def _eased(
        self, potential: StepPotential, x: Floats, share: float, tiring: float = np.inf, far: bool = False
    ) -> Steps:
        """L-BFGS until no more than a `share` of what moves the sheets is left."""
        self.stats["solver"] = "quasi_newton"
        left = share * self._moved(potential)
        tolerance = min(self.tolerance, 0.1 * left)
        return quasi_newton(potential, x, tolerance, MOST["quasi_newton"], self._memory, left, tiring, far)

    def _watched(self, steps: Steps) -> Solving:
        """Progress of a solve, then its solution, with what it cost added to the stats."""
        iteration = 0
        while True:
            try:
                stage, change = next(steps)
            except StopIteration as end:
                solution: Solution = end.value
                break
            iteration += 1
            yield stage, iteration, change
        for name in ("iterations", "gradients", "products", "factorisations"):
            self.stats[name] += getattr(solution.counts, name)
        return solution

    def _moved(self, potential: StepPotential) -> float:
        """How far elastic forces, or loads, move sheets in a step [m]: what errors are measured by."""
        return max(potential.departure, FELT * potential.carried)

    def _care_for(self, state: State) -> Care | None:
        """How far Newton steps go by default where soft sheets touch; None: they are left to L-BFGS."""
        momentum = self._system.mass[:, None] * state.v
        if self._sharp or inner(momentum, state.a) > 0.0:
            # Forces did work on them at the end of the last step.
            return SHARPLY
        rise = 0.5 * inner(momentum, state.v) / float(self._system.mass.sum())
        lively = rise > LIVELY * self.size * float(np.linalg.norm(self._scene.gravity_at(state.time)))
        return SLOWING if lively and self._system.vertex_count <= COARSE else None

    def _waves(self, h: float) -> float:
        """(Distance a membrane wave travels in h [s] / size of the sheet)², of the shell where it is largest."""
        scales = self._system.stretch_scales
        return max(scale * h * h * rate for scale, rate in zip(scales, self._rates, strict=True))

    @cached_property
    def _rates(self) -> list[float]:
        """(Speed of membrane waves / size of the sheet)² [1/s²] of every shell, before its stretch was lowered."""
        return [_wave_rate(shell) for shell in self._scene.shells]

    def _chosen(self, waves: float) -> str:
        if self._solver != "auto":
            return self._solver
        if self.undamped and self._system.vertex_count <= FACTORED:
            return "newton"
        return "newton" if waves > STIFF else "quasi_newton"

    def _in_contact(self) -> str:
        alone = not self._scene.colliders and not self._fragile and all(shell.pins for shell in self._scene.shells)
        if alone and self._solver == "auto" and not self.undamped:
            # Held sheets that touch nothing but themselves: what Newton gains in sharpness, which friction on a floor
            # needs (a stiff sheet on an incline) and lips of cracks, it loses over and over as contacts come and go.
            return "quasi_newton"
        return self._method


def _wave_rate(shell: Shell) -> float:
    """(Speed of membrane waves / size of the sheet)² [1/s²]."""
    stretch = max(float(np.max(a)) for a in shell.material.stretch)
    density = float(np.min(shell.material.areal_density))
    size = float(np.linalg.norm(np.ptp(shell.rest_positions, axis=0))) / np.sqrt(2.0)
    return float(stretch / (density * size * size))
