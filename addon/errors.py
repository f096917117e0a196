"""What goes wrong on Blender's side, said so that a user knows what to do."""

from collections.abc import Iterable


class UserError(Exception):
    """A fault of the scene. `object` and the polygons, edges or vertices of its mesh are what to select."""

    def __init__(
        self,
        message: str,
        *,
        object: str = "",
        polygons: Iterable[int] = (),
        edges: Iterable[tuple[int, int]] = (),
        vertices: Iterable[int] = (),
    ) -> None:
        super().__init__(message)
        self.object = object
        self.polygons = [int(i) for i in polygons]
        self.edges = [(int(a), int(b)) for a, b in edges]
        self.vertices = [int(i) for i in vertices]
