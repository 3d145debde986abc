# SPDX-License-Identifier: GPL-2.0-only
"""Vega as one script, from the parts that Debian's libjs-vega has."""

from __future__ import annotations

import pathlib

from scaleacross.database import InputError

FOLDER = pathlib.Path("/usr/share/javascript/vega")
# Those that bars, lines and cells need, each after the ones that it asks for.
PARTS = ["util", "time", "format", "loader", "statistics", "dataflow", "scale", "canvas",
         "scenegraph", "expression", "event-selector", "functions", "runtime", "parser", "view",
         "transforms", "view-transforms", "encode"]

BEFORE = """/*
%s
*/
const vega = (() => {
const parts = {"vega-selections": {}}; // of interval selections, which no chart here has
const part = (name, define) => {
  const module = {exports: {}};
  define(module.exports, module, wanted => parts[wanted]);
  parts["vega-" + name] = module.exports;
};
"""
AFTER = """
Object.assign(parts["vega-dataflow"].transforms, parts["vega-transforms"],
              parts["vega-view-transforms"], parts["vega-encode"]);
return {parse: parts["vega-parser"].parse, View: parts["vega-view"].View};
})();
"""


def script() -> str:
    """Defines `vega` with `parse` and `View`."""
    try:
        texts = {name: (FOLDER / f"vega-{name}.min.js").read_text(encoding="utf-8")
                 for name in PARTS}
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}; it is needed for the charts, and in "
                         "Debian's package libjs-vega: sudo apt-get install libjs-vega") from error
    notice = (pathlib.Path(__file__).parent / "vega-notice.txt").read_text(encoding="utf-8").strip()
    parts = "".join(f'part("{name}", (exports, module, require) => {{\n'
                    f'{text.split("//# sourceMappingURL")[0].strip()}\n}});\n'
                    for name, text in texts.items())
    return (BEFORE % notice + parts + AFTER).replace("</script", "<\\/script")
