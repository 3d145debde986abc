#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# vega 6.4.0 (npm, with vega-transforms 5.2.2).
#
# The transform aggregate makes a group of each distinct combination of its groupby fields. One
# would guess that rows ("TP|PP", "DP") and ("TP", "PP|DP") are two groups: they agree in neither
# field. They are one, with the labels of the first row and the values of both, without a warning.
# A group's key is the text of its fields with "|" between them, so that a "|" in a label moves the
# border. window and joinaggregate join the two as well; stack keeps them apart, so a chart can
# count them both ways. Labels without "|" help, and so does a formula that puts both fields into
# one with another separator.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# npm brings certificates of its own; where the system has more, as behind a proxy, they count too.
export NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}
npm install --prefix "$folder" --cache "$folder/cache" --ignore-scripts --no-save --no-audit \
    --no-fund --no-update-notifier --loglevel=error vega@6.4.0 vega-transforms@5.2.2 >/dev/null
cat >"$folder/main.mjs" <<'PROGRAM'
import assert from "node:assert";
import * as vega from "vega";

assert.equal(vega.version, "6.4.0");

async function transformed(values, transform) {
  const specification = {
    data: [{ name: "runs", values: structuredClone(values), transform: [transform] }],
  };
  const view = new vega.View(vega.parse(specification), { renderer: "none" });
  await view.runAsync();
  return view.data("runs");
}

const apart = [
  { inner: "TP+PP", outer: "DP", seconds: 1 },
  { inner: "TP", outer: "PP+DP", seconds: 2 },
];
const barred = [
  { inner: "TP|PP", outer: "DP", seconds: 1 },
  { inner: "TP", outer: "PP|DP", seconds: 2 },
];
const groupby = ["inner", "outer"];
const sum = { type: "aggregate", groupby, ops: ["sum"], fields: ["seconds"], as: ["sum"] };
const rank = { type: "window", groupby, ops: ["row_number"], as: ["place"] };
const stack = { type: "stack", groupby, field: "seconds", as: ["from", "to"] };

assert.deepEqual((await transformed(apart, sum)).map((group) => group.sum), [1, 2]);
assert.deepEqual((await transformed(apart, rank)).map((row) => row.place), [1, 1]);
assert.deepEqual((await transformed(barred, stack)).map((row) => row.from), [0, 0]);

const groups = (await transformed(barred, sum)).map(({ inner, outer, sum }) => [inner, outer, sum]);
const places = (await transformed(barred, rank)).map((row) => row.place);
console.log("vega 6.4.0, groups of aggregate:", JSON.stringify(groups));
console.log("vega 6.4.0, places in their groups of window:", JSON.stringify(places));
if (JSON.stringify(groups) !== '[["TP|PP","DP",3]]' || JSON.stringify(places) !== "[1,2]") {
  console.error("changed: rows that differ in both fields are groups of their own");
  process.exit(1);
}
PROGRAM
node "$folder/main.mjs"
