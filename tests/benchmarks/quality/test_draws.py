"""Random numbers that repeat."""

from benchmarks.quality.draws import Noise, stratified
from benchmarks.quality.samples import Mean, mean_of


def test_each_column_has_one_number_in_each_part_of_the_interval() -> None:
    rows = stratified(50, 4, "seed")

    for column in zip(*rows, strict=True):
        assert sorted(int(number * 50) for number in column) == list(range(50))


def test_columns_are_in_an_order_of_their_own() -> None:
    first, second = zip(*stratified(50, 2, "seed"), strict=True)

    assert [int(number * 50) for number in first] != [int(number * 50) for number in second]


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert stratified(5, 3, "seed") == stratified(5, 3, "seed")
    assert stratified(5, 3, "seed") != stratified(5, 3, "another")


def test_further_columns_leave_the_first_as_they_are() -> None:
    few, many = stratified(5, 2, "seed"), stratified(5, 6, "seed")

    assert [row[:2] for row in many] == few


def test_what_one_source_draws_leaves_another_as_it_is() -> None:
    writer, again, judge = Noise("run/w"), Noise("run/w"), Noise("run/j")
    first = [writer.normal() for _ in range(3)]
    mixed: list[float] = []
    for _ in range(3):
        judge.normal()
        mixed.append(again.normal())

    assert mixed == first


def test_the_error_of_a_mean_comes_from_its_blocks() -> None:
    mean = mean_of([[1.0, 3.0], [3.0, 5.0]])

    assert mean.blocks == (2.0, 4.0)
    assert mean.value == 3.0
    assert mean.error == 1.0


def test_what_two_means_have_in_common_falls_out_of_their_difference() -> None:
    one, other = Mean(blocks=(1.0, 5.0, 9.0)), Mean(blocks=(0.5, 4.5, 8.5))

    assert one.minus(other).value == 0.5
    assert one.minus(other).error == 0.0
