"""What the scenes share: cards and facts, meshes, Blender objects, the studio, pictures."""
