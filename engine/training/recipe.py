"""The recipe of the bundled model: the sequence of commands that trains it, carried out step by step.

    python -m longsearch.engine.training recipe --list
    python -m longsearch.engine.training recipe --shards SHARDS --documents FIRST SECOND THIRD --out OUT --compile

Each step is one command of `python -m longsearch.engine.training` and writes a model to OUT/step-NN. When the recipe
runs again, it skips finished steps and resumes an interrupted one. docs/training.md describes the steps, and says where
the recipe differs from the history of the bundled model.
"""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from longsearch.engine.errors import LongsearchError
from longsearch.engine.training.data.pairs import read_long_documents
from longsearch.engine.training.data.shards import load_pairs, read_tokenizer
from longsearch.engine.training.teachers.opening import MINILM, teacher_folder

_READERS = ("new", "states", "contrast", "streams")
"""Commands that read shards."""
_LABELLED = ("contrast", "streams")
"""Commands that need the teacher's vectors in the shards."""
_TAUGHT = ("new", "states", "streams")
"""Commands that open the teacher."""
_TRAINING = (
    "--batch-tokens 8192 --max-pairs 128 --cosine-weight 8 --contrast-weight 0.25 --instruction-share 0.1 "
    "--embedding-rate {embedding_rate} "
)
_PAIRS = _TRAINING.format(embedding_rate="2e-4")
_STREAMS = "--teacher --slice-tokens 768 --max-tokens 16384 "
_SHORT_STREAMS = (
    _TRAINING.format(embedding_rate="1e-4")
    + _STREAMS
    + "--rate 2e-4 --projection-rate 3e-5 --warm-up 0.1 --pairs-share 0.4"
)
_LONG_STREAMS = _PAIRS + _STREAMS + "--projection-rate 1e-4 --pairs-share 0.88 "
_LATE_STREAMS = _LONG_STREAMS + "--rate 4.5e-4 --warm-up 0.04"


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the recipe."""

    number: int
    """As in docs/training.md. Step 4 replaced GELU by hardswish; `new` writes hardswish now, so no command is left."""
    purpose: str
    command: str
    options: str
    """The command's options, without paths, seed and duration."""
    seed: int = 0
    minutes: float = 0.0
    """Training time; 0 for a command that does not train."""
    models: tuple[int, ...] = ()
    """Numbers of the steps whose models this step starts from."""
    documents: int | None = None
    """Index of the file of long documents that the step reads; None: it reads none."""


STEPS = (
    Step(1, "start from four layers of the teacher", "new", "--teacher-layers 0 1 3 5", 3),
    Step(2, "pairs", "contrast", _PAIRS + "--rate 5e-4 --warm-up 0.05", 4, 51, (1,)),
    Step(3, "long documents", "streams", _SHORT_STREAMS, 5, 9, (2,), 0),
    Step(5, "more pairs", "contrast", _PAIRS + "--rate 4e-4 --warm-up 0.03 --width-weights 4 2 1 1", 8, 53, (3,)),
    Step(6, "more long documents", "streams", _SHORT_STREAMS, 9, 6, (5,), 1),
    Step(7, "questions people ask", "streams", _LONG_STREAMS + "--rate 3.5e-4 --warm-up 0.05", 10, 56, (6,), 2),
    Step(8, "more of step 7", "streams", _LATE_STREAMS, 11, 70, (7,), 0),
    Step(9, "sentences too", "streams", _LATE_STREAMS + " --sentences-share 0.4", 12, 75, (8,), 0),
    Step(10, "words too", "streams", _LATE_STREAMS + " --sentences-share 0.4 --words-share 0.3", 13, 62, (9,), 0),
    Step(11, "mean of the weights of steps 9 and 10", "average", "", models=(9, 10)),
)
TOTAL_MINUTES = sum(step.minutes for step in STEPS)

_OF_LANGUAGES = "--question-weight 3 --instruction-share 0.4 --warm-up 0.03 "
# texts are short, so a batch of few tokens already has many pairs
_ALL = _OF_LANGUAGES + "--batch-tokens 3000 --max-pairs 64 --rate 7e-4 --embedding-rate 4e-4 "
_HALF = _OF_LANGUAGES + "--batch-tokens 3500 --max-pairs 72 --rate 5e-4 --embedding-rate 3e-4 "
LANGUAGE_STEPS = (
    Step(1, "start from four layers of the teacher", "new", "--teacher-layers 0 3 7 11", 3),
    Step(2, "states and scores", "states", _ALL + "--widths 1 --width-weights 1", 6, 55, (1,)),
    Step(3, "at half the width too", "states", _HALF + "--widths 1 1/2 --width-weights 3 1", 4, 32, (2,)),
    Step(4, "the table of token vectors in 8 bits", "compact", "", models=(3,)),
)
"""The recipe of a model of many languages, after `teacher`, `translations`, `cut` and `label --tokens-only`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The inputs and outputs of a run of the recipe, and how long it trains."""

    shards: Path
    """Folder of labelled shards, or of folders `step-NN` of them: a step reads the last one up to its own number."""
    documents: tuple[Path, ...]
    """Files of long documents, one or more; the steps that read long documents take turns with them."""
    out: Path
    scale: float = 1.0
    """Factor of every step's minutes."""
    max_steps: int | None = None
    """Optimiser steps of each training at most; None: the minutes alone decide."""
    seed: int = 0
    """Added to the seed of each step."""
    steps: tuple[Step, ...] = STEPS
    teacher: str = MINILM
    """`minilm`, or the folder of a multilingual E5."""

    def model(self, number: int) -> Path:
        """Return the folder that step `number` writes its model to."""
        return self.out / f"step-{number:02}"

    def shards_of(self, number: int) -> Path:
        """Return the folder of shards that step `number` reads."""
        folders = sorted(self.shards.glob("step-[0-9][0-9]"))
        earlier = [folder for folder in folders if int(folder.name.removeprefix("step-")) <= number]
        return (earlier[-1:] or folders[:1] or [self.shards])[0]

    def documents_of(self, step: Step) -> Path | None:
        """Return the file of long documents that `step` reads, or None."""
        return None if step.documents is None else self.documents[step.documents % len(self.documents)]

    def is_finished(self, step: Step) -> bool:
        """Return whether an earlier run finished `step`. Raises LongsearchError if that run had other options."""
        try:
            options = self._note(step).read_text("utf-8")
        except OSError:
            return False
        if options != " ".join(self._options(step)):
            hint = "give another --out, or delete the folder and those of the steps after it"
            raise LongsearchError(f"{self.model(step.number)} was made with other options: {options}", hint)
        return True

    def finish(self, step: Step) -> None:
        """Note that `step` is finished, and with which options."""
        self._note(step).write_text(" ".join(self._options(step)), "utf-8")

    def command_line(self, step: Step) -> list[str]:
        """Return the arguments of `python -m longsearch.engine.training` that carry out `step`."""
        models, documents = [str(self.model(number)) for number in step.models], self.documents_of(step)
        if step.command not in _READERS:
            flag = ["--model"] if step.command == "compact" else []
            return [step.command, *flag, *models, "--out", str(self.model(step.number))]
        line = [step.command, *([str(documents)] if documents else []), "--shards", str(self.shards_of(step.number))]
        line += ["--model", *models] if models else []
        line += ["--teacher", self.teacher] if step.command in _TAUGHT and self.teacher != MINILM else []
        return [*line, "--out", str(self.model(step.number)), *self._options(step)]

    def _options(self, step: Step) -> list[str]:
        duration = ["--minutes", f"{step.minutes * self.scale:g}"] if step.minutes else []
        duration += ["--steps", str(self.max_steps)] if step.minutes and self.max_steps else []
        seed = ["--seed", str(step.seed + self.seed)] if step.command in _READERS else []
        return [*step.options.split(), *duration, *seed]

    def _note(self, step: Step) -> Path:
        return self.model(step.number) / "finished.txt"


def steps_to(plan: Plan, last: int) -> tuple[Step, ...]:
    """Return the plan's steps up to number `last`."""
    return tuple(step for step in plan.steps if step.number <= last)


def listing(plan: Plan, last: int) -> Iterator[str]:
    """Describe each step and give the command that carries it out by itself."""
    for step in steps_to(plan, last):
        minutes = f", {step.minutes * plan.scale:g} minutes" if step.minutes else ""
        yield f"# step {step.number}: {step.purpose}{minutes}"
        yield f"python -m longsearch.engine.training {shlex.join(plan.command_line(step))}"


def carry_out(plan: Plan, last: int, machine: list[str], run: Callable[[list[str]], int]) -> int:
    """Run the unfinished steps up to number `last`, by `run(command line)`. Returns the exit status.

    `machine` holds options such as --threads, which are added to every command; --compile is added only to commands
    that train. Raises LongsearchError, before anything starts, if an input is missing.
    """
    unfinished = [step for step in steps_to(plan, last) if not plan.is_finished(step)]
    _check_inputs(plan, unfinished)
    for step in unfinished:
        line = plan.command_line(step)
        print(
            f"step {step.number}, {step.purpose}: python -m longsearch.engine.training {shlex.join(line)}", flush=True
        )
        status = run([*line, *(option for option in machine if step.minutes or option != "--compile")])
        if status:
            return status
        plan.finish(step)
    print(f"steps to {last} are finished: {plan.model(steps_to(plan, last)[-1].number)}")
    return 0


def _check_inputs(plan: Plan, steps: list[Step]) -> None:
    """Raise LongsearchError if the teacher, a step's pairs or their labels, or a step's long documents are missing."""
    readers = [step for step in steps if step.command in _READERS]
    if not readers:
        return
    tokenizer = read_tokenizer(teacher_folder(plan.teacher))
    labelled = {plan.shards_of(step.number) for step in readers if step.command in _LABELLED}
    for folder in sorted({plan.shards_of(step.number) for step in readers}):
        load_pairs(folder, tokenizer, labelled_only=folder in labelled)
    for path in sorted({path for step in readers if (path := plan.documents_of(step))}):
        if not next(iter(read_long_documents([path])), None):
            raise LongsearchError(f"{path} holds no long documents", "each line is a JSON object with title, text, s")
