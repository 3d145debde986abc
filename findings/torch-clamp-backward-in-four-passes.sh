#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PyTorch 1.13.1 (Debian 12, python3-torch 1.13.1+dfsg-4).
#
# Who counts the memory traffic of a layer takes the backward pass of an element-wise function for
# one pass over the data: it reads the gradient and the input and writes a gradient. That is so for
# silu and gelu, which have a backward operation of their own. clamp has none. With a minimum and a
# maximum its gradient is made by ge, le, logical_and_ and where, each over all elements, with masks
# of a byte an element between them: in 16 bits 14 bytes an element where one pass would move 6. With
# one bound it is two operations. So a clamp beside an activation function, as in gated MLPs whose
# gate is limited, costs more backward than the activation function itself, unless a compiler puts
# them together.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that PyTorch needs.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root python3-torch=1.13.1+dfsg-4 >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done
mkdir -p "$folder/tree/dev"
cp -a /dev/urandom "$folder/tree/dev/" # from which it takes its first seed
export PYTHONDONTWRITEBYTECODE=1
lib=/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH=$lib/blas:$lib/lapack # where an installation would link to from outside
chroot "$folder/tree" /usr/bin/python3 - <<'PROGRAM'
import sys

import torch

assert torch.__version__ == "1.13.0a0", torch.__version__  # as this build of 1.13.1 calls itself
ELEMENTS = 1024


def backward_of(function):
    """Operations of the backward pass that read or write all elements, in their order."""
    x = torch.linspace(-9, 9, ELEMENTS, requires_grad=True)
    y = function(x)
    with torch.autograd.profiler.profile(record_shapes=True) as found:
        y.backward(torch.ones(ELEMENTS))
    assert x.grad.shape == x.shape
    wanted = ("ge", "le", "logical_and_", "where", "mul", "silu_backward", "gelu_backward",
              "clamp_backward", "masked_fill")
    return [event.name[len("aten::"):] for event in found.function_events
            if event.name in {f"aten::{name}" for name in wanted} and
            [ELEMENTS] in event.input_shapes]


silu = backward_of(torch.nn.functional.silu)
assert silu == ["silu_backward"], silu
both = backward_of(lambda x: x.clamp(min=-7, max=7))
one = backward_of(lambda x: x.clamp(max=7))
if (both, one) != (["ge", "le", "logical_and_", "where"], ["le", "where"]):
    sys.exit(f"changed: the backward pass of clamp is {both} and {one} now")
print("PyTorch 1.13.1: clamp's backward is", ", ".join(both), "and with one bound",
      ", ".join(one) + "; silu's is one operation")
PROGRAM
