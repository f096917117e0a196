"""What all our properties have in common: library overrides keep them, and only what a bake samples can be animated."""

from collections.abc import Set
from typing import Any

from bpy.props import CollectionProperty


def declared(properties: dict[str, Any], sampled: Set[str] = frozenset()) -> dict[str, Any]:
    """The properties of a group; those `sampled` at every frame can be animated."""
    return {name: _declared(made, name in sampled) for name, made in properties.items()}


def _declared(made: Any, animated: bool) -> Any:
    kept = {"LIBRARY_OVERRIDABLE"}
    # Without this an override cannot hold more items than its library.
    kept |= {"USE_INSERTION"} if made.function is CollectionProperty else set()
    options = set(made.keywords.get("options", ())) - {"ANIMATABLE"} | ({"ANIMATABLE"} if animated else set())
    return made.function(**{**made.keywords, "override": kept, "options": options})
