"""Every sample scene at reduced size: it builds, bakes, and its physical fact holds; one of them is rendered."""

import json
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy")

import sample_scenes  # noqa: E402
import sample_scenes.crisps  # noqa: E402
from sample_scenes import run  # noqa: E402
from sample_scenes.kit import marks, photography, pictures, table  # noqa: E402
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
    photography.set_up(picture)
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
        monkeypatch.setattr(run.marks, "bake", lambda name: f"mark of {name}")
        monkeypatch.setattr(run.marks, "pictures", lambda name: f"light on {name}")
        folder = run.folder_of(name, self.FULL)
        folder.mkdir(parents=True)
        record = {"mark": f"mark of {name}", "pictures": f"light on {name}", "holds": True, "rendered": rendered}
        (folder / "fact.json").write_text(json.dumps(record))
        (folder / "frame_0001.png").write_bytes(b"kept")
        run.sheet_path(name, self.FULL).parent.mkdir(parents=True)
        run.sheet_path(name, self.FULL).write_bytes(b"kept")
        done = []
        monkeypatch.setattr(run, "bake", lambda *_: pytest.fail("it was baked again"))
        monkeypatch.setattr(run, "reopen", lambda *_: done.append("reopened"))
        monkeypatch.setattr(run, "photograph", lambda *_: done.append("photographed"))
        return done

    def test_a_finished_scene_is_left_alone(self, monkeypatch, tmp_path):
        self.left(monkeypatch, tmp_path, rendered=True)
        assert run.finished("crisps", self.FULL)
        assert not run.finished("crisps", REDUCED) and not run.finished("beams", self.FULL)
        monkeypatch.setattr(run.marks, "pictures", lambda name: "changed")
        assert not run.finished("crisps", self.FULL) and run.baked("crisps", self.FULL)
        monkeypatch.setattr(run.marks, "bake", lambda name: "changed")
        assert not run.finished("crisps", self.FULL) and not run.baked("crisps", self.FULL)

    def test_a_record_of_before_is_none(self, monkeypatch, tmp_path):
        self.left(monkeypatch, tmp_path, rendered=True)
        path = run.folder_of("crisps", self.FULL) / "fact.json"
        path.write_text(json.dumps({"mark": "mark of crisps", "holds": True, "rendered": True}))
        assert not run.baked("crisps", self.FULL) and not run.finished("crisps", self.FULL)

    def test_a_baked_scene_goes_on_with_its_pictures(self, monkeypatch, tmp_path):
        done = self.left(monkeypatch, tmp_path, rendered=False)
        assert not run.finished("crisps", self.FULL)
        assert run.make("crisps", self.FULL, still=False)
        assert done == ["reopened", "photographed"]
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

    def test_frames_stay_unless_they_would_be_taken_otherwise(self, monkeypatch, tmp_path):
        monkeypatch.setattr(run, "ROOT", tmp_path)
        folder = run.folder_of("crisps", REDUCED)
        fact = run.bake("crisps", REDUCED, folder)
        run.note("crisps", REDUCED, fact, {"mark": "", "pictures": "", "seconds": {}, "rendered": False})
        monkeypatch.setattr(run.marks, "pictures", lambda name: "one light")
        monkeypatch.setattr(sample_scenes.crisps, "picture", lambda size: Picture((1, 6), panel=(48, 36)))
        run.photograph("crisps", REDUCED)
        first, second = (folder / f"frame_000{number}.png" for number in (1, 6))
        # A run that was killed between the two.
        second.unlink()
        taken = first.stat().st_mtime_ns
        run.photograph("crisps", REDUCED)
        assert second.is_file() and first.stat().st_mtime_ns == taken
        monkeypatch.setattr(run.marks, "pictures", lambda name: "another light")
        run.photograph("crisps", REDUCED)
        assert first.stat().st_mtime_ns > taken


class TestMarks:
    CODE = '"""See."""\nfrom .kit import objects as ob\nA = {a}\n\ndef picture():\n    return {b}\n'

    @pytest.fixture
    def home(self, monkeypatch, tmp_path):
        (tmp_path / "kit").mkdir()
        for stem in (*marks.PHOTOGRAPHS, "objects", "sleeves"):
            (tmp_path / "kit" / f"{stem}.py").write_text("")
        monkeypatch.setattr(marks, "HOME", tmp_path)
        return tmp_path

    def taken(self, home, text):
        (home / "some.py").write_text(text)
        return marks.bake("some"), marks.pictures("some")

    def test_sentences_and_cameras_need_no_new_bake(self, home):
        before = self.taken(home, self.CODE.format(a=1, b=1))
        assert self.taken(home, self.CODE.format(a=1, b=1).replace("See", "Look")) == before
        camera, scene = (self.taken(home, self.CODE.format(a=a, b=b)) for a, b in ((1, 2), (2, 1)))
        assert camera[0] == before[0] and camera[1] != before[1]
        assert scene[0] != before[0] and scene[1] == before[1]

    def test_only_what_the_scene_imports_counts(self, home):
        before, _ = self.taken(home, self.CODE.format(a=1, b=1))
        (home / "kit" / "sleeves.py").write_text("B = 1")
        assert marks.bake("some") == before
        (home / "kit" / "objects.py").write_text("B = 1")
        assert marks.bake("some") != before
