"""Trains and scores all arms of the experiments on readouts, several side by side on one GPU, within a time.

`python tests/bench/arms.py --shards SHARDS --sets SETS/* --seconds 400 --out FILE` runs, in this order:

    start       EOS0: the bundled model, trained on for the readout eos
    readouts    mean and eos, from a model with nothing learned, twice the steps
    contextual  every arm of contextual_arms.py, from EOS0
    table       mean and eos, from new layers over the bundled model's table of token vectors
    widths      mean from that start: the joint loss, one width drawn for each step, each width alone

A seed draws the pairs: arms of one seed read the same pairs in the same order. The loss is
InfoNCE from query to passage alone. The speed of the first steps decides how many steps an arm has. FILE is written
after each arm, as JSON (or .json.xz): for each arm and width, nDCG@10 and MRR@10 of every query.
"""

import argparse
import json
import lzma
import multiprocessing
import queue
import shutil
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from arm_scores import Task, scores, task_of
from contextual_arms import ARMS, RATES, Training, norms, open_arm, train
from safetensors.torch import load_file, save_file

from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.models.hub import bundled_model
from longsearch.engine.models.mamba2 import Mamba2Mixer
from longsearch.engine.training.data.shards import load_pairs, read_tokenizer
from longsearch.engine.training.papers.contextual import ContextualStudent
from longsearch.engine.training.papers.opening import open_student
from longsearch.engine.training.student.initialise import new_model, save_new
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import Rates

WIDTHS, WIDTH_WEIGHTS = (1.0, 0.5, 0.25, 0.125), (4.0, 2.0, 1.0, 1.0)
NEW_RATES = Rates(blocks=1e-3, embedding=1e-3)
WARM_STEPS, MOST_STEPS = 12, 310
UNITS = 1 + 6 * 2 + 24 + 6  # of the steps of an arm: the first four parts


@dataclass(frozen=True, slots=True)
class Job:
    """One arm with one seed."""

    part: str
    """As in the list above."""
    name: str
    arm: str
    """One of `ARMS`."""
    start: str
    """The folder that it starts from, in the working folder; "" is the bundled model."""
    training: Training
    score_widths: tuple[float, ...] = (1.0,)

    @property
    def id(self) -> str:
        """Unlike that of any other job."""
        return f"{self.part}-{self.name}-{self.training.seed}"


def jobs(steps: int, pairs: int, seeds: list[int]) -> list[Job]:
    """Return all jobs, the most wanted first; `steps` of an arm, `pairs` of a step."""
    old = Training(steps, 0, pairs, rates=RATES)
    new = replace(old, rates=NEW_RATES)
    all_jobs = [Job("start", "eos", "eos", "", replace(old, seed=100))]
    for part, training in (("readouts", replace(new, steps=2 * steps)), ("contextual", old), ("table", new)):
        arms = [arm for arm in ARMS if arm != "mean"] if part == "contextual" else ["mean", "eos"]
        start = {"contextual": "eos0", "readouts": "nothing"}.get(part, part)
        all_jobs += [Job(part, arm, arm, start, replace(training, seed=seed)) for seed in seeds for arm in arms]
    several = {
        "joint": replace(new, widths=WIDTHS, width_weights=WIDTH_WEIGHTS, joint=True),
        "drawn": replace(new, widths=WIDTHS, width_weights=WIDTH_WEIGHTS),
    }
    for seed in seeds:
        all_jobs += [Job("widths", name, "mean", "table", replace(t, seed=seed), WIDTHS) for name, t in several.items()]
        for width in WIDTHS[1:]:  # the whole model alone is the arm mean of the part table
            alone = replace(new, seed=seed, widths=(width,))
            all_jobs.append(Job("widths", f"alone-{width:g}", "mean", "table", alone, (width,)))
    return all_jobs


class Worker:
    """Runs jobs one after the other in a process of its own."""

    def __init__(self, options: argparse.Namespace, work: Path) -> None:
        """Load the pairs and the sets."""
        self._o, self._work = options, work
        torch.set_num_threads(1)
        torch.set_float32_matmul_precision("high")
        self._tokenizer = read_tokenizer(bundled_model())
        self._pairs = load_pairs(options.shards, self._tokenizer, labelled_only=False)
        limits = options.queries, options.documents, 128
        self._tasks: list[Task] = [task_of(load_dataset(path), self._tokenizer, *limits) for path in options.sets]

    def speed(self) -> float:
        """Return the seconds of a step."""
        job = Job("speed", "eos", "eos", "", Training(WARM_STEPS, 0, self._o.pairs))
        times = (self._work / f"speed-{multiprocessing.current_process().name}").resolve()
        self._train(job, times)
        lines = [json.loads(line)["elapsed_s"] for line in (times / "log.jsonl").read_text().splitlines()]
        return float((lines[-1] - lines[3]) / (len(lines) - 4))

    def _train(self, job: Job, out: Path) -> tuple[Any, dict[str, float]]:
        start = self._work / job.start if job.start else bundled_model()
        student, tokenizer = open_arm(job.arm, start, self._o.device)
        return student, train(student, tokenizer, self._pairs, start, out, job.training)

    def __call__(self, job: Job) -> dict[str, Any]:
        """Train and score an arm."""
        out = self._work / job.id
        student, figures = self._train(job, out)
        if job.part != "start":
            shutil.rmtree(out)
        batch = 16 if self._o.device == "cpu" else 256
        rounded = {
            f"{width:g}": {
                task.name: [[round(value, 4) for value in values] for values in scores(student, task, batch, width)]
                for task in self._tasks
            }
            for width in job.score_widths
        }
        about = {"training": {k: v for k, v in asdict(job.training).items() if k != "rates"}}
        return {**about, **figures, **norms(student, self._tasks[0]), "scores": rounded}


def work(options: argparse.Namespace, folder: Path, inbox: Any, outbox: Any, number: int) -> None:
    """Report the speed, then run the jobs of `inbox` until it holds None."""
    try:
        worker = Worker(options, folder)
        outbox.put((number, "speed", 1.0 if options.steps else worker.speed()))
    except Exception:
        outbox.put((number, "lost", traceback.format_exc()))
        return
    while (job := inbox.get()) is not None:
        try:
            outbox.put((number, job.id, worker(job)))
        except Exception as error:
            lost = "CUDA" in str(error)  # after some errors of the device, all that a process does there fails
            outbox.put((number, job.id, {"error": traceback.format_exc(), "lost": lost}))
            if lost:
                return


def make_starts(folder: Path) -> None:
    """Write the two starts without a training: nothing learned, and new layers over the bundled table."""
    bundled, tokenizer = load_student(bundled_model(), "cpu", torch.float32)
    for name in ("nothing", "table"):
        model = new_model(bundled.model.config, 0)
        with torch.no_grad():
            table = bundled.model.embeddings.weight
            drawn = torch.randn(table.shape, generator=torch.Generator().manual_seed(0)) * table.std()
            model.embeddings.weight.copy_(table if name == "table" else drawn)
            for mixer in (module for module in model.modules() if isinstance(module, Mamba2Mixer)):
                torch.nn.init.normal_(mixer.out_proj.weight, std=0.02)  # at 0, all texts would have one state of EOS
        save_new(folder / name, model, tokenizer)


def add_token(trained: Path, start: Path, token: Path | None) -> None:
    """Write to `start` the model in `trained` with a new contextual token: that in `token`, or MiniLM's layer."""
    if token:
        weights = load_file(token)
    else:
        student, _ = open_student(trained, "cpu", torch.float32, "contextual")
        assert isinstance(student, ContextualStudent)
        weights = student.token.state_dict()
    shutil.copytree(trained, start, ignore=shutil.ignore_patterns("resume.pt"))
    tensors = load_file(trained / "model.safetensors")
    tensors |= {f"readout.{name}": tensor.half().contiguous() for name, tensor in weights.items()}
    save_file(tensors, start / "model.safetensors", {"format": "pt"})
    config = json.loads((start / "config.json").read_text("utf-8"))
    config["longsearch"] |= {"readout": "contextual", "dim": 2 * config["hidden_size"], "encoder_heads": 12}
    (start / "config.json").write_text(json.dumps(config), "utf-8")


class Board:
    """Hands out the jobs and keeps the results."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._o, self._folder, self._began = options, folder, time.monotonic()
        context = multiprocessing.get_context("spawn")
        self._outbox: Any = context.Queue()
        self._inboxes: list[Any] = [context.Queue() for _ in range(options.workers)]
        self._processes = [
            context.Process(target=work, args=(options, folder, inbox, self._outbox, number), daemon=True)
            for number, inbox in enumerate(self._inboxes)
        ]
        self._waiting: list[Job] = []
        self._results: dict[str, Any] = {}
        self._idle: set[int] = set()

    def run(self) -> None:
        """Run until all is done or the time is over."""
        for process in self._processes:
            process.start()
        make_starts(self._folder)
        if not (speeds := self._speeds()):
            return
        left = self._o.seconds - (time.monotonic() - self._began)
        rate = sum(1 / speed for speed in speeds)
        steps = self._o.steps or max(20, min(MOST_STEPS, int(0.75 * rate * left / UNITS)))
        self._say(f"{rate:.1f} steps a second, {steps} steps for an arm, {left:.0f} s left")
        self._waiting = jobs(steps, self._o.pairs, self._o.seeds)
        self._hand_out()
        lost = self._o.workers - len(speeds)
        while len(self._idle) + lost < self._o.workers and (report := self._report()):
            number, what, value = report
            self._results[what] = value
            if value.get("lost"):
                lost += 1
            else:
                self._idle.add(number)
            if what == "start-eos-100" and "error" not in value:
                add_token(self._folder / what, self._folder / "eos0", self._o.token)
            self._hand_out()
            self._write()
        for process in self._processes:
            process.kill()

    def _speeds(self) -> list[float]:
        """Wait for the workers. Return the seconds of a step of each that is there."""
        lost, speeds = 0, list[float]()
        while lost + len(speeds) < self._o.workers and (report := self._report()):
            number, what, value = report
            lost += what == "lost"
            if what == "speed":
                speeds.append(value)
                self._idle.add(number)
        return speeds

    def _hand_out(self) -> None:
        """Give the first job whose start is there to each idle worker."""
        for number in sorted(self._idle):
            ready = [job for job in self._waiting if not job.start or (self._folder / job.start).exists()]
            if ready:
                self._waiting.remove(ready[0])
                self._idle.remove(number)
                self._inboxes[number].put(ready[0])

    def _report(self) -> tuple[int, str, Any] | None:
        left = self._o.seconds - (time.monotonic() - self._began)
        try:
            report: tuple[int, str, Any] = self._outbox.get(timeout=max(0.0, left))
        except queue.Empty:
            return None
        number, what, value = report
        shown = value if isinstance(value, float) else value.get("error", "done") if isinstance(value, dict) else value
        self._say(f"worker {number}: {what}: {shown}")
        return report

    def _write(self) -> None:
        data = json.dumps(self._results).encode()
        part = self._o.out.with_suffix(".part")
        part.write_bytes(lzma.compress(data, preset=1) if self._o.out.suffix == ".xz" else data)
        part.replace(self._o.out)

    def _say(self, line: str) -> None:
        print(f"{time.monotonic() - self._began:6.1f} s  {line}", flush=True)


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--shards", type=Path, required=True, metavar="DIR", help="pairs")
    add("--sets", type=Path, nargs="+", required=True, metavar="DIR", help="evaluation sets")
    add("--seconds", type=float, required=True, help="the time for all")
    add("--out", type=Path, required=True, metavar="FILE", help="file to write, .json or .json.xz")
    add("--token", type=Path, metavar="FILE", help="weights of a new contextual token (default: MiniLM's last layer)")
    add("--device", default="cuda", help="cuda or cpu (default cuda)")
    add("--workers", type=int, default=8, help="arms that are trained side by side (default 8)")
    add("--pairs", type=int, default=128, help="pairs of a step (default 128)")
    add("--steps", type=int, default=0, help="steps of an arm (default: what the time allows, 310 at most)")
    add("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds of each arm (default 0 1 2)")
    add("--queries", type=int, default=3000, help="queries of a set at most (default 3000)")
    add("--documents", type=int, default=2500, help="documents of a set at most (default 2500)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Board(options, Path(folder)).run()


if __name__ == "__main__":
    main()
