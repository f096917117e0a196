"""The panel's material as the core's, with painted weights and axis strength per face."""

from typing import Any

import numpy as np

from ... import shellcore as sc
from ..properties.material import WEIGHTED
from .mesh import MeshArrays
from .weights import face_weights

MILLI = 1e-3
MEGA = 1e6


def uniform(settings: Any) -> sc.Material:
    """The material without weights."""
    if settings.material_source == "SOLID":
        return sc.Material.solid(
            young=settings.young * MEGA,
            poisson=settings.solid_poisson,
            thickness=settings.thickness * MILLI,
            density=settings.density,
        )
    return sc.Material(
        stretch=(settings.stretch_warp, settings.stretch_weft),
        shear=None if settings.shear_auto else settings.shear,
        poisson=settings.poisson,
        bend=(settings.bend_warp * MILLI, settings.bend_weft * MILLI),
        bend_shear=None if settings.twist_auto else settings.twist * MILLI,
        bend_poisson=settings.bend_poisson,
        areal_density=settings.areal_density,
        thickness=settings.thickness * MILLI,
    )


def weighted(obj: Any, mesh: Any, arrays: MeshArrays, strength: Any = None) -> sc.Material:
    """The object's material; `strength` (m,) blends each face from isotropic (0) to what the panel says (1)."""
    settings = obj.thin_shell
    base = uniform(settings)
    factors = {name: _factor(obj, mesh, arrays, name, label) for name, label in WEIGHTED.items()}
    if strength is None and all(factor is None for factor in factors.values()):
        return base
    one = np.ones(len(arrays.faces))
    stretch, shear, bend, thick, heavy = (one if factors[name] is None else factors[name] for name in WEIGHTED)
    a11, a22, a12, a66 = base.membrane_moduli(len(one))
    d11, d22, d12, d66 = base.bending_moduli(len(one))
    if strength is not None:
        a11, a22, a66 = _blend(a11, a22, a12, a66, strength)
        d11, d22, d66 = _blend(d11, d22, d12, d66, strength)
    # A thicker place of the same stuff: stretch grows with t, bending with t³, weight with t.
    membrane, fold = stretch * thick, bend * thick**3
    return sc.Material(
        stretch=(a11 * membrane, a22 * membrane),
        shear=a66 * shear * thick,
        poisson=base.poisson,
        bend=(d11 * fold, d22 * fold),
        bend_shear=d66 * fold,
        bend_poisson=base.bend_poisson,
        areal_density=base.areal_density * heavy * thick,
        thickness=base.thickness * thick,
    )


def _factor(obj: Any, mesh: Any, arrays: MeshArrays, name: str, label: str) -> Any:
    source = getattr(obj.thin_shell, f"weight_{name}")
    if not source:
        return None
    low = getattr(obj.thin_shell, f"weight_{name}_low")
    return low + (1.0 - low) * face_weights(obj, mesh, arrays, source, label)


def _blend(first: Any, second: Any, cross: Any, twist: Any, strength: Any) -> tuple[Any, Any, Any]:
    """Towards the isotropic sheet of the same mean stiffness; cross is ν times that mean."""
    mean = np.sqrt(first * second)
    isotropic_twist = (mean - cross) / 2.0
    return tuple(iso + strength * (own - iso) for own, iso in ((first, mean), (second, mean), (twist, isotropic_twist)))
