"""The words that reviews quote for open differences."""

from sifaka.record.results import COVERED, CriticFeedback, covered_in


def test_what_a_critic_of_others_means_by_the_word_is_left_out() -> None:
    said = [{COVERED: {"d1": "at 9:30", "d2": 3}}, {COVERED: True}, {}, {COVERED: {"d3": "now"}}]
    feedback = [CriticFeedback(details=details) for details in said]
    assert covered_in(feedback) == {"d1": "at 9:30", "d3": "now"}
