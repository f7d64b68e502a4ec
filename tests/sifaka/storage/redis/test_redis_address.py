import pytest

from sifaka.errors import ConfigurationError
from sifaka.storage.address import REDIS, parse_store_url, parse_ttl
from sifaka.storage.redis import RedisStorage


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost", "redis://localhost"),
        ("redis://ann:s3cret@cache.example:6380/2", "redis://cache.example:6380/2"),
        ("REDIS://localhost/", "redis://localhost"),
        ("rediss://:s3cret%40%2F@[::1]:7000/0?ssl_cert_reqs=none", "rediss://[::1]:7000/0"),
        ("unix:///run/redis.sock?db=1&password=s3cret", "unix:///run/redis.sock"),
        ("unix://ann@/run/redis.sock?password=s3cret", "unix:///run/redis.sock"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, shown: str) -> None:
    address = parse_store_url(url, REDIS)
    assert address.shown == shown
    assert "s3cret" not in repr(address)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "redis:",
        "redis://",
        "redis:///0",
        "redis://:s3cret@",
        "redis://host:s3cret",
        "redis://u:s3cret@host:99999",
        "redis://u:s3cret@host/name",
        "redis://u:s3cret@host/1/2",
        "redis://u:s3cret@host?db=x",
        "redis://u:s3cret@host?s3cret",
        "redis://u:s3cret@host#part",
        "redis://u:s3cret@[host",
        "http://u:s3cret@host",
        "unix://host/s3cret",
        "unix://",
    ],
)
def test_what_is_not_an_address_is_refused_and_no_password_shown(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        RedisStorage(url)
    shown = str(caught.value)
    assert "redis://[user:password@]host" in shown
    assert "\n" not in shown
    assert "s3cret" not in shown or url in {"redis://host:s3cret", "unix://host/s3cret"}


def test_our_options_are_taken_out_of_the_url() -> None:
    found = parse_store_url("redis://:p%40ss@host/1?ttl=7d&ssl_cert_reqs=none&prefix=ours", REDIS)

    assert found.url == "redis://:p%40ss@host/1?ssl_cert_reqs=none"
    assert (found.ttl, found.prefix) == (7 * 86_400, "ours")
    store = RedisStorage("redis://host?ttl=12h&prefix=ours", tenant="ann")
    assert (store.ttl, store.prefix, store.tenant) == (43_200, "ours", "ann")
    view = store.scoped("bob")
    assert (view.ttl, view.prefix, view.tenant) == (43_200, "ours", "bob")


@pytest.mark.parametrize(("text", "seconds"), [("3600", 3600), ("90s", 90), ("30m", 1800)])
def test_a_time_to_live_is_a_number_with_a_unit(text: str, seconds: float) -> None:
    assert parse_ttl(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0d", "-1", "1.5h", "7 d", "d", "٧d", "99999999d"])
def test_another_time_to_live_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        RedisStorage(f"redis://host?ttl={text}")


@pytest.mark.parametrize("option", ["socket_timeout=1", "decode_responses=True", "protocol=3"])
def test_options_that_would_change_how_we_talk_are_refused(option: str) -> None:
    with pytest.raises(ConfigurationError, match=option.partition("=")[0]) as caught:
        RedisStorage(f"redis://:s3cret@host?{option}")
    assert "s3cret" not in str(caught.value)


def test_what_cannot_be_kept_to_is_refused() -> None:
    for wrong in (0, -1, float("nan"), float("inf"), 1e12):
        with pytest.raises(ConfigurationError):
            RedisStorage("redis://host", ttl=wrong)
    for prefix in ("", "a b", "a*", "a{b}", "x" * 65, "ü"):
        with pytest.raises(ConfigurationError):
            RedisStorage("redis://host", prefix=prefix)
