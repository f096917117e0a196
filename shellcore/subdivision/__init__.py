"""Loop-subdivision surfaces as finite elements of Kirchhoff-Love shells, in the order data flows:

1. `boundary` grows a layer of ghost vertices around an open mesh, so that every vertex has a whole ring;
2. `loop` refines such a mesh and knows its limit positions and tangents; `surface` joins mesh and ghosts for a Shell:
   limit, refinement, fit;
3. `boxspline` and `patches` give basis functions and their derivatives at any point, as sparse rows over the vertices;
   `points` takes them at the points of quadrature, along warp and weft;
4. `clamps` says which slopes are held; `supports` changes variables so that what holds the limit surface is a component
   held fixed;
5. `fields` takes control vertices to derivatives of the surface and stresses back to forces; `strains` and `energy`
   make the corotated energy of them; `tangent` and `assembly` its second derivatives and their matrix;
6. `model` is a shell among the unknowns of a system; `on_surface` lets others act on its limit points.
"""
