"""Keys of sources."""

import pytest

from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import authorization, named_keys, secrets_of


@pytest.mark.parametrize(
    ("secret", "header"),
    [
        ("jo:s3cret", "Basic am86czNjcmV0"),
        ("jo:s3 cret", "Basic am86czMgY3JldA=="),
        ("jö:hemlig", "Basic asO2OmhlbWxpZw=="),
        ("ApiKey abc==", "ApiKey abc=="),
        ("Bearer a:b", "Bearer a:b"),
        ("basic am86czM=", "basic am86czM="),
        ("  abc  ", "Bearer abc"),
    ],
)
def test_a_key_becomes_the_header_that_it_means(secret: str, header: str) -> None:
    assert authorization(secret) == header


def test_a_bare_token_has_the_scheme_of_its_source() -> None:
    assert authorization("abc==", bare="ApiKey") == "ApiKey abc=="


@pytest.mark.parametrize("secret", ["", "one-key two-words", "tok\nen", "jo:pass\r\nx: y", "ä"])
def test_what_cannot_be_sent_is_refused_without_being_repeated(secret: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        authorization(secret)
    assert secret.strip() == "" or secret.strip() not in str(caught.value)


def test_a_scheme_alone_is_no_key() -> None:
    with pytest.raises(ConfigurationError):
        authorization("Bearer ")


def test_keys_are_a_list_of_names_with_their_secrets() -> None:
    told = "es=ApiKey abc==, wiki=jo:a%2Cb ,meili=k=v"
    assert dict(named_keys(told)) == {"es": "ApiKey abc==", "wiki": "jo:a,b", "meili": "k=v"}
    assert named_keys("abc") == (("", "abc"),)


def test_every_part_that_is_secret_is_known() -> None:
    found = secrets_of("es=ApiKey abc==,wiki=jo:pass word")
    assert {"ApiKey abc==", "abc==", "jo:pass word", "pass word"} <= set(found)
