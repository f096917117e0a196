"""Versions and machine, for sidecars and bug reports."""

import platform
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@cache
def version() -> str:
    """The extension's version, from its manifest."""
    with open(ROOT / "blender_manifest.toml", "rb") as file:
        return str(tomllib.load(file)["version"])


def system_info() -> str:
    """What to paste into a bug report; names no user, folder or file."""
    import bpy
    import numpy
    import scipy
    import threadpoolctl

    from .properties.model import steps_by_quality

    lines = [
        f"Thin Shell {version()}",
        f"Blender {bpy.app.version_string}, {bpy.app.build_platform.decode(errors='replace')}",
        f"Python {sys.version.split()[0]}, numpy {numpy.__version__}, scipy {scipy.__version__}, "
        f"threadpoolctl {threadpoolctl.__version__}",
        f"{platform.system()} {platform.release()}, {platform.machine()}",
    ]
    for scene in bpy.data.scenes:
        every: Any = scene.objects
        for obj in every:
            if obj.type == "MESH" and obj.thin_shell.enabled:
                settings = obj.thin_shell
                by_quality = steps_by_quality(settings)
                steps = f"quality {settings.quality.lower()}" if by_quality else f"{settings.substeps} steps a frame"
                lines.append(
                    f"shell: {len(obj.data.vertices)} vertices, {settings.bending} + {settings.membrane}, "
                    f"{settings.integrator}, {steps}, strain limit {settings.strain_limit:g}%, "
                    f"preset {settings.preset_name}, settings of version {settings.settings_version}"
                )
    return "\n".join(lines)
