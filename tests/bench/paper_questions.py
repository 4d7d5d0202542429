"""Questions about real papers, in other words than the papers use: is the right sentence lit, is a right one denied?

`python paper_questions.py FOLDER` asks the lines of `paper_questions.txt` of the PDFs in FOLDER, on the way of
`longsearch search --json --answers`. A line has a file, a question and words of the sentence that answers, parted by
bars; a slash parts words of two sentences that answer equally well. "-" stands for a question that no paper answers.
The ten papers are in github.com/papers-we-love/papers-we-love: bigtable, dynamo and gfs (the Google file system) in
`datastores`; chubby, mapreduce, raft (an understandable consensus algorithm) and tor in `distributed_systems`; bitcoin
in `digital_currency`, unix (the time-sharing system) in `operating_systems`, pagerank in `information_retrieval`.
FOLDER holds them under these short names.

Printed are the misses, each with its verdict and probability, and the counts.
"""

import argparse
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.bench.answers import asker

LIST = Path(__file__).with_suffix(".txt")


def judged(file: str, words: str, given: dict[str, Any]) -> list[str]:
    """What the answer to a question shows, in a few words each."""
    verdict, best = given["verdict"], next(iter(given["answers"]), None)
    if file == "-":
        return ["absent", f"absent, told {verdict}"]
    first = Path(given["results"][0]["path"]).stem if given["results"] else ""
    passages = given["results"][0]["passages"] if given["results"] else []
    found = ["there", f"there, told {verdict}"]
    found += ["right paper first"] if first == file else []
    found += ["right paper first, but told nothing"] if first == file and verdict == "nothing" else []
    found += ["a passage of it holds the answer"] if any(_holds(one["text"], words) for one in passages) else []
    found += (
        ["right sentence"] if best and Path(best["document"]).stem == file and _holds(best["sentence"], words) else []
    )
    return found


def _holds(text: str, words: str) -> bool:
    flat = " ".join(text.replace("-\n", "").split()).casefold()
    return any(one.casefold() in flat for one in words.split(" / "))


def main() -> None:
    """Ask, and print what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    root = parser.parse_args().folder.absolute()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_DATA_HOME"] = os.environ["XDG_RUNTIME_DIR"] = home
        from longsearch.app.cli import main as longsearch_main

        longsearch_main(["index", str(root), "-q"])
        ask = asker(root)
        for line in LIST.read_text("utf-8").splitlines():
            file, question, words = (part.strip() for part in line.split("|"))
            given = ask(question)
            found = judged(file, words, given)
            counts.update(found)
            is_right = "right sentence" in found and given["verdict"] != "nothing"
            if not is_right and (file != "-" or given["verdict"] != "nothing"):
                best = next(iter(given["answers"]), {"document": "", "place": "", "sentence": "", "probability": None})
                place = f"{Path(best['document']).stem} {best['place']}"
                print(f"{file}: {question}\n  {given['verdict']} {best['probability']} {place}: {best['sentence']!r}")
    print(*(f"{n:3} {name}" for name, n in sorted(counts.items())), sep="\n")


if __name__ == "__main__":
    main()
