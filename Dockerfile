# SPDX-License-Identifier: GPL-2.0-only
#
# ScaleAcross on Debian 12, with ./scaleacross as entry point:
#
#   docker build -t scaleacross --build-arg UID=$(id -u) .
#   docker run --rm -v "$PWD:/results" scaleacross explore study.yaml
#
# Packages are those of the wrapper's own list, which it installs itself.

FROM debian:bookworm

# Who the program runs as, and whose results are.
ARG UID=1000
RUN useradd --uid "$UID" --create-home scaleacross

WORKDIR /opt/scaleacross
COPY CMakeLists.txt CMakePresets.json LICENSE README.md scaleacross ./
COPY analysis analysis
COPY cmake cmake
COPY contrib contrib
COPY examples examples
COPY python python
COPY scratch scratch

# Asking the report for its help installs what building and reports need, and builds the program.
# Later calls find both done; the checkout is the user's, so that its lock can be taken.
RUN CCACHE_DISABLE=1 ./scaleacross report --help \
    && rm -rf /var/lib/apt/lists/* \
    && chown -R scaleacross: /opt/scaleacross

USER scaleacross
WORKDIR /results
VOLUME /results
ENTRYPOINT ["/opt/scaleacross/scaleacross"]
CMD ["--help"]
