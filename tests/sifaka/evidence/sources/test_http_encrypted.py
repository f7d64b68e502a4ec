"""The HTTP client over TLS: it connects to an address, and checks the name."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sifaka.errors import SourceError
from sifaka.evidence.sources.http import HttpClient, Network, Retrying
from tests.stubs.sources import answered, json_reply, refusal, source

pytestmark = pytest.mark.anyio

GOOD = json_reply({"ok": True})


async def resolve(host: str) -> Sequence[str]:
    return ["127.0.0.1"]


def client_of(base: str) -> HttpClient:
    network = Network(resolve, lambda address: address == "127.0.0.1")
    return HttpClient(base, adapter="wiki", network=network, retrying=Retrying(attempts=1))


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SSLContext:
    """The server's side of `wiki.example`, whose certificate this machine trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "wiki.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("wiki.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "both.pem"
    plain = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
        + certificate.public_bytes(pem)
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


async def test_the_certificate_has_to_be_of_the_name_and_not_of_the_address(
    trusted: SSLContext,
) -> None:
    async with source([GOOD], encrypted=trusted) as served:
        assert await answered(client_of(served.at("wiki.example"))) == {"ok": True}
        other = client_of(served.at("mirror.example"))
        with pytest.raises(SourceError) as caught:
            await other.get()
        await other.aclose()
    assert caught.value.code == "connection"
    assert "certificate" in str(caught.value).lower()


async def test_an_untrusted_certificate_is_refused(
    trusted: SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    async with source([GOOD], encrypted=trusted) as served:
        error = await refusal(client_of(served.at("wiki.example")))
    assert error.code == "connection"
    assert served.requests == []
