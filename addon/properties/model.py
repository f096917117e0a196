"""Model: how bending and stretch are computed, how time advances."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...shellcore.dynamics.step_size import ACCURACY
from ...shellcore.stretch_cap import STRAIN_LIMIT
from ..bridge.mesh import MODIFIER
from . import versions

# Numbers of items stay with their names for ever: files hold them.
BENDING = [
    ("cubic", "Cubic", "Cubic Shells: fast, for flat and curved rest shapes. The default", 0),
    ("hinge", "Hinge", "Exact angles at every fold, slower: for sharp creases and strong curl", 1),
    (
        "quadratic",
        "Quadratic",
        "Fastest, for sheets that are flat at rest (Rest Angles: Flat for others)",
        2,
    ),
    (
        "subdivision",
        "Subdivision",
        "Smooth finite elements on the Loop surface of the mesh: folds that do not depend on its resolution; slowest. "
        "Best with six edges at every vertex (quads split all one way)",
        3,
    ),
]
MEMBRANE = [
    ("fem", "Finite Elements", "Stretch, shear and Poisson's ratio as the material says", 0),
    ("springs", "Springs", "Springs along edges and on areas: the same in all directions, cheaper, less exact", 1),
]
INTEGRATORS = [
    (
        "implicit_euler",
        "Implicit Euler",
        "Always stable, quick. Damps motion: what swings soon hangs still. The default",
        0,
    ),
    (
        "sdirk2",
        "SDIRK2",
        "As nature does it: what swings goes on to swing, friction holds as it should. As many steps a frame as "
        "Quality asks for; several times slower than Implicit Euler, most where sheets touch",
        5,
    ),
    ("newmark", "Newmark", "Keeps energy: livelier motion, slower. Steps that would gain any are damped", 1),
    (
        "imex_bending",
        "Implicit Bending",
        "Stretch is stepped forward without solving: for very stretchy sheets only",
        2,
    ),
    (
        "imex_membrane",
        "Implicit Membrane",
        "Bending is stepped forward without solving: for very limp sheets only",
        3,
    ),
    ("explicit", "Explicit", "Cheap steps, hundreds of them a frame: for comparison", 4),
]
QUALITIES = [
    ("DRAFT", "Draft", "A few steps: for a first look", 0),
    ("DEFAULT", "Default", "As the eye asks for", 1),
    ("FINAL", "Final", "Many steps: each motion as it would be", 2),
    ("CUSTOM", "Custom", "By a number", 3),
]
SOLVERS = [
    ("auto", "Automatic", "Chosen by the stiffness of the sheet and by how it moves; as quick as looks right", 0),
    ("quasi_newton", "Quasi-Newton", "Quickest for soft sheets; brings drapes down too softly", 1),
    (
        "newton",
        "Newton",
        "Solves every step sharply: for stiff sheets, and drapes that fall and fold as they should; slower",
        2,
    ),
]
JACOBIANS = [
    ("constant", "At Rest", "As the sheet bends about its rest shape: quickest where folds are gentle", 0),
    ("cubic", "Roughly", "Follows folds as they form: between the two", 1),
    ("exact", "Exactly", "Follows every fold: dearer steps, fewer of them where folds are sharp", 2),
]


def steps_by_quality(settings: Any) -> bool:
    """Whether Quality says how many steps a frame takes, not Steps."""
    return bool(settings.integrator == "sdirk2")


def _enabled(settings: Any, _context: Any) -> None:
    """What a new shell has otherwise than those of older files, however it was made: by button, script or preset."""
    if settings.enabled:
        versions.begin(settings)
        _leave_outer_thickness(settings)


def _leave_outer_thickness(settings: Any) -> None:
    """A new shell has no modifier of ours yet. It leaves Outer Thickness alone, unless others of its file keep it."""
    obj = settings.id_data
    if MODIFIER in obj.modifiers or settings.is_property_set("use_outer_thickness"):
        return
    every: Any = bpy.data.objects
    shells = [other.thin_shell for other in every if other != obj and other.type == "MESH" and other.thin_shell.enabled]
    settings.use_outer_thickness = any(other.use_outer_thickness for other in shells)


TABLE = {
    "enabled": BoolProperty(
        name="Thin Shell", description="This object is a thin shell", default=False, update=_enabled
    ),
    "bending": EnumProperty(name="Bending", description="Model of bending", items=BENDING, default="cubic"),
    "membrane": EnumProperty(
        name="Membrane", description="Model of stretch in the surface", items=MEMBRANE, default="fem"
    ),
    "integrator": EnumProperty(
        name="Integrator", description="How time advances", items=INTEGRATORS, default="implicit_euler"
    ),
    "quality": EnumProperty(
        name="Quality", description="How near to nature motion is", items=QUALITIES, default="DEFAULT"
    ),
    "accuracy": FloatProperty(
        name="Accuracy",
        description="How far a sheet may stray in the time of one swing of its own, in percent of its size; smaller: "
        "more steps",
        default=100 * ACCURACY["default"],
        min=0.001,
        max=100.0,
        precision=3,
        subtype="PERCENTAGE",
    ),
    "newmark_beta": FloatProperty(
        name="Beta", description="Newmark's β; ¼ keeps energy, 0 is explicit", default=0.25, min=0.0, max=0.5
    ),
    "newmark_gamma": FloatProperty(
        name="Gamma", description="Newmark's γ; above ½ it damps", default=0.5, min=0.0, max=1.0
    ),
    "substeps": IntProperty(
        name="Steps per Frame",
        description="Time steps a frame. More steps: livelier motion, faster contacts, more time",
        default=1,
        min=1,
        soft_max=20,
        max=10000,
    ),
    "solver": EnumProperty(name="Solver", description="How each step is solved", items=SOLVERS, default="auto"),
    "jacobian": EnumProperty(
        name="Follow Folds",
        description="How Newton's method foresees bending: the time differs, the result does not",
        items=JACOBIANS,
        default="constant",
    ),
    "tolerance": FloatProperty(
        name="Tolerance",
        description="Position error allowed in a step [mm]; 0: chosen by how far the sheet moves. Smaller: slower",
        default=0.0,
        min=0.0,
        max=1e4,
        precision=4,
        subtype="DISTANCE_CAMERA",
    ),
    "iterations": IntProperty(
        name="Most Iterations",
        description="Solver iterations a step, result taken as it is; 0: as many as the tolerance needs",
        default=0,
        min=0,
        max=10000,
    ),
    "strain_limit": FloatProperty(
        name="Strain Limit",
        description="A flat sheet stiffer than the eye can see is softened until its loads stretch it by this much "
        "[%]: far faster, same bending. 0 keeps the material's stretch, as buckling of stiff sheets needs",
        default=100 * STRAIN_LIMIT,
        min=0.0,
        max=10.0,
        precision=3,
    ),
    "hinge_fit": BoolProperty(
        name="Fit to Mesh",
        description="Weigh folds so that the sheet bends alike in every direction of its triangulation",
        default=False,
    ),
    "settings_version": IntProperty(
        name="Version", description="Whose defaults the settings have", options={"HIDDEN"}, default=versions.FIRST
    ),
    "live_iterations": IntProperty(
        name="Preview Iterations",
        description="Solver iterations a step in Live mode: fewer play faster and look softer. SDIRK2 plays in Draft "
        "quality instead",
        default=12,
        min=1,
        max=1000,
    ),
}
