"""Contact: sheets with colliders, each other and themselves. The files in the order data flows:

1. `bodies` stacks what can touch: shells, then the vertices of colliders.
2. `tree` and `moving` (broad phase) find which vertices and faces, edges and edges may meet during a motion: shells
   (`shell_pairs`, `fans`), shells and meshes (`mesh_pairs`), shells and planes or spheres (`solid_pairs`); `lasting`
   says for how long what they found (`candidates`) is complete.
3. `distances` and `pairs` look closely: nearest points, separating direction, contact distance.
4. `barrier` and `friction` are the energies, `strength` says how stiff, `rows` and `frozen` make one of them for the
   solvers; `bound` says how far a step may go without crossing.
5. `known` keeps what was found from look to look (`seams` and `passing`: what does not touch), `shadow` is the state
   that never crosses anything, `contact` goes a step with them.
6. `lips` has it act on a sheet drawn in along closed cracks, `carried` on points of a subdivision surface.
7. `intersections` checks the outcome, exactly and on its own.
"""

from .carried import CarriedContact
from .contact import Contact
from .intersections import Intersections, intersections
from .none import NoContact

__all__ = ["CarriedContact", "Contact", "Intersections", "NoContact", "intersections"]
