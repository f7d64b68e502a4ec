from sifaka.storage.tool_backed.redis import LogRecord, RunLog


def read(*records: LogRecord) -> RunLog:
    log = RunLog()
    for record in records:
        log.add(record)
    return log


def append(after: int, *payloads: str, fence: int | None = None) -> LogRecord:
    return LogRecord(kind="append", after=after, payloads=payloads, fence=fence)


def test_of_two_appends_at_the_same_place_the_first_counts() -> None:
    first, second = append(0, "a"), append(0, "b")
    folded = read(first, second, append(1, "c"))

    assert folded.payloads == ["a", "c"]
    assert first.id in folded.fences
    assert second.id not in folded.fences


def test_a_record_that_is_there_twice_counts_once() -> None:
    begun, claim = append(0, "a"), LogRecord(kind="claim")
    folded = read(begun, begun, claim, claim)

    assert folded.payloads == ["a"]
    assert folded.fences == {begun.id: 0, claim.id: 1}


def test_an_append_under_an_earlier_claim_does_not_count() -> None:
    log = [append(0, "a", fence=0), LogRecord(kind="claim"), LogRecord(kind="claim")]
    folded = read(*log, append(1, "b", fence=1), append(1, "c"), append(2, "d", fence=2))

    assert folded.payloads == ["a", "c", "d"]


def test_nothing_is_claimed_before_a_run_begins() -> None:
    claim = LogRecord(kind="claim")
    assert read(claim, append(0, "a")).fences.keys().isdisjoint({claim.id})
