"""Garments cut from squared paper: a front and a back of the same cells, joined along their seams and made round.

Squares are split all one way, so every vertex but a few at armpits and crotch has six edges. Needs numpy alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Garment:
    """Positions (n, 3) [m], triangles (m, 3) with normals outward, UVs (n, 2), and where it is open."""

    points: np.ndarray
    faces: np.ndarray
    uv: np.ndarray
    cell: np.ndarray
    """Column and row of each vertex on the squared paper, (n, 2); front and back have the same."""
    openings: dict[str, np.ndarray]
    """Vertices of each open border, by its name."""


def cut(
    cells: np.ndarray,
    opens: dict[str, list[tuple[int, int]]],
    size: tuple[float, float],
    round_by: float,
    passes: int,
) -> Garment:
    """A garment of `cells` (rows, columns) of bool, row 0 at the foot, each `size` [m] wide and high.

    `opens`: lattice points (column, row) of borders that are not sewn. `round_by`: depth over width of its sections,
    which are smoothed by so many `passes`.
    """
    rows, columns = cells.shape
    number = np.full((rows + 1, columns + 1), -1)
    j, i = np.nonzero(cells)
    corners = np.stack([(j, i), (j, i + 1), (j + 1, i + 1), (j + 1, i)], axis=1).transpose(2, 1, 0)
    number[corners[..., 0], corners[..., 1]] = 0
    used = np.argwhere(number == 0)
    number[used[:, 0], used[:, 1]] = np.arange(len(used))
    a, b, c, d = (number[corners[:, k, 0], corners[:, k, 1]] for k in range(4))
    front = np.concatenate([np.column_stack([a, b, d]), np.column_stack([b, c, d])])
    border = _border(front, len(used))
    free = {tuple(point) for points in opens.values() for point in points}
    sewn = border & np.array([(int(column), int(row)) not in free for row, column in used])
    back_of = np.arange(len(used))
    back_of[~sewn] = len(used) + np.arange(int((~sewn).sum()))
    faces = np.concatenate([front, back_of[front[:, ::-1]]])
    place = np.concatenate([used, used[~sewn]])[:, ::-1]
    x, z = place[:, 0] * size[0], place[:, 1] * size[1]
    side = np.ones(len(place))
    side[: len(used)] = -1.0
    side[: len(used)][sewn] = 0.0
    depth = round_by * _half_width(cells, used) * size[0]
    # An opening is an ellipse between its own ends, the seams.
    for wanted in opens.values():
        line = np.array(wanted)
        chosen = number[line[:, 1], line[:, 0]]
        along = np.arange(1, len(line) + 1)
        depth[chosen] = round_by * np.sqrt(along * (len(line) + 1 - along)) * size[0]
    points = np.column_stack([x, side * np.concatenate([depth, depth[~sewn]]), z])
    openings = {}
    for name, wanted in opens.items():
        at = {tuple(point) for point in wanted}
        openings[name] = np.flatnonzero([tuple(int(v) for v in p) in at for p in place])
    uv = place / np.array([columns, rows])
    made = Garment(points, faces, uv, place, openings)
    _smooth(made, passes)
    _close_openings(made)
    return made


def trousers(fine: int = 1) -> Garment:
    """Trousers of about 1000 vertices (`fine` = 1), legs upwards as they are hung: waist at the foot."""
    leg, gap, hips, long = 8 * fine, 2 * fine, 8 * fine, 22 * fine
    width = 2 * leg + gap
    cells = np.zeros((hips + long, width), dtype=bool)
    cells[:hips] = True
    cells[hips:, :leg] = cells[hips:, leg + gap :] = True
    top = hips + long
    opens = {
        "waist": [(i, 0) for i in range(1, width)],
        "left": [(i, top) for i in range(1, leg)],
        "right": [(i, top) for i in range(leg + gap + 1, width)],
    }
    return cut(cells, opens, (0.024 / fine, 0.03 / fine), 0.55, 12 * fine)


def sweater(fine: int = 1) -> Garment:
    """A sweater with both arms stretched out, about 400 vertices (`fine` = 1)."""
    arm, wide, tall, deep, neck = 7 * fine, 12 * fine, 12 * fine, 4 * fine, 2 * fine
    columns = 2 * arm + wide
    cells = np.zeros((tall, columns), dtype=bool)
    cells[:, arm : arm + wide] = True
    cells[tall - deep :] = True
    middle = columns // 2
    opens = {
        "hem": [(i, 0) for i in range(arm + 1, arm + wide)],
        "neck": [(i, tall) for i in range(middle - neck, middle + neck + 1)],
        "left": [(0, j) for j in range(tall - deep + 1, tall)],
        "right": [(columns, j) for j in range(tall - deep + 1, tall)],
    }
    return cut(cells, opens, (0.045 / fine, 0.045 / fine), 0.85, 4 * fine)


def _close_openings(made: Garment) -> None:
    """Count the ends of seams among the openings that they end at."""
    edges = np.sort(made.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    unique, count = np.unique(edges, axis=0, return_counts=True)
    rim = unique[count == 1]
    for name, chosen in made.openings.items():
        made.openings[name] = np.unique(rim[np.isin(rim, chosen).any(axis=1)])


def _border(faces: np.ndarray, count: int) -> np.ndarray:
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    unique, times = np.unique(edges, axis=0, return_counts=True)
    found = np.zeros(count, dtype=bool)
    found[unique[times == 1].ravel()] = True
    return found


def _half_width(cells: np.ndarray, used: np.ndarray) -> np.ndarray:
    """√(distances to both ends of the run of cells a lattice point lies in), along the shorter of its two runs."""
    rows, columns = cells.shape

    def along(grid: np.ndarray, row: int, column: int) -> float:
        lines = [grid[r] for r in (row - 1, row) if 0 <= r < len(grid)]
        best = 0.0
        for line in lines:
            left = right = column
            while left > 0 and line[left - 1]:
                left -= 1
            while right < len(line) and line[right]:
                right += 1
            best = max(best, np.sqrt((column - left) * (right - column)))
        return best

    across = np.array([along(cells, int(r), int(c)) for r, c in used])
    up = np.array([along(cells.T, int(c), int(r)) for r, c in used])
    return np.where(up > 0, np.minimum(across, up), across) if rows < columns else across


def _smooth(made: Garment, passes: int) -> None:
    """Even out depths where sections change, in place; borders on the paper stay."""
    edges = made.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    n = len(made.points)
    degree = np.bincount(edges.ravel(), minlength=n)
    for _ in range(passes):
        y = made.points[:, 1]
        mean = (np.bincount(edges[:, 0], y[edges[:, 1]], n) + np.bincount(edges[:, 1], y[edges[:, 0]], n)) / degree
        made.points[:, 1] = np.where(y == 0.0, 0.0, 0.5 * (y + mean))
