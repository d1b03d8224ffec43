# xoff in a container.
#
#   docker build --tag xoff .
#   docker run --rm --volume "$PWD:/data" xoff run scenarios/incast.toml -o out/incast
#   docker build --target test .      a minute after the build: a run, its report, the same bytes again

FROM rust:1.95-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml Cargo.toml Cargo.lock README.md LICENSE ./
COPY crates crates
COPY examples examples
COPY fuzz fuzz
COPY python python
RUN python3 -m venv /maturin \
    && /maturin/bin/pip install --no-cache-dir 'maturin==1.16.*' \
    && /maturin/bin/maturin build --release --locked --out /wheels

FROM python:3.13-slim-bookworm AS xoff
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels
WORKDIR /data
ENTRYPOINT ["xoff"]
CMD ["--help"]

FROM xoff AS test
COPY packaging/smoke.sh /smoke.sh
RUN /smoke.sh

FROM xoff
