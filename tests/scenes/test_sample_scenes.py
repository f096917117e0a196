"""Every sample scene at reduced size: it builds, bakes, and its physical fact holds; one of them is rendered."""

import pytest

bpy = pytest.importorskip("bpy")

import sample_scenes  # noqa: E402
from sample_scenes import run  # noqa: E402
from sample_scenes.kit import pictures, studio, table  # noqa: E402
from sample_scenes.kit.card import Card, Picture, Size  # noqa: E402

REDUCED = Size(full=False)


@pytest.mark.parametrize("name", sample_scenes.SCENES)
def test_the_fact_of_the_scene_holds(name, tmp_path):
    fact = run.bake(name, REDUCED, tmp_path)
    assert fact.holds, str(fact)


@pytest.mark.parametrize("name", sample_scenes.SCENES)
def test_the_scene_says_what_it_is(name):
    card, first, see, differs = table.parts(name)
    assert isinstance(card, Card) and first and see and differs


def test_a_scene_is_rendered_to_a_contact_sheet(tmp_path):
    run.bake("crisps", REDUCED, tmp_path)
    picture = Picture((1, 6), panel=(48, 36))
    studio.set_up(picture)
    panels = pictures.render(picture, tmp_path, 1.0, 2)
    pictures.sheet(panels, tmp_path / "sheet.jpg")
    before, after = (pictures.pixels(panel) for panel in panels)
    assert before.shape == (36, 48, 4)
    # The packet stands out from the backdrop, and swells from one frame to the other.
    assert before[..., :3].std() > 0.02
    assert abs(after - before).max() > 0.05
    assert (tmp_path / "sheet.jpg").stat().st_size > 500
