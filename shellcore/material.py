"""What a sheet is made of: stiffness, bending rigidity, weight, thickness.

Orthotropic throughout: direction 1 is the warp axis of a face, 2 the weft, in the plane and square to it. The energy
densities are ½(A11 ε11² + 2 A12 ε11 ε22 + A22 ε22² + 4 A66 ε12²) [J/m²] for the membrane and the same in D and
curvature for bending, with A12 = poisson·√(A11·A22) and D12 = bend_poisson·√(D11·D22). Stretch and bending are
independent: yarns slide, so a fabric's bending does not follow from its tensile modulus.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import ShellError, listed
from .presets import PRESETS, Preset
from .types import Bools, Floats

Number = float | Floats
"""One value for the sheet, or one per face, shape (m,)."""
Pair = tuple[Number, Number]
"""Values along warp and weft."""
Moduli = tuple[Floats, Floats, Floats, Floats]
"""Components 11, 22, 12, 66, each of shape (m,)."""

# Products of a few moduli must not run over.
LARGEST = 1e60
# One gram-force per centimetre, in N/m, and one gf·cm²/cm, in N·m (standard gravity 9.80665 m/s²).
GF_PER_CM = 0.980665
GF_CM2_PER_CM = 0.980665e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class Material:
    """Elastic constants and weight of a sheet; any number may be an array of one value per face.

    `stretch` and `bend` take a (warp, weft) tuple, or one number or per-face array for both directions.
    Raises `ShellError` for what is not finite or not positive definite. `bend=0` is a pure membrane.
    """

    stretch: Pair
    """A11, A22 [N/m]."""
    shear: Number | None = None
    """A66 [N/m]; None: (1 - poisson)/2·√(A11·A22), the isotropic value."""
    poisson: Number = 0.0
    """A12/√(A11·A22)."""
    bend: Pair
    """D11, D22 [N·m]."""
    bend_shear: Number | None = None
    """D66, twisting rigidity [N·m]; None: (1 - bend_poisson)/2·√(D11·D22), the isotropic value."""
    bend_poisson: Number = 0.0
    """D12/√(D11·D22)."""
    areal_density: Number
    """[kg/m²]"""
    thickness: Number
    """[m]"""

    def __post_init__(self) -> None:
        for name in ("stretch", "bend"):
            object.__setattr__(self, name, _pair(name, getattr(self, name)))
        for name in ("shear", "poisson", "bend_shear", "bend_poisson", "areal_density", "thickness"):
            value = getattr(self, name)
            derived = value is None and name in ("shear", "bend_shear")
            object.__setattr__(self, name, None if derived else _number(name, value))
        self._check()

    @staticmethod
    def solid(*, young: Number, poisson: Number, thickness: Number, density: Number) -> Material:
        """A homogeneous isotropic plate: Young's modulus [Pa], Poisson's ratio, thickness [m], density [kg/m³].

        Kirchhoff plate: A = Et/(1-ν²), A66 = Et/2(1+ν), D = Et³/12(1-ν²), D66 = (1-ν)D/2.
        """
        e, nu, t, rho = (
            _number(n, v)
            for n, v in (("young", young), ("poisson", poisson), ("thickness", thickness), ("density", density))
        )
        for name, value in (("young", e), ("thickness", t), ("density", rho)):
            _require(np.asarray(value) > 0, f"{name} must be positive")
        # Beyond these bounds the three-dimensional solid has a negative shear or bulk modulus.
        nus = np.asarray(nu)
        _require((nus > -1) & (nus <= 0.5), "poisson must lie in (-1, 0.5]")
        _common_length({"young": e, "poisson": nu, "thickness": t, "density": rho})
        plate = e * t / (1 - nu**2)
        rigidity = plate * t**2 / 12
        return Material(
            stretch=(plate, plate),
            shear=e * t / (2 * (1 + nu)),
            poisson=nu,
            bend=(rigidity, rigidity),
            bend_shear=(1 - nu) * rigidity / 2,
            bend_poisson=nu,
            areal_density=rho * t,
            thickness=t,
        )

    @staticmethod
    def preset(name: str) -> Material:
        """The material of that name; `Material.presets()` lists them with their sources."""
        row = PRESETS.get(name) if isinstance(name, str) else None
        if row is None:
            raise ShellError(f"no material preset is called {name!r}; there are: {', '.join(sorted(PRESETS))}")
        return Material(
            stretch=row.stretch,
            shear=row.shear,
            poisson=row.poisson,
            bend=row.bend,
            bend_shear=row.bend_shear,
            bend_poisson=row.bend_poisson,
            areal_density=row.areal_density,
            thickness=row.thickness,
        )

    @staticmethod
    def presets() -> dict[str, Preset]:
        """Every preset by name, with its source and whether it is an order of magnitude."""
        return dict(PRESETS)

    @staticmethod
    def from_kawabata(
        *,
        bending: Number | Pair,
        shear: Number | Pair,
        weight: Number,
        thickness: Number,
        extension: Number | Pair | None = None,
        linearity: Number | Pair = 1.0,
        maximum_load: float = 500.0,
        tensile: Number | Pair | None = None,
        poisson: Number = 0.0,
        bend_poisson: Number = 0.0,
        bend_shear: Number | None = None,
    ) -> Material:
        """From KES-F measurements, in that system's units; pairs are (warp, weft).

        - `bending` B [gf·cm²/cm]: 1 = 9.80665e-5 N·m. The tester bends a strip far wider than long, so B is D11, D22.
        - `shear` G [gf/(cm·degree)]: 1 = 0.980665·180/π = 56.19 N/m of A66; a pair is averaged, as shear is one number.
        - `weight` W [mg/cm²]: 1 = 0.01 kg/m². `thickness` T [mm].
        - tensile, either `extension` EMT [%] at `maximum_load` [gf/cm] with `linearity` LT, or `tensile` [gf/cm per
          unit strain]: 1 = 0.980665 N/m. The load curve of cloth is convex; stiffness LT·F/EMT stores the measured
          energy WT = LT·F·EMT/2 at the same extension. The strip is held at full width, so this is A11, A22.

        The system measures no Poisson's ratio and no twisting rigidity: 0 and the isotropic value unless given.
        """
        if (extension is None) == (tensile is None):
            raise ShellError("from_kawabata needs either extension (EMT) or tensile, not both")
        if extension is not None:
            emt, lt = _pair("extension", extension), _pair("linearity", linearity)
            for axis in range(2):
                _require(np.asarray(emt[axis]) > 0, "extension must be positive")
            stiffness = [lt[axis] * maximum_load * GF_PER_CM / (emt[axis] / 100) for axis in range(2)]
        else:
            stiffness = [value * GF_PER_CM for value in _pair("tensile", tensile)]
        warp, weft = _pair("bending", bending)
        shear_warp, shear_weft = _pair("shear", shear)
        return Material(
            stretch=(stiffness[0], stiffness[1]),
            shear=(shear_warp + shear_weft) / 2 * GF_PER_CM * (180 / math.pi),
            poisson=poisson,
            bend=(warp * GF_CM2_PER_CM, weft * GF_CM2_PER_CM),
            bend_shear=None if bend_shear is None else _number("bend_shear", bend_shear) * GF_CM2_PER_CM,
            bend_poisson=bend_poisson,
            areal_density=_number("weight", weight) * 0.01,
            thickness=_number("thickness", thickness) * 1e-3,
        )

    def membrane_moduli(self, face_count: int) -> Moduli:
        """A11, A22, A12, A66 [N/m], each of shape (face_count,)."""
        return self._moduli("stretch", "shear", "poisson", face_count)

    def bending_moduli(self, face_count: int) -> Moduli:
        """D11, D22, D12, D66 [N·m], each of shape (face_count,)."""
        return self._moduli("bend", "bend_shear", "bend_poisson", face_count)

    def face_areal_density(self, face_count: int) -> Floats:
        """[kg/m²], shape (face_count,)."""
        return _spread("areal_density", self.areal_density, face_count)

    def face_thickness(self, face_count: int) -> Floats:
        """[m], shape (face_count,)."""
        return _spread("thickness", self.thickness, face_count)

    def _moduli(self, axes: str, shear: str, poisson: str, face_count: int) -> Moduli:
        first, second = (_spread(axes, value, face_count) for value in getattr(self, axes))
        nu = _spread(poisson, getattr(self, poisson), face_count)
        mean = np.sqrt(first * second)
        given = getattr(self, shear)
        twist = (1 - nu) / 2 * mean if given is None else _spread(shear, given, face_count)
        return first, second, nu * mean, twist

    def _check(self) -> None:
        named: dict[str, Number] = {"poisson": self.poisson, "bend_poisson": self.bend_poisson}
        named |= {"areal_density": self.areal_density, "thickness": self.thickness}
        named |= {f"{n}[{i}]": v for n in ("stretch", "bend") for i, v in enumerate(getattr(self, n))}
        named |= {n: getattr(self, n) for n in ("shear", "bend_shear") if getattr(self, n) is not None}
        count = _common_length(named)
        uniform = not any(isinstance(value, np.ndarray) for value in named.values())

        for name in ("areal_density", "thickness"):
            _require(np.asarray(named[name]) > 0, f"{name} must be positive")
        for name in ("stretch", "bend"):
            for value in getattr(self, name):
                _require(np.asarray(value) >= 0, f"{name} must not be negative")
        bending = self.bending_moduli(count)
        unbending = (bending[0] == 0) & (bending[1] == 0) & (bending[3] == 0)
        checks = [(_definite(self.membrane_moduli(count)), f"the membrane is {_WHY_STRETCH}")]
        checks += [(unbending | _definite(bending), f"the bending is {_WHY_BEND}")]
        for definite, why in checks:
            _require(definite.all() if uniform else definite, why)


def directional_rigidity(moduli: Moduli, cosine: Floats, sine: Floats) -> Floats:
    """Rigidity against bending to a cylinder along a direction at an angle α to the warp, given cos α and sin α.

    D11 cos⁴α + D22 sin⁴α + (2 D12 + 4 D66) cos²α sin²α [N·m]: Cubic Shells eq. (8) with the Poisson term and with
    the shear modulus in full weight, as the density above has it; an isotropic material has no direction then.
    """
    d11, d22, d12, d66 = moduli
    c: Floats = cosine**2
    s: Floats = sine**2
    result: Floats = d11 * c**2 + d22 * s**2 + (2 * d12 + 4 * d66) * (c * s)
    return result


_WHY_STRETCH = "not positive definite: it needs stretch > 0, shear > 0 and |poisson| < 1"
_WHY_BEND = (
    "not positive definite: it needs bend > 0, bend_shear > 0 and |bend_poisson| < 1 "
    "(or bend = 0 for a sheet with no bending stiffness)"
)


def _definite(moduli: Moduli) -> Bools:
    first, second, cross, twist = moduli
    result: Bools = (first > 0) & (second > 0) & (twist > 0) & (cross**2 < first * second)
    return result


def _number(name: str, value: Any) -> Number:
    """A float, or a read-only (m,) copy; raises naming the faces where it is not finite."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShellError(f"{name} must be a number or one number per face, not {value!r}") from None
    if array.ndim > 1 or array.size == 0:
        raise ShellError(f"{name} must be a number or an array of shape (m,), not of shape {array.shape}")
    _require(np.abs(array) < LARGEST, f"{name} must be finite, and below {LARGEST:g}")
    if array.ndim == 0:
        return float(array)
    array.setflags(write=False)
    return array


def _pair(name: str, value: Any) -> Pair:
    """(warp, weft) of a tuple or list of two; anything else serves both directions."""
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise ShellError(f"{name} must be one number or a (warp, weft) pair, not {len(value)} values")
        return _number(f"{name}[0]", value[0]), _number(f"{name}[1]", value[1])
    both = _number(name, value)
    return both, both


def _require(holds: Bools | np.bool_, message: str) -> None:
    """Raise where `holds` is false, naming the faces where it holds one answer per face."""
    if np.all(holds):
        return
    bad = [int(f) for f in np.flatnonzero(~np.asarray(holds))] if np.ndim(holds) else []
    raise ShellError(message + (f" (face {listed(bad)})" if bad else ""), faces=bad)


def _common_length(named: dict[str, Number]) -> int:
    """Number of faces the arrays are given for; 1 where all are scalars."""
    lengths = {name: len(value) for name, value in named.items() if isinstance(value, np.ndarray)}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ShellError(f"per-face arrays of a material must have one length: {said}")
    return next(iter(lengths.values()), 1)


def _spread(name: str, value: Number, face_count: int) -> Floats:
    """`value` as a fresh (face_count,) array."""
    if isinstance(value, np.ndarray) and len(value) != face_count:
        known = min(len(value), face_count)
        raise ShellError(
            f"{name} has {len(value)} values but the mesh has {face_count} faces: give one number or one per face "
            f"(the lengths part at face {known})",
            faces=range(known, face_count),
        )
    return np.full(face_count, value, dtype=np.float64)
