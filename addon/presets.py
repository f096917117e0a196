"""Material presets: the core's own, and the user's as JSON files that hold numbers and nothing else."""

import json
import math
from pathlib import Path
from typing import Any

from .. import shellcore as sc
from . import compat
from .cache.files import CacheError, open_regular, reason, write_whole
from .cache.paths import safe_name
from .errors import UserError

NUMBERS = (
    "stretch_warp", "stretch_weft", "shear", "poisson", "bend_warp", "bend_weft", "twist", "bend_poisson",
    "areal_density", "thickness",
)  # fmt: skip
SWITCHES = ("shear_auto", "twist_auto")
LARGEST = 1 << 16
FORMAT = "thin_shell material"
PACKAGE = __package__.rpartition(".")[0] if __package__ else ""


def built_in() -> dict[str, tuple[str, str]]:
    """Names of the core's presets with label and description."""
    made = {}
    for name, row in sc.Material.presets().items():
        rough = " (order of magnitude)" if row.order_of_magnitude else ""
        made[name] = (name.replace("_", " ").title(), f"{row.source}{rough}")
    return made


def values_of(name: str) -> dict[str, Any]:
    """A core preset in the panel's units."""
    row = sc.Material.presets()[name]
    mean = math.sqrt(row.stretch[0] * row.stretch[1]), 1e3 * math.sqrt(row.bend[0] * row.bend[1])
    return {
        "stretch_warp": row.stretch[0],
        "stretch_weft": row.stretch[1],
        "shear_auto": row.shear is None,
        "shear": (1 - row.poisson) / 2 * mean[0] if row.shear is None else row.shear,
        "poisson": row.poisson,
        "bend_warp": 1e3 * row.bend[0],
        "bend_weft": 1e3 * row.bend[1],
        "twist_auto": row.bend_shear is None,
        "twist": (1 - row.bend_poisson) / 2 * mean[1] if row.bend_shear is None else 1e3 * row.bend_shear,
        "bend_poisson": row.bend_poisson,
        "areal_density": row.areal_density,
        "thickness": 1e3 * row.thickness,
    }


def apply(settings: Any, name: str) -> None:
    """Set the material; pins, contact and cache stay as they are."""
    values = values_of(name) if name in sc.Material.presets() else load(name)
    settings.material_source = "SHEET"
    for key, value in values.items():
        setattr(settings, key, value)
    settings.preset_name = name


def yields() -> dict[str, str]:
    """Presets whose yield is known, with its source."""
    return sc.Plasticity.presets()


def apply_yield(settings: Any, name: str) -> str:
    """Set when the material yields; says where the numbers come from."""
    known = sc.Plasticity.preset(name)
    settings.yield_curvature = float(known.yield_curvature)
    settings.plastic_hardening = known.hardening
    settings.use_yield_stretch = known.yield_stretch is not None
    if known.yield_stretch is not None:
        settings.yield_stretch = 100.0 * float(known.yield_stretch)
    return yields()[name]


def shown_name(settings: Any) -> str:
    """The preset's label, or "Custom" once a value was edited."""
    name = settings.preset_name
    presets = sc.Material.presets()
    if settings.material_source == "SOLID":
        return "Custom"
    try:
        values = values_of(name) if name in presets else load(name)
    except (UserError, CacheError):
        return "Custom"
    same = all(math.isclose(getattr(settings, key), value, rel_tol=1e-5, abs_tol=1e-9) for key, value in values.items())
    return (built_in()[name][0] if name in presets else name) if same else "Custom"


def folder(make: bool = False) -> Path | None:
    """Where the user's presets live; None where the add-on runs from a checkout."""
    where = compat.extension_folder(PACKAGE, create=make)
    return Path(where) / "presets" if where else None


def user_presets() -> list[str]:
    """Names of the user's presets."""
    place = folder()
    if place is None or not place.is_dir():
        return []
    return sorted(path.stem for path in place.glob("*.json") if path.is_file() and not path.is_symlink())


def load(name: str, place: Path | None = None) -> dict[str, Any]:
    """A user's preset; anything but the known numbers is refused."""
    place = place or folder()
    if place is None or name != safe_name(name):
        raise UserError(f"there is no preset '{name[:60]}'")
    path = place / f"{name}.json"
    with open_regular(path) as file:
        raw = file.read(LARGEST + 1)
    try:
        data = json.loads(raw.decode("utf-8")) if len(raw) <= LARGEST else None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT or set(data) != {*NUMBERS, *SWITCHES}:
        raise UserError(f"the preset {path.name} is damaged or no Thin Shell material: delete it")
    for key, value in data.items():
        good = isinstance(value, bool) if key in SWITCHES else _number(value)
        if not good:
            raise UserError(f"the preset {path.name} has no usable number for {key}: delete it")
    return data


def save(settings: Any, name: str, place: Path | None = None) -> str:
    """Keep the panel's material under a name."""
    place = place or folder(make=True)
    if place is None:
        raise UserError("presets can be kept only when Thin Shell is installed as an extension")
    name = safe_name(name)
    if name in sc.Material.presets():
        raise UserError(f"'{name}' is the name of a built-in preset: choose another")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CacheError(f"presets cannot be kept: {reason(error)}") from None
    values = {key: getattr(settings, key) for key in (*NUMBERS, *SWITCHES)}
    write_whole(place / f"{name}.json", json.dumps({"format": FORMAT, **values}, indent=1).encode())
    return name


def remove(name: str) -> None:
    """Delete a user's preset."""
    place = folder()
    if place is not None and name == safe_name(name):
        (place / f"{name}.json").unlink(missing_ok=True)


def _number(value: Any) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and abs(value) < 1e12
    )
