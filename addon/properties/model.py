"""Model: how bending and stretch are computed, how time advances."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...shellcore.stretch_cap import STRAIN_LIMIT

BENDING = [
    ("cubic", "Cubic", "Cubic Shells: fast, for flat and curved rest shapes. The default"),
    ("hinge", "Hinge", "Discrete Shells: exact angles at every fold, slower; sharp creases and strong curl"),
    (
        "quadratic",
        "Quadratic",
        "Isometric bending: fastest, for sheets that are flat at rest (Rest Angles: Flat for others)",
    ),
    (
        "subdivision",
        "Subdivision",
        "Smooth finite elements on the Loop surface of the mesh: folds that do not depend on its resolution; slowest. "
        "Best with six edges at every vertex (quads split all one way)",
    ),
]
MEMBRANE = [
    ("fem", "Finite Elements", "Constant-strain triangles: stretch, shear and Poisson's ratio as the material says"),
    ("springs", "Springs", "Springs along edges and on areas (Discrete Shells): isotropic, cheaper, less exact"),
]
INTEGRATORS = [
    ("implicit_euler", "Implicit Euler", "Always stable, damps motion. The default"),
    ("newmark", "Newmark", "Keeps energy: livelier motion, slower. Steps that would gain any are damped"),
    ("imex_bending", "IMEX, Bending Implicit", "Membrane explicit: for very stretchy sheets only"),
    ("imex_membrane", "IMEX, Membrane Implicit", "Bending explicit: for very limp sheets only"),
    ("explicit", "Explicit", "Cheap steps, hundreds of them a frame: for comparison"),
]
SOLVERS = [
    ("auto", "Automatic", "Chosen by the stiffness of the sheet and by how it moves; as quick as looks right"),
    ("quasi_newton", "Quasi-Newton", "One matrix factored once: for soft sheets"),
    ("newton", "Newton", "The true Hessian: for stiff sheets, and drapes that fall and fold as they should; slower"),
]
JACOBIANS = [
    ("constant", "Constant", "Bending matrix of the rest shape (CC)"),
    ("cubic", "Cubic", "Bending matrix of the cubic energy (CS)"),
    ("exact", "Exact", "Bending matrix of the exact angles (NH)"),
]

TABLE = {
    "enabled": BoolProperty(name="Thin Shell", description="This object is a thin shell", default=False),
    "bending": EnumProperty(name="Bending", description="Model of bending", items=BENDING, default="cubic"),
    "membrane": EnumProperty(
        name="Membrane", description="Model of stretch in the surface", items=MEMBRANE, default="fem"
    ),
    "integrator": EnumProperty(
        name="Integrator", description="How time advances", items=INTEGRATORS, default="implicit_euler"
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
        name="Bending Matrix", description="Matrix of bending in Newton's method", items=JACOBIANS, default="constant"
    ),
    "tolerance": FloatProperty(
        name="Tolerance",
        description="Position error allowed in a step [mm]; 0: chosen by how far the sheet moves. Smaller: slower",
        default=0.0,
        min=0.0,
        max=1e4,
        precision=4,
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
    "live_iterations": IntProperty(
        name="Preview Iterations",
        description="Solver iterations a step in Live mode: fewer play faster and look softer",
        default=12,
        min=1,
        max=1000,
    ),
}
