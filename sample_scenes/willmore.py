"""Willmore flow of three shapes: a head, a hand and an icosahedron.

See: left to right in time, the Willmore Smooth button pressed again and again. Features melt away smallest first; the
icosahedron becomes a sphere. Flat shaded, as in print.

Differs: the paper's dino and hand are not ours to use: the head is Blender's own Suzanne, the hand is modelled from
balls; both are remeshed. Sizes here: about 5000 triangles each, where the paper has 44928, 24192 and 5120.
"""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from .kit import objects as ob
from .kit import studio
from .kit.card import QUADRATIC, Card, Fact, Picture, Size

CARD = Card("Willmore flow of three shapes", QUADRATIC, "4")
PRESSES = (0, 1, 3, 8, 20, 40)
"""How often the button has been pressed at frame 1, 2, …"""
FINGERS = (
    (-0.38, 0.05, 48, 0.55), (-0.30, 0.5, 13, 0.68), (-0.10, 0.55, 4, 0.8), (0.11, 0.55, -5, 0.74),
    (0.30, 0.48, -15, 0.58),
)  # fmt: skip
"""Root x, z, tilt [°] and length."""


def head(size: Size) -> bpy.types.Object:
    bpy.ops.mesh.primitive_monkey_add(size=2.0)
    return remeshed("Head", bpy.context.object, size(0.09, 0.055))


def hand(size: Size) -> bpy.types.Object:
    parts = [((0, 0, 0.05 + 0.1 * k), 0.42 - 0.012 * k, 0.45) for k in range(-3, 5)]
    for x, z, tilt, length in FINGERS:
        lean = np.radians(tilt)
        parts += [
            ((x - s * length * np.sin(lean), 0, z + s * length * np.cos(lean)), 0.13, 1.0) for s in np.linspace(0, 1, 9)
        ]
    made = bmesh.new()
    for centre, radius, thin in parts:
        place = Matrix.Translation(centre) @ Matrix.Diagonal((radius, radius * thin, radius, 1.0))
        bmesh.ops.create_icosphere(made, subdivisions=3, radius=1.0, matrix=place)
    mesh = bpy.data.meshes.new("Hand")
    made.to_mesh(mesh)
    made.free()
    obj = bpy.data.objects.new("Hand", mesh)
    bpy.context.collection.objects.link(obj)
    return remeshed("Hand", obj, size(0.075, 0.042))


def icosahedron(size: Size) -> bpy.types.Object:
    mesh, made = bpy.data.meshes.new("Icosahedron"), bmesh.new()
    bmesh.ops.create_icosphere(made, subdivisions=1, radius=1.0)
    bmesh.ops.subdivide_edges(made, edges=made.edges, cuts=size(7, 15), use_grid_fill=True)
    made.to_mesh(mesh)
    made.free()
    obj = bpy.data.objects.new("Icosahedron", mesh)
    bpy.context.collection.objects.link(obj)
    return obj


def remeshed(name: str, source: bpy.types.Object, voxel: float) -> bpy.types.Object:
    """The largest closed piece of an even mesh around a shape."""
    mesh = bpy.data.meshes.new_from_object(source.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    bpy.data.objects.remove(source)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    modifier = obj.modifiers.new("Remesh", "REMESH")
    modifier.mode, modifier.voxel_size, modifier.adaptivity = "VOXEL", voxel, 0.0
    bpy.context.view_layer.update()
    even = bpy.data.meshes.new_from_object(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    obj.modifiers.clear()
    obj.data = even
    keep_largest(even)
    return obj


def keep_largest(mesh: bpy.types.Mesh) -> None:
    made = bmesh.new()
    made.from_mesh(mesh)
    left, pieces = set(made.verts), []
    while left:
        piece, front = set(), [left.pop()]
        while front:
            vertex = front.pop()
            piece.add(vertex)
            near = {edge.other_vert(vertex) for edge in vertex.link_edges} & left
            left -= near
            front += near
        pieces.append(piece)
    largest = max(pieces, key=len)
    bmesh.ops.delete(made, geom=[v for v in made.verts if v not in largest], context="VERTS")
    made.to_mesh(mesh)
    made.free()


def build(size: Size) -> None:
    ob.frames(len(PRESSES))
    for make, at, tint, scale in (
        (head, -2.4, "teal", 1.0),
        (hand, 0.0, "cream", 0.95),
        (icosahedron, 2.3, "red", 0.95),
    ):
        obj = make(size)
        obj.location, obj.scale = (at, 0, 1.05), (scale,) * 3
        studio.paint(obj, tint, flat=True)


def bake(size: Size) -> None:
    for name in ("Head", "Hand", "Icosahedron"):
        obj = bpy.data.objects[name]
        ob.active(obj)
        states, pressed = [], 0
        for goal in PRESSES:
            for _ in range(goal - pressed):
                assert bpy.ops.thin_shell.willmore(step=4.0, steps=2) == {"FINISHED"}
            pressed = goal
            states.append(ob.local(obj))
        ob.play(obj, states)


def picture(size: Size) -> Picture:
    return Picture(
        tuple(range(1, len(PRESSES) + 1)),
        view=(0.1, -1.0, 0.22),
        panel=(560, 250),
        columns=2,
        follow=("Head", "Hand", "Icosahedron"),
    )


def check(size: Size) -> Fact:
    spread = []
    for frame in (1, len(PRESSES)):
        x = ob.positions(bpy.data.objects["Icosahedron"], frame)
        radius = np.linalg.norm(x - x.mean(axis=0), axis=1)
        spread.append(float(radius.std() / radius.mean()))
    return Fact(
        "the icosahedron becomes a sphere: spread of its radius, before and after",
        spread[1] < 0.1 * spread[0],
        {"before": spread[0], "after": spread[1]},
    )
