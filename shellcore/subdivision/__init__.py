"""Loop-subdivision surfaces as finite elements of Kirchhoff-Love shells, in the order data flows:

1. `boundary` grows a layer of ghost vertices around an open mesh, so that every vertex has a whole ring;
2. `loop` refines such a mesh and knows its limit positions and tangents;
3. `boxspline` and `patches` give basis functions and their derivatives at any point, as sparse rows over the vertices;
4. `supports` changes variables so that what holds the limit surface is a component held fixed;
5. `strains` and `energy` turn those rows into the corotated energy with its derivatives;
6. `surface` joins the mesh with its ghosts for a Shell: limit, refinement, fit.
"""
