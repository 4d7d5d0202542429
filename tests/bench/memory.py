"""Peak memory of encoding one document, by its length: `python tests/bench/memory.py`. Minutes for the longest.

Each length has a process of its own. Beside the peak stands what the process needed before it read the document
(torch, the tokenizer, the weights), since most of the peak is that.
"""

import argparse
import json
from pathlib import Path

from measuring import PEAK, own_prose, read_texts, run_python

_ENCODE = (
    PEAK
    + """
import time
from engine.inference.encoder import Encoder

dtype, n_tokens = sys.argv[1], int(sys.argv[2])
encoder = Encoder.open("bundled", device="cpu", dtype=dtype)
text = sys.stdin.read()
tokens = encoder.tokenizer.tokenize(text)
if len(tokens) > n_tokens:
    text = text[: tokens.starts[n_tokens]]
del tokens
before, start = peak_mib(), time.perf_counter()
document = encoder.encode_document(text)
seconds = time.perf_counter() - start
print(document.n_tokens, before, peak_mib(), seconds)
"""
)


def measure(n_tokens: int, text: str, dtype: str) -> dict[str, float]:
    """Peak memory of a process that encodes the first `n_tokens` tokens of `text`."""
    n, before, peak, seconds = run_python(_ENCODE, dtype, str(n_tokens), text=text)
    return {"tokens": n, "before_mib": before, "peak_mib": peak, "tokens_per_s": n / seconds}


def main() -> None:
    """Print a row for each length."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="text to encode, joined (default: our own prose)")
    parser.add_argument("--tokens", nargs="+", type=int, default=[8_000, 32_000, 128_000, 512_000, 1_000_000])
    parser.add_argument("--dtype", default="bfloat16", choices=["float32", "bfloat16"])
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    # 6 characters a token is more than English needs
    text = "\n\n".join(read_texts(arguments.files, 0)) if arguments.files else own_prose(6 * max(arguments.tokens))
    rows = []
    for n_tokens in arguments.tokens:
        rows.append(measure(n_tokens, text[: 8 * n_tokens], arguments.dtype))
        if not arguments.json:
            row = rows[-1]
            print(
                f"{row['tokens']:>9,.0f} tokens  {row['before_mib']:5.0f} MiB loaded  {row['peak_mib']:5.0f} MiB peak"
                f"  {row['tokens_per_s']:6,.0f} tokens/s",
                flush=True,
            )
    if arguments.json:
        print(json.dumps({"dtype": arguments.dtype, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
