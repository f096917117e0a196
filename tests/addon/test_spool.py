"""The spool of a shell that breaks: read back, cut, damaged, hostile."""

import numpy as np
import pytest
from cracking import random_splits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thin_shell.addon.cache.files import CacheError
from thin_shell.addon.cache.spool import HEADER, RECORD, Spool

FACES = np.array([[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]])
PLAN = random_splits(FACES, 6, stages=3, share=0.5, seed=2)
NOISY = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def rows(sample, width=4):
    return np.random.default_rng(sample).normal(size=(PLAN.alive(sample), width)).astype(np.float32)


def written(path, samples=5, width=4):
    spool = Spool(path, FACES, 6, width)
    for sample in range(samples):
        fresh = PLAN.parents[PLAN.births == sample]
        spool.append(rows(sample, width), PLAN.ancestors(sample)[PLAN.faces], fresh)
    return spool


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("faces", "parents", "births"))


def test_reads_back_and_goes_on(tmp_path):
    path = tmp_path / "a.spool"
    whole = written(path)
    assert same(whole.splits, PLAN) and PLAN.broken
    for sample in range(5):
        assert np.array_equal(whole.sample(sample), rows(sample))
        assert np.array_equal(whole.whole_sample(sample), rows(sample)[PLAN.ancestors(sample)])
    whole.close()
    expected = path.read_bytes()
    for keep in (1, 3):
        again = Spool(path, FACES, 6, 4, keep=keep)
        assert again.samples == keep and again.splits.total == PLAN.alive(keep - 1)
        for sample in range(keep, 5):
            again.append(rows(sample), PLAN.ancestors(sample)[PLAN.faces], PLAN.parents[PLAN.births == sample])
        again.close()
        assert path.read_bytes() == expected


def test_refuses_what_does_not_fit(tmp_path):
    spool = written(tmp_path / "a.spool", samples=1)
    with pytest.raises(CacheError, match="shape"):
        spool.append(np.zeros((7, 4)), FACES, np.zeros(0, int))
    with pytest.raises(CacheError, match="not finite"):
        spool.append(np.full((6, 4), np.nan), FACES, np.zeros(0, int))
    spool.close()
    for points, faces, width, keep in ((5, FACES, 4, 1), (6, FACES[:2], 4, 1), (6, FACES, 3, 1), (6, FACES, 4, 2)):
        with pytest.raises(CacheError, match="damaged or belongs to another mesh"):
            Spool(tmp_path / "a.spool", faces, points, width, keep=keep)
    with pytest.raises(CacheError, match="missing"):
        Spool(tmp_path / "b.spool", FACES, 6, 4, keep=1)


def test_a_cut_file_keeps_its_whole_frames(tmp_path):
    path = tmp_path / "a.spool"
    written(path).close()
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(CacheError, match="start a new bake"):
        Spool(path, FACES, 6, 4, keep=5)
    again = Spool(path, FACES, 6, 4, keep=4)
    assert np.array_equal(again.sample(3), rows(3))
    again.close()


def test_counts_in_the_billions(tmp_path):
    path = tmp_path / "a.spool"
    written(path, samples=1).close()
    data = bytearray(path.read_bytes())
    data[HEADER.size : HEADER.size + RECORD.size] = RECORD.pack(2**31 - 1, 2**31 - 7, 1)
    path.write_bytes(bytes(data))
    with pytest.raises(CacheError, match="start a new bake"):
        Spool(path, FACES, 6, 4, keep=1)


@NOISY
@given(st.binary(min_size=1, max_size=24), st.integers(0, 400))
def test_fuzzed(tmp_path, noise, place):
    path = tmp_path / "a.spool"
    written(path).close()
    data = bytearray(path.read_bytes())
    data[place : place + len(noise)] = noise
    path.write_bytes(bytes(data))
    try:
        spool = Spool(path, FACES, 6, 4, keep=5)
    except CacheError:
        return
    splits = spool.splits
    assert splits.faces.max() < splits.total and (splits.parents < np.arange(6, splits.total)).all()
    for sample in range(5):
        assert spool.whole_sample(sample).shape == (splits.total, 4)
    spool.close()
