"""Physics of thin sheets and shells, in pure numpy and scipy. How it works, in the order data flows:

1. `mesh` turns faces into edges and hinges; `Material` says what the sheet is made of; `Shell` joins them with a rest
   state, pins and loads; `Scene` puts shells among colliders, gravity and wind.
2. `System` turns a scene into energies on one stacked array of positions (n, 3). Every force is an energy
   that answers value, gradient and Hessian (`energies/`, `subdivision/`), so every model can be swapped for another.
3. `integrators` make one incremental potential a step: inertia plus all energies. Time stepping is its minimisation.
4. `solver` minimises it: quasi-Newton from a matrix factored once, or Newton; `sheet_steps` for soft sheets; `road`
   chooses among them, and says how near is near enough.
5. `simulate` loops over frames and steps (`step` solves one, with its contacts; `balance` lets none gain energy),
   halves what does not converge, and yields a `Frame` of plain arrays; `saved` takes a run up again.
   After a step shells may yield (`plasticity`) and break (`fracture`); `cracks` goes on with the cut system.
6. `equilibrium` finds the state of rest instead; `willmore_flow` smooths a surface by its own bending energy.
7. `modal` is the other road, for real time: the shell in its lowest modes, warped, driven by handles.

Units are SI, angles radians, arrays float64. Bad input raises `ShellError` and names what is at fault.
"""

from .axes import axes_from_uv
from .colliders import Collider, Plane, Sphere
from .damping import Damping
from .errors import ShellError, ShellWarning, StepFailed
from .forces import Wind
from .fracture import Fracture
from .frame import Frame
from .kawabata import KawabataResult, kawabata_test
from .material import Material
from .modal import Handle, HandleReport, ModalShell
from .plasticity import Plasticity
from .scene import Attach, Scene
from .shell import Shell
from .shell_energies import elastic_energies
from .simulate import Progress, progress, simulate
from .statics import equilibrium
from .subdivision.surface import fit_control, refine_control
from .willmore import WillmoreFlow, willmore_flow

__all__ = [
    "Attach",
    "Collider",
    "Damping",
    "Fracture",
    "Frame",
    "Handle",
    "HandleReport",
    "KawabataResult",
    "Material",
    "ModalShell",
    "Plane",
    "Plasticity",
    "Progress",
    "Scene",
    "Shell",
    "ShellError",
    "ShellWarning",
    "Sphere",
    "StepFailed",
    "WillmoreFlow",
    "Wind",
    "axes_from_uv",
    "elastic_energies",
    "equilibrium",
    "fit_control",
    "kawabata_test",
    "progress",
    "refine_control",
    "simulate",
    "willmore_flow",
]
