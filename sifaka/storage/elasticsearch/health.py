"""Whether the server works."""

from sifaka.errors import SifakaError
from sifaka.storage.elasticsearch.shared import Shared
from sifaka.storage.protocol import Health

_SECONDS = 3.0


async def look(shared: Shared) -> tuple[Health, ...]:
    """A line about the server, and with an embedder one about vectors."""
    address = shared.connection.address
    server = f"elasticsearch {address.url} {address.prefix}"
    try:
        said = await shared.connection.send("GET", "/", seconds=_SECONDS)
        version = said.checked().get("version", {})
        looked = await shared.connection.send("GET", f"/{address.runs}", seconds=_SECONDS)
        found = f"{version.get('distribution', 'elasticsearch')} {version.get('number', '?')}"
        if looked.status == 404:
            found += ", its indices are created on first use"
        else:
            looked.checked()
    except SifakaError as error:
        return (Health(part=server, works=False, found=str(error)),)
    vectors = shared.vectors
    if vectors is None:
        return (Health(part=server, works=True, found=found),)
    try:
        documents = await shared.ready()
        works = await vectors.prepare(documents)
        state = "kept beside the texts" if works else f"the server keeps none: {vectors.lack}"
    except SifakaError as error:
        works, state = False, str(error)
    part = f"{server} vectors of {vectors.embedder.model_id}"
    return Health(part=server, works=True, found=found), Health(part=part, works=works, found=state)
