"""Conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from ..types import Floats
from .vectors import inner


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    right: Floats,
    precondition: Callable[[Floats], Floats],
    tolerance: float,
    most: int,
) -> Generator[None, None, tuple[Floats, int]]:
    """Approximate solution of a symmetric system and the number of products spent.

    Stops when the preconditioned residual, ⟨r, P⁻¹r⟩, has fallen by `tolerance` squared, after `most`
    products, or at a direction of negative curvature (the solution so far still descends: Steihaug).
    Yields after every product so that a caller can show progress or stop.
    """
    solution = np.zeros_like(right)
    residual = right.copy()
    z = precondition(residual)
    direction = z
    rho = inner(residual, z)
    if rho == 0.0:
        return solution, 0
    goal = tolerance * tolerance * rho
    for spent in range(1, most + 1):
        image = product(direction)
        curvature = inner(direction, image)
        if curvature <= 0.0:
            return (solution if spent > 1 else direction), spent
        step = rho / curvature
        solution = solution + step * direction
        residual = residual - step * image
        yield
        z = precondition(residual)
        rho, previous = inner(residual, z), rho
        if rho <= goal:
            return solution, spent
        direction = z + (rho / previous) * direction
    return solution, most
