"""docs/pictures/modal.png: figures 3 to 6 of the modal warping paper, from the scenes that the tests check."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib
import numpy as np

import common
import modal_cases
import shellcore as sc

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

TIPS = np.linspace(0.02, np.pi / 2, 40)


def surface(axis: Any, shell: sc.Shell, x: np.ndarray, colour: str) -> None:
    """A shaded sheet."""
    triangles = x[shell.faces]
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    light = 0.45 + 0.55 * np.abs(normal @ np.array([0.4, -0.5, 0.77]))
    paint = np.array(matplotlib.colors.to_rgb(colour)) * light[:, None]
    axis.add_collection3d(Poly3DCollection(triangles, facecolors=paint, edgecolors=0.8 * paint, linewidths=0.2))


def framed(axis: Any, low: tuple[float, ...], high: tuple[float, ...], view: tuple[float, float], title: str) -> None:
    """Equal scales, no axes."""
    for name, a, b in zip("xyz", low, high, strict=True):
        getattr(axis, f"set_{name}lim")(a, b)
    axis.set_box_aspect(np.subtract(high, low), zoom=1.25)
    axis.view_init(*view)
    axis.set_axis_off()
    axis.set_title(title, fontsize=8, y=1.02)


def figure_3(axes: list[Any]) -> None:
    beam = modal_cases.Beam()
    for tip, shade in ((0.3, 0.4), (0.65, 0.7), (1.2, 1.0)):
        q = beam.sagged(tip)
        for kind, colour in (("linear_positions", "tab:red"), ("warped_positions", "tab:blue")):
            line = beam.centre(getattr(beam.modal, kind)(q))
            axes[0].plot(line[:, 1], line[:, 2], color=colour, alpha=shade)
    axes[0].set(
        aspect="equal", title="Figure 3: linear modes (red), warped (blue)\nlinear tip angle 0.3, 0.65, 1.2 rad"
    )
    for kind, which, colour in (("linear_positions", 0, "tab:red"), ("warped_positions", 1, "tab:blue")):
        found = [modal_cases.length(beam.centre(getattr(beam.modal, kind)(beam.sagged(t)))) - 1 for t in TIPS]
        exact = [modal_cases.length(modal_cases.sagging(t)[which]) - 1 for t in TIPS]
        axes[1].plot(TIPS, 100 * np.array(exact), color=colour, linewidth=3, alpha=0.3)
        axes[1].plot(TIPS, 100 * np.array(found), color=colour, linewidth=1)
    path, full = modal_cases.swings()
    axes[2].plot(full[:, 1], full[:, 2], color="0.6", linewidth=3, label="full simulation")
    axes[2].plot(path[:, 1], path[:, 2], color="tab:blue", linewidth=1, label="modal warping")
    axes[2].legend(fontsize=7)
    axes[2].set(xlim=(0.5, 1.05), title="tip of a beam let go, one swing (axes not to one scale)")
    axes[1].axvline(0.65, color="0.7", linewidth=0.7)
    axes[1].set(title="length error [%], modes on closed form (pale)", xlabel="linear tip angle [rad]", ylim=(-15, 60))


def figure_4(axes: list[Any]) -> None:
    for axis, rigidity in zip(axes, (0.3, 1.0, 3.0), strict=True):
        for fold, colour, aside in ((0.0, "tab:orange", 0.0), (1.2, "tab:green", 0.28)):
            modal, x = modal_cases.drooping(fold, rigidity)
            surface(axis, modal.shell, x + np.array([0.0, aside, 0.0]), colour)
        title = f"Figure 4: flat, v-beam\nD = {rigidity} N·m"
        framed(axis, (0, -0.1, -0.75), (1.05, 0.45, 0.15), (14, -75), title)


def figure_5(axes: list[Any]) -> None:
    names = ("position", "orientation", "both")
    for axis, name in zip(axes, names, strict=True):
        beam, x, _ = modal_cases.manipulated(name != "orientation", name != "position")
        surface(axis, beam.strip.shell, x, "tab:purple")
        tip = beam.strip.tip_at(x)
        if name != "orientation":
            axis.scatter(*tip, color="gold", s=40, depthshade=False)
        if name != "position":
            turn = modal_cases.rotation(0, 0.2 if name == "both" else 1.2)
            for k, colour in enumerate("rgb"):
                axis.plot(*np.stack([tip, tip + 0.18 * turn[:, k]]).T, color=colour, linewidth=1.5)
        framed(axis, (-0.1, 0, -0.05), (0.2, 1.15, 0.75), (12, -20), f"Figure 5: {name}")


def figure_6(axes: list[Any]) -> None:
    dancer = modal_cases.Character()
    colours = {"hat": "tab:red", "body": "tab:blue", "left leg": "0.5", "right leg": "0.6"}
    at = {18: 0, 34: 1, 52: 2, 70: 3, 86: 4}
    for k in range(1, 87):
        placed = dancer.step()
        if k not in at:
            continue
        axis = axes[at[k]]
        for name, x in placed.items():
            surface(axis, dancer.sheets[name].shell, x, colours[name])
            bone = dancer.bone(name, dancer.time)
            joint = bone[:3, :3] @ dancer.joints[name] + bone[:3, 3]
            for i, colour in enumerate("rgb"):
                axis.plot(*np.stack([joint, joint + 0.12 * bone[:3, i]]).T, color=colour, linewidth=1)
        framed(axis, (-0.5, -0.4, -0.05), (0.5, 0.4, 2.0), (8, -60), f"Figure 6: {dancer.time:.1f} s")


def main() -> None:
    figure = plt.figure(figsize=(12, 9))
    grid = figure.add_gridspec(
        3, 30, height_ratios=(1, 0.75, 1.5), hspace=0.25, left=0.05, right=0.98, top=0.95, bottom=0.02
    )
    flat = [figure.add_subplot(grid[0, part]) for part in (slice(0, 8), slice(10, 19), slice(21, 30))]
    thirds = [figure.add_subplot(grid[1, 5 * i : 5 * i + 5], projection="3d") for i in range(6)]
    fifths = [figure.add_subplot(grid[2, 6 * i : 6 * i + 6], projection="3d") for i in range(5)]
    for axis in flat:
        axis.tick_params(labelsize=7)
    figure_3(flat)
    for axis in flat:
        axis.title.set_fontsize(8)
        axis.xaxis.label.set_fontsize(8)
    figure_4(thirds[:3])
    figure_5(thirds[3:])
    figure_6(fifths)
    common.PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(common.PICTURES / "modal.png", dpi=95)


if __name__ == "__main__":
    main()
