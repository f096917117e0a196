"""Every sample scene at reduced size: it builds, bakes, and its physical fact holds; one of them is rendered."""

import json
from types import SimpleNamespace

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


class TestGoingOn:
    """`make gallery FULL=1` stopped in the middle: what is done is not done again."""

    FULL = Size(full=True)

    def left(self, monkeypatch, root, rendered, name="crisps"):
        """A scene that was baked, as a stopped run leaves it; what `run` then does, by name."""
        monkeypatch.setattr(run, "ROOT", root)
        monkeypatch.setattr(run, "source_mark", lambda name: f"mark of {name}")
        folder = run.folder_of(name, self.FULL)
        folder.mkdir(parents=True)
        record = {"mark": f"mark of {name}", "holds": True, "rendered": rendered, "seconds": {}, "numbers": {}}
        (folder / "fact.json").write_text(json.dumps(record))
        (folder / "frame_0001.png").write_bytes(b"kept")
        run.sheet_path(name, self.FULL).parent.mkdir(parents=True)
        run.sheet_path(name, self.FULL).write_bytes(b"kept")
        done = []
        monkeypatch.setattr(run, "bake", lambda *_: pytest.fail("it was baked again"))
        monkeypatch.setattr(run, "reopen", lambda *_: done.append("reopened"))
        monkeypatch.setattr(run, "photograph", lambda *_, afresh: done.append(f"afresh {afresh}"))
        return done

    def test_a_finished_scene_is_left_alone(self, monkeypatch, tmp_path):
        self.left(monkeypatch, tmp_path, rendered=True)
        assert run.finished("crisps", self.FULL)
        assert not run.finished("crisps", REDUCED) and not run.finished("beams", self.FULL)
        monkeypatch.setattr(run, "source_mark", lambda name: "changed")
        assert not run.finished("crisps", self.FULL) and not run.baked("crisps", self.FULL)

    def test_a_baked_scene_goes_on_with_its_pictures(self, monkeypatch, tmp_path):
        done = self.left(monkeypatch, tmp_path, rendered=False)
        assert not run.finished("crisps", self.FULL)
        assert run.make("crisps", self.FULL, still=False)
        assert done == ["reopened", "afresh False"]
        assert (run.folder_of("crisps", self.FULL) / "frame_0001.png").read_bytes() == b"kept"

    def test_only_what_is_left_is_made(self, monkeypatch, tmp_path):
        self.left(monkeypatch, tmp_path, rendered=True)
        called = []
        monkeypatch.setattr(run, "SCENES", ("crisps", "beams"))
        monkeypatch.setattr(
            run.subprocess, "run", lambda words: called.append(words[2]) or SimpleNamespace(returncode=0)
        )
        assert run.gallery(self.FULL, still=False) == 0
        assert called == ["beams"]
