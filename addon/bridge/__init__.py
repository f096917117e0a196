"""From Blender to the core: objects become arrays in metres and world axes, sampled frame by frame.

`mesh` and `triangulate` read geometry, `material`, `weights` and `axes` what it is made of, `motion` samples whatever
moves, `colliders` and `fields` what it meets, `build` puts all of it into one `Scene` of the core.
"""
