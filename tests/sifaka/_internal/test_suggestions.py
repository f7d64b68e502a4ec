from sifaka._internal.naming import closest, did_you_mean

NAMES = ("lint", "self_refine", "self_rag", "n_critics")


def test_a_misspelt_name_is_suggested_before_the_known_ones():
    assert did_you_mean("self_refin", NAMES) == (
        "did you mean 'self_refine'? known: lint, self_refine, self_rag, n_critics"
    )


def test_a_name_that_resembles_none_gets_the_known_ones_alone():
    assert did_you_mean("xyzzy", NAMES) == "known: lint, self_refine, self_rag, n_critics"


def test_case_and_the_kind_of_separator_do_not_count():
    assert closest("Self-Refine", NAMES) == "self_refine"


def test_of_a_very_long_name_only_the_beginning_is_compared():
    assert closest("lint" * 100_000, NAMES) is None
