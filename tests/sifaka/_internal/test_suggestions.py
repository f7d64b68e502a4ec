from sifaka._internal.naming import closest, did_you_mean

NAMES = ("lint", "self_refine", "self_rag", "n_critics")


def test_a_name_that_resembles_a_known_one_is_suggested() -> None:
    assert did_you_mean("self_refin", NAMES) == (
        "did you mean 'self_refine'? known: lint, self_refine, self_rag, n_critics"
    )
    assert did_you_mean("xyzzy", NAMES) == "known: lint, self_refine, self_rag, n_critics"
    assert closest("Self-Refine", NAMES) == "self_refine"
    assert closest("lint" * 100_000, NAMES) is None
