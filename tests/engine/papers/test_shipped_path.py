"""The shipped models read and search without a module of the papers: import-linter's contract at run time."""

import subprocess
import sys

_READ_AND_ASK = """
import sys
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.query_encoder import QueryEncoder
assert QueryEncoder.open("bundled").encode_query("when does the tide turn").any()
assert Encoder.open("bundled", device="cpu").encode_document("The tide turns at noon.").vector.any()
print(*[name for name in sys.modules if name.startswith("longsearch.engine.papers")])
"""


def test_a_shipped_model_reads_a_document_and_a_query_without_the_papers() -> None:
    done = subprocess.run([sys.executable, "-c", _READ_AND_ASK], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
