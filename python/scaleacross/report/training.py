# SPDX-License-Identifier: GPL-2.0-only
"""What is trained on what, and how long and at what cost a number of tokens takes."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from scaleacross.report.tables import Column
from scaleacross.report.words import count, missing, significant, some_of, tokens_text

DAY = 86400  # seconds

@dataclasses.dataclass(frozen=True)
class Job:
    """What one iteration trains on, and how many tokens the whole training has."""

    model: str
    sequence: int
    batch: int
    tokens: float

    @property
    def per_iteration(self) -> int:
        return self.sequence * self.batch

    @property
    def iterations(self) -> float:
        return self.tokens / self.per_iteration

    def days(self, iteration_time_s: float) -> float:
        return self.iterations * iteration_time_s / DAY


def job_of(scenario: str, tokens: float) -> Job | None:
    """None of a scenario that trains no model, as a collective."""
    study = json.loads(scenario)
    work, model = study.get("workload"), study.get("model")
    if not work or not model or "sequence" not in work:
        return None
    name = model if isinstance(model, str) else model.get("name") or "without a name"
    return Job(name, work["sequence"], work["global_batch"], tokens)


def gpus_text(cluster: list[dict[str, Any]]) -> str:
    """32 h100 (north 32); 96 a100-80g (south 64, west 32): by kind, with the sites of each."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for building in cluster:
        gpu = building["gpu"]
        kinds.setdefault(gpu if isinstance(gpu, str) else gpu.get("name") or "GPUs",
                         []).append(building)
    parts = []
    for kind, buildings in kinds.items():
        sites = [f"{one['name']} {count(one['gpus'])}" for one in buildings]
        parts.append(f"{count(sum(one['gpus'] for one in buildings))} {kind} ({some_of(sites, 8)})")
    return "; ".join(parts)


def asked_of(job: Job | None, cluster: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """What the page is a plan for."""
    work = [] if job is None else [
        ("model", job.model),
        ("batch", f"{count(job.batch)} sequences of {count(job.sequence)} tokens"),
        ("tokens per iteration", tokens_text(job.per_iteration))]
    return [*work, ("GPUs, by kind and site", gpus_text(cluster))]


def figures_of_training(job: Job | None, run: dict[str, Any]) -> list[tuple[str, str]]:
    """The cost of an iteration, and days and cost of all tokens: iterations at this time, without
    failures, restarts or evaluation."""
    figures = []
    cost = run.get("cost")
    if not missing(cost):
        figures.append(("cost of an iteration", money(cost)))
    if job is not None:
        name = tokens_text(job.tokens)
        figures.append((f"days for {name} tokens, without failures",
                        significant(job.days(run["iteration_time_s"]))))
        if not missing(cost):
            figures.append((f"cost of {name} tokens", money(cost * job.iterations)))
    return figures


def money(value: float) -> str:
    """In the unit of the study's prices."""
    return count(value) if value >= 9999.5 else significant(value)


def training_columns(job: Job | None) -> list[Column]:
    if job is None:
        return []
    name = tokens_text(job.tokens)
    return [Column("days", f"days for {name}", significant, True),
            Column("training_cost", f"cost of {name}", money, True)]


def training_values(job: Job | None, run: dict[str, Any]) -> dict[str, Any]:
    """What stands in these columns."""
    if job is None:
        return {}
    cost = run.get("cost")
    return {"days": job.days(run["iteration_time_s"]),
            "training_cost": None if missing(cost) else cost * job.iterations}
