# The MCP server over HTTP. It listens to other machines, so it starts only when it is told whom to
# let in; without, it says so and ends:
#   docker build -t sifaka-mcp .
#   docker run --rm -v sifaka:/data --entrypoint sifaka sifaka-mcp token NAME --auth-tokens-file /data/tokens
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#     -p 127.0.0.1:8000:8000 -v sifaka:/data -e SIFAKA_AUTH_TOKENS_FILE=/data/tokens sifaka-mcp

# The digest is what docker-library/repo-info lists for the tag; CONTRIBUTING.md says when to renew it.
ARG BASE=python:3.12-slim@sha256:229a2c5bfa27522db7815ea81f9bed70af17ccb9de9fc7ad142b1877b5830d36

FROM ${BASE} AS build
ENV UV_PROJECT_ENVIRONMENT=/opt/sifaka \
    UV_PYTHON_DOWNLOADS=never \
    UV_LINK_MODE=copy \
    UV_COMPILE_BYTECODE=1
WORKDIR /src
COPY distribution/locks/uv.txt distribution/locks/build.txt ./distribution/locks/
RUN --mount=type=cache,target=/root/.cache/pip pip install --require-hashes -r distribution/locks/uv.txt
# For the clients of providers and stores: --build-arg EXTRAS="--extra openai --extra redis"
ARG EXTRAS=""
# The dependencies first: this layer stays as long as the lock does.
COPY pyproject.toml uv.lock ./
RUN --mount=type=cache,target=/root/.cache/uv uv sync --frozen --no-dev --no-install-project --extra http ${EXTRAS}
COPY README.md LICENSE THIRD-PARTY-LICENSES ./
COPY sifaka ./sifaka
COPY server ./server
RUN --mount=type=cache,target=/root/.cache/uv uv pip install --python /opt/sifaka --no-deps --build-constraints distribution/locks/build.txt .

FROM ${BASE}
LABEL org.opencontainers.image.title="Sifaka" \
      org.opencontainers.image.description="Check, criticise and improve a text in a bounded loop; every version is remembered." \
      org.opencontainers.image.source="https://github.com/sifaka-mcp/sifaka-mcp" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="0.1.0" \
      io.modelcontextprotocol.server.name="io.github.sifaka-mcp/sifaka-mcp"
RUN useradd --system --uid 10001 --no-create-home --home-dir /data sifaka \
    && install --directory --owner=sifaka --mode=0700 /data
COPY --from=build /opt/sifaka /opt/sifaka
ENV PATH=/opt/sifaka/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    SIFAKA_HOME=/data
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
# Of a server over HTTP. Over stdio its client sees that it lives, and nothing listens: healthy.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD ["python", "-c", "from pathlib import Path; b'http' in Path('/proc/1/cmdline').read_bytes() or exit(); from http.client import HTTPConnection as C; c = C('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["sifaka-mcp"]
CMD ["--transport", "http", "--host", "0.0.0.0", "--port", "8000"]
